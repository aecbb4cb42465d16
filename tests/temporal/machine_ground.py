"""The machine's ground: a store beside the naive model, acting on both at once, and comparing what they say."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import inf
from random import Random
from typing import ClassVar
from uuid import UUID

import machine_inputs as inputs
import pytest
from hypothesis.stateful import RuleBasedStateMachine
from machine_inputs import MULTI, TYPE, named
from naive_history import Beliefs, Happened, Moment, history, iso, keeps
from pyoxigraph import NamedNode

from prism_rdf import Prism, drafting, writing
from prism_rdf.belief import RECORDED_AT
from prism_rdf.clock import Instant, ManualClock
from prism_rdf.errors import ValidationError
from prism_rdf.model import NewEntity
from prism_rdf.namespaces import local_name
from prism_rdf.namespaces import prism as term
from prism_rdf.values import instant_literal

START = Instant.parse("2026-06-01T00:00:00Z")


class Ground(RuleBasedStateMachine):
    """Up to four entities; ``past`` holds (system time, beliefs) of every commit."""

    counts: ClassVar[Counter[str]] = Counter()

    def __init__(self):
        super().__init__()
        self.clock = ManualClock(START)
        self.prism = Prism.in_memory(clock=self.clock)
        self.project = self.prism.project("t")
        self.names = self.project.names
        self.believed = Beliefs()
        self.past: list[tuple[int, Beliefs]] = []
        self.types: dict[str, str] = {}
        self.named: dict[tuple, str] = {}  # an event's name by what it says
        self.owner: dict[str, str] = {}  # an event's entity by its name
        self.threads: list[str] = []
        self.patch = pytest.MonkeyPatch()
        self.sound = True

    def sow(self, seed):
        """Fix what is left to chance: an example that is played again must make the same names."""
        self.random, self.names_to_come = Random(seed), Random(seed)
        for module in (drafting, writing):
            self.patch.setattr(module, "uuid4", lambda: UUID(int=self.names_to_come.getrandbits(128), version=4))

    @property
    def number(self):
        return len(self.past) + 1

    def entity_at(self, position):
        return list(self.types)[position % len(self.types)]

    def given(self, entity, position):
        """Return properties as the verbs take them, and as the model has them."""
        choice = inputs.GIVEN + inputs.TYPED[self.types[entity]]
        given = choice[position % len(choice)]
        if given.get("location") == 0:
            place = next(uuid for uuid, kind in self.types.items() if kind == "Location")
            return {"location": place}, {"location": self.names.entity(place).value}
        return given, given

    def just_now(self):
        now = self.clock.now()
        return Moment(now, now.micros, now.micros)

    def instant_of(self, node, predicate):
        """Return the one instant that the store has of a node of the temporal graph."""
        [quad] = self.prism.store.quads_for_pattern(node, term(predicate), None, self.names.graph("temporal"))
        at = Instant.parse(quad.object.value).micros
        assert quad.object.value == iso(at)
        return at

    def quads(self):
        return set(self.prism.store.quads_for_pattern(None, None, None))

    def refuse(self, act, error):
        self.counts["refused"] += 1
        self.sound = False
        before = self.quads()
        with pytest.raises(error) as caught:
            act()
        assert caught.value.mend
        assert self.quads() == before

    def write(self, act, after, entities, otherwise=None):
        """Act; what the model foresees must come about: a refusal, nothing at all, or one commit.

        With ``otherwise``, what may come about as well, the store decides between the two.
        """
        kept = [
            all(keeps(each.said(entity), "created", MULTI) for entity in entities)
            for each in (after, otherwise)
            if each is not None
        ]
        if not any(kept):
            return self.refuse(act, ValidationError)
        if not all(kept) and self.is_refused(act):
            return None
        self.sound = False
        before = self.quads() if after == self.believed else None
        answer = act() if all(kept) else self.answered
        answer = answer if isinstance(answer, dict) else answer.as_dict()
        if before is not None:
            assert (answer["commit"], self.quads()) == (None, before)
            return None
        assert answer["commit"] == self.number
        self.counts["commits"] += 1
        self.past.append((Instant.parse(answer["recorded_at"]).micros, after))
        self.believed = after
        return answer

    def is_refused(self, act):
        """Return whether the store refuses what it may refuse or not; keep its answer where it does not."""
        before = self.quads()
        try:
            self.answered = act()
        except ValidationError:
            self.counts["refused"] += 1
        else:
            return False
        assert self.quads() == before
        return True

    def amend(self, beliefs):
        """Take over what was learned from the store about the last commit."""
        self.believed = beliefs
        self.past[-1] = (self.past[-1][0], beliefs)

    def happen(self, act, entity, kind, moment, said, **extra):
        """Act, which records one event; its name, and a time that is left to the clock, are learned from the store."""
        base = extra.pop("base", self.believed)
        start = moment.first if moment else self.clock.now().micros + 1
        said = tuple(replace(each, start=start) for each in said)
        event = Happened(entity, kind, start, moment.precision if moment else "instant", said, "", self.number)
        event = replace(event, **extra)
        key = (entity, kind, start, event.precision, event.source, said)
        name = self.named.get(key, "?")
        known = name in base.events
        after = base if known else base.having("events", name, named(event, name))
        # Of two that say it of the same instant the name decides, and of a new one only the store knows it.
        last = base.having("events", "~", named(event, "~")) if name == "?" else None
        answer = self.write(act, after, [entity], last)
        if answer is None or known:
            return answer
        if name == "?":
            name = self.newest_event(entity)
            assert start <= self.instant_of(NamedNode(name), "at") <= (start if moment else self.clock.now().micros)
            start = self.instant_of(NamedNode(name), "at")
            event = replace(event, start=start, said=tuple(replace(each, start=start) for each in said))
            self.named[key], self.owner[name] = name, entity
        self.amend(self.believed.having("events", "?", None).having("events", name, named(event, name)))
        return answer

    def newest_event(self, entity):
        graph, recorded = self.names.graph("temporal"), instant_literal(Instant(self.past[-1][0]))
        fresh = {q.subject for q in self.prism.store.quads_for_pattern(None, RECORDED_AT, recorded, graph)}
        node = self.names.entity(entity)
        of_it = {q.subject for q in self.prism.store.quads_for_pattern(None, term("changes"), node, graph)}
        [event] = fresh & of_it
        return event.value

    def compare(self):
        """Hold the store against the model, at times taken at random."""
        self.counts["operations"] += 1
        self.sound = False
        assert self.project.check() == []
        known, beliefs = self.some_system_time()
        entity = self.random.choice(list(self.types))
        self.compare_history(entity, known, beliefs)
        edges = self.edges(entity, beliefs)
        for when in self.random.sample(edges, min(4, len(edges))):
            self.compare_state(entity, when, known, beliefs, prefer_wip=self.random.random() < 0.7)
        self.compare_state(entity, None, None, self.believed, prefer_wip=True)
        self.compare_world(None, None, self.believed)
        self.compare_world(self.random.choice(edges), known, beliefs)
        drafts = {(d["wip"], d["entity"], d["touched_at"]) for d in self.project.drafts()}
        opened = {
            (k, self.names.entity(d.entity).value, iso(d.touched))
            for k, d in self.believed.drafts.items()
            if not d.closed
        }
        assert drafts == opened
        self.sound = True

    def some_system_time(self):
        """Return a system time as a caller gives it (None: now), and what was believed then."""
        commit = self.random.randrange(len(self.past) + 1)
        if commit == 0:
            return None, self.believed
        if self.random.random() < 0.5:
            return commit, self.past[commit - 1][1]
        return Instant(self.past[commit - 1][0] - 1), self.past[commit - 2][1] if commit > 1 else Beliefs()

    def edges(self, entity, beliefs):
        """Return the instants at and beside which something begins or ends."""
        edges = {edge for said in beliefs.said(entity) for edge in (said.start, said.until)}
        edges |= {edge for d in beliefs.drafts.values() for v in d.versions for edge in (v.start, v.until)}
        edges |= {edge for s in beliefs.spans.values() for edge in (s.start, s.until)}
        finite = edges - {inf, -inf} or {START.micros}
        return sorted({int(edge) + by for edge in finite for by in (-1, 0, 1)})

    def compare_history(self, entity, known, beliefs):
        told = [s for s in self.project.history(entity, known) if s["commit_status"] == "committed"]
        naive = history(beliefs.said(entity), MULTI)
        assert [(s["valid_from"], s["valid_until"], inputs.held(s)) for s in told] == [
            (iso(start), iso(until), props) for start, until, props in naive
        ]

    def compare_state(self, entity, when, known, beliefs, *, prefer_wip):
        self.counts["questions"] += 1
        as_of = None if when is None else Instant(when)
        told = self.project.state_as_of(entity, as_of, known, prefer_wip)
        when = self.clock.now().micros if when is None else when
        assert inputs.held(told) == beliefs.state(entity, when, MULTI, prefer_wip)

    def compare_world(self, when, known, beliefs):
        """Ask SPARQL for everything: ``when`` None is the current graph, any other instant the as-of dataset."""
        as_of = None if when is None else Instant(when)
        answer = self.prism.sparql("SELECT * { ?a ?b ?c }", pid="t", as_of=as_of, known_at=known)
        rows = [tuple(each.value for each in row) for row in answer.rows()]
        told = {(self.names.uuid_of(s), local_name(p), o) for s, p, o in rows if local_name(p) not in inputs.IDENTITY}
        when = self.clock.now().micros if when is None else when
        assert told == beliefs.world(self.types, when, MULTI)
        assert {s for s, _, _ in rows} == {self.names.entity(s).value for s, _, _ in told}

    def teardown(self):
        if self.sound:
            self.the_same_said_in_another_order_is_the_same_graph()
        self.patch.undo()
        self.prism.close()

    def the_same_said_in_another_order_is_the_same_graph(self):
        events = {name: inputs.to_event(name, event) for name, event in self.believed.events.items()}
        spans = [inputs.to_span(span) for span in self.believed.spans.values()]
        # Of a property that never changes a part may be refused where the whole is sound: these are said at once.
        fixed = {e.entity for e in self.believed.events.values() for said in e.said if said.prop == "created"}
        at_once = [event for event in events.values() if event.entity in fixed]
        intents = [event for event in events.values() if event.entity not in fixed] + spans
        for said in (at_once, intents):
            self.random.shuffle(said)
        with Prism.in_memory(clock=ManualClock(self.clock.now())) as other:
            project = other.project("t")
            project.write([NewEntity(uuid, TYPE[kind]) for uuid, kind in self.types.items()])
            project.write(at_once)
            while intents:
                size = self.random.choice([1, 3, 10])
                project.write(intents[:size])
                del intents[:size]
            assert project.check() == []
            for prism in (self.prism, other):
                prism.bring_up_to_date()
            assert inputs.believed_quads(other) == inputs.believed_quads(self.prism)
