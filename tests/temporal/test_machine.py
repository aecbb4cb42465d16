"""Every verb at random against the naive model, on both axes: after each step the store and the model say the same.

The ordinary tests hold a reduced run. With PRISM_LONG=1 (make test-long) it is at least 100,000 operations; with
PRISM_SHRINK=1 a failure is made small, which takes minutes.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from dataclasses import replace
from math import inf
from random import Random
from typing import ClassVar
from uuid import UUID

import machine_inputs as inputs
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from hypothesis.stateful import run_state_machine_as_test as run
from machine_inputs import KIND, MULTI, TYPE, index, laid_over, named, spoken
from naive_history import Beliefs, Draft, Happened, Moment, Said, Span, history, iso, keeps
from pyoxigraph import NamedNode

from prism_rdf import Prism, drafting, writing
from prism_rdf.belief import RECORDED_AT
from prism_rdf.clock import Instant, ManualClock
from prism_rdf.errors import BadArgument, BadTime, RefusedError, ValidationError
from prism_rdf.model import Alias, NewEntity, instant_literal
from prism_rdf.namespaces import local_name
from prism_rdf.namespaces import prism as term

LONG = os.environ.get("PRISM_LONG") == "1"
STEPS, EXAMPLES = (50, int(os.environ.get("EX", "2400"))) if LONG else (40, 12)
PHASES = (Phase.generate, Phase.shrink) if os.environ.get("PRISM_SHRINK") == "1" else (Phase.generate,)
START = Instant.parse("2026-06-01T00:00:00Z")


class Histories(RuleBasedStateMachine):
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

    @initialize(seed=st.integers(0, 2**16))
    def begin(self, seed):
        self.random = Random(seed)
        self.names_to_come = Random(seed)
        for module in (drafting, writing):  # an example that is played again must make the same names
            self.patch.setattr(module, "uuid4", lambda: UUID(int=self.names_to_come.getrandbits(128), version=4))
        self.make("Location", 0, inputs.MOMENTS[0])

    # What the rules stand on

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

    def write(self, act, after, entities):
        """Act; what the model foresees must come about: a refusal, nothing at all, or one commit."""
        if not all(keeps(after.said(entity), "created", MULTI) for entity in entities):
            return self.refuse(act, ValidationError)
        self.sound = False
        before = self.quads() if after == self.believed else None
        answer = act()
        answer = answer if isinstance(answer, dict) else answer.as_dict()
        if before is not None:
            assert (answer["commit"], self.quads()) == (None, before)
            return None
        assert answer["commit"] == self.number
        self.counts["commits"] += 1
        self.past.append((Instant.parse(answer["recorded_at"]).micros, after))
        self.believed = after
        return answer

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
        answer = self.write(act, base if known else base.having("events", name, named(event, name)), [entity])
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

    # The rules

    @precondition(lambda self: len(self.types) < 4)
    @rule(kind=st.sampled_from(sorted(TYPE)), position=index, start=inputs.starts)
    def make(self, kind, position, start):
        start = start or self.just_now()
        if kind == "Component" and not self.types:
            return
        given = (inputs.GIVEN + inputs.FIXED)[position % len(inputs.GIVEN + inputs.FIXED)]
        made = self.project.entity(kind, given, valid_from=start.given)
        self.types[made["uuid"]] = kind
        self.happen(lambda: made, made["uuid"], "created", start, spoken(given, None, inf))

    @rule(
        at=index,
        position=index,
        start=inputs.starts,
        until=inputs.ends,
        correct=st.booleans(),
        sequence=st.integers(0, 1),
    )
    def change(self, at, position, start, until, correct, sequence):
        entity = self.entity_at(at)
        self.say(entity, *self.given(entity, position), start, until, correct, sequence)

    @rule(at=index, fixed=st.sampled_from(inputs.FIXED), start=inputs.starts, until=inputs.ends)
    def fix(self, at, fixed, start, until):
        self.say(self.entity_at(at), fixed, fixed, start, until, False, self.number)

    @rule(at=index, start=inputs.starts)
    def clear(self, at, start):
        entity = self.entity_at(at)
        given = dict.fromkeys(["name", "status", "tags", "port" if self.types[entity] == "Location" else "location"])
        self.say(entity, given, given, start, None, False, 0)

    def say(self, entity, given, told, start, until, correct, sequence):
        """Record what is ``given``; the model has it as ``told``."""
        levels = [said.level for said in self.believed.said(entity) if said.prop in told]
        kind, level = ("correction", 1 + max(levels, default=0)) if correct else ("transition", 0)
        bounds = {"valid_from": start and start.given, "valid_until": until and until.given, "sequence": sequence}

        def act():
            if correct:
                return self.project.correct(entity, given, **bounds)
            if len(given) == 1:
                return self.project.fact(entity, *next(iter(given.items())), event_type=kind, **bounds)
            return self.project.transition(entity, given, kind, **bounds)

        ends_at = until.after if until else inf
        if ends_at <= (start.first if start else self.clock.now().micros):
            self.refuse(act, BadTime)
        else:
            self.happen(act, entity, kind, start, spoken(told, None, ends_at, level, sequence))

    @rule(at=index, start=inputs.starts, retired=st.booleans())
    def retire_or_reopen(self, at, start, retired):
        entity = self.entity_at(at)
        verb, kind = (self.project.retire, "retired") if retired else (self.project.reopen, "reopened")
        said = Said("?", "retired", str(retired).lower(), "set", 0, inf)
        self.happen(lambda: verb(entity, valid_from=start and start.given), entity, kind, start, (said,))

    @rule(at=index)
    def retract(self, at):
        name = list(self.owner)[at % len(self.owner)]
        after = self.believed.having("events", name, None)
        self.write(lambda: self.project.retract(name), after, [self.owner[name]])

    @rule(back=index)
    def revert(self, back):
        commit = len(self.past) - back % len(self.past)
        self.write(lambda: self.project.revert(commit), self.believed.without(commit, self.number), self.types)

    @rule(at=index, position=index, touched=inputs.starts)
    def wip(self, at, position, touched):
        entity, number = self.entity_at(at), self.number
        given, told = self.given(entity, position)
        opened = ((k, d) for k, d in self.believed.drafts.items() if d.entity == entity and not d.closed)
        name, draft = next(opened, ("?", Draft(entity, 0, ())))
        props = laid_over(draft.versions[-1].props if draft.versions else {}, told)
        mark = touched.first if touched else self.clock.now().micros + 1

        def act():
            return self.project.wip(entity, given, "working_tree", at=touched and touched.given)

        if not props:
            return self.refuse(act, BadArgument)
        after = self.believed.having("drafts", name, draft.touch(mark, number, props))
        answer = self.write(act, after, [])
        if answer is not None:
            now = self.instant_of(self.names.draft(answer["wip"]), "touchedAt")
            assert mark <= now <= (mark if touched else self.clock.now().micros)
            fresh = draft.touch(now, number, props)
            self.amend(self.believed.having("drafts", "?", None).having("drafts", answer["wip"], fresh))
            self.threads += [answer["wip"]] if name == "?" else []
        return None

    @precondition(lambda self: self.threads)
    @rule(at=index, position=index, start=inputs.starts)
    def seal(self, at, position, start):
        wip = self.threads[at % len(self.threads)]
        draft = self.believed.drafts[wip]
        given, told = self.given(draft.entity, position) if position % 2 else ({}, {})
        act = lambda: self.project.seal(wip, given, valid_from=start and start.given)  # noqa: E731
        if draft.closed:
            self.refuse(act, RefusedError)
            return
        final = laid_over(draft.versions[-1].props, told)
        values = {prop: sorted(held) if prop in MULTI else next(iter(held)) for prop, held in sorted(final.items())}
        end = max(self.clock.now().micros, draft.touched)
        node = self.names.draft(wip)
        extra = {"source": node.value, "drift": final != draft.versions[-1].props}
        base = self.believed.having("drafts", wip, draft.close(end))
        self.happen(act, draft.entity, "wip_sealed", start, spoken(values, None, inf), base=base, **extra)
        self.closed(wip, draft, end)

    @precondition(lambda self: self.threads)
    @rule(at=index)
    def discard(self, at):
        wip = self.threads[at % len(self.threads)]
        draft = self.believed.drafts[wip]
        if draft.closed:
            self.refuse(lambda: self.project.discard(wip), RefusedError)
            return
        end = max(self.clock.now().micros, draft.touched)
        self.write(lambda: self.project.discard(wip), self.believed.having("drafts", wip, draft.close(end)), [])
        self.closed(wip, draft, end)

    def closed(self, wip, draft, end):
        now = self.instant_of(self.names.draft(wip), "closedAt")
        assert end <= now <= max(self.clock.now().micros, draft.touched)
        self.amend(self.believed.having("drafts", wip, draft.close(now)))

    @rule(
        at=index,
        name=st.sampled_from("AB"),
        kind=st.sampled_from(["former", "synonym"]),
        start=inputs.starts,
        until=inputs.ends,
    )
    def alias(self, at, name, kind, start, until):
        entity = self.entity_at(at)
        span = Span(entity, ("alias", name, kind), start.first if start else -inf, ())
        bounds = {"valid_from": start and start.given, "valid_until": until and until.given}
        self.hold(lambda: self.project.alias(name, entity, kind=kind, **bounds), span, until)

    @rule(at=index, to=index, start=inputs.starts, until=inputs.ends)
    def reference(self, at, to, start, until):
        entity, target, start = self.entity_at(at), self.entity_at(to), start or self.just_now()
        span = Span(entity, ("reference", KIND, self.names.entity(target).value), start.first, ())
        bounds = {"valid_from": start.given, "valid_until": until and until.given}
        self.hold(lambda: self.project.reference(entity, target, KIND, **bounds), span, until)

    def hold(self, act, span, until):
        """Act, which records a span; one that is known is only given another end."""
        end, key = until.after if until else inf, (span.entity, *span.name, span.start)
        if end <= span.start:
            self.refuse(act, BadTime)
            return
        known = self.believed.spans.get(key, span)
        same = known.ends and end in (inf, known.until)
        after = known if same else replace(known, ends=(*known.ends, (self.number, end)))
        self.write(act, self.believed.having("spans", key, after), [])

    @rule(drawn=inputs.batches, new=st.booleans())
    def batch(self, drawn, new):
        """Events made by hand: unknown starts, levels, bounds of each assertion; perhaps with a new entity."""
        number, after, intents = self.number, self.believed, []
        fresh = f"00000000-0000-4000-8000-{number:012d}"
        types = {**self.types, fresh: "Component"} if new and len(self.types) < 4 else self.types
        for place, one in enumerate(drawn):
            entity = list(types)[one[0] % len(types)]
            name = self.names.event(f"00000000-0000-5000-9000-{number:06d}{place:06d}").value
            event = inputs.drawn_event(entity, one, name, number)
            after = after.having("events", name, event)
            intents.append(inputs.to_event(name, event))
        if types is not self.types:
            intents += [NewEntity(fresh, TYPE["Component"]), Alias(fresh, "C", "synonym")]
            span = Span(fresh, ("alias", "C", "synonym"), -inf, ((number, inf),))
            after = after.having("spans", (fresh, *span.name, -inf), span)
        act = lambda: self.project.write(intents)  # noqa: E731
        if any(said.until <= said.start for event in after.events.values() for said in event.said):
            return self.refuse(act, ValidationError)
        if self.write(act, after, types) is not None:
            self.types = types
            self.owner |= {k: e.entity for k, e in after.events.items() if e.commit == number}
        return None

    @rule(days=st.sampled_from([1, 1, 40]))
    def wait(self, days):
        self.clock.advance(days=days)

    @rule(at=index, bad=st.sampled_from(inputs.BAD))
    def bad_input(self, at, bad):
        _, act, error = bad
        self.refuse(lambda: act(self.project, self.entity_at(at)), error)

    # What must hold after each step

    @invariant()
    def the_store_says_what_the_model_says(self):
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


def test_the_store_and_the_model_say_the_same_after_every_operation(capsys):
    Histories.counts.clear()
    began = time.monotonic()
    profile = settings(
        max_examples=EXAMPLES,
        stateful_step_count=STEPS,
        deadline=None,
        phases=PHASES,
        derandomize=not LONG,
        database=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    run(Histories, settings=profile)
    counts = Histories.counts
    with capsys.disabled():
        print(f"\n{counts['operations']} operations in {time.monotonic() - began:.0f} s: {dict(counts)}")
    assert counts["operations"] >= (100_000 if LONG else 400)
    assert counts["refused"] > 0
