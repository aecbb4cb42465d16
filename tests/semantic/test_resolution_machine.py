"""Any sequence of alias, merge, unmerge, rename and revert against a naive model of names, written from the words.

After each step every name means in the store what it means in the model, now and in the past; chains end; a merge
taken back at once leaves every answer as it was; and what commutes gives the same answers in any order.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from hypothesis.stateful import run_state_machine_as_test as run

from prism_rdf import Prism
from prism_rdf.clock import Edge, Instant, ManualClock
from prism_rdf.errors import AmbiguousError, RefusedError, UnknownEntity, ValidationError
from prism_rdf.model import Alias, Assertion, Event, Merge, NewEntity
from prism_rdf.namespaces import prism as term
from prism_rdf.values import term_of

NOW = "2026-06-01T00:00:00Z"
DAYS = [f"2025-{month:02d}-01" for month in range(2, 13)]
ASKED = [None, "2024-12-31", "2025-03-15", "2025-08-15"]
NAMES = ["Prism", "PrismGR", "tri-graph", "store"]
FORMS = [*NAMES, "PRISM", "db"]
COUNT = 4

who = st.integers(0, COUNT - 1)
day = st.sampled_from(DAYS)
openness = st.sampled_from([(True, True), (True, False), (False, True), (False, False)])


@dataclass
class Model:
    """What was said and is believed: names by property from a day on, aliases over spans, merges."""

    renames: dict[int, dict[str, str]]
    aliases: list[tuple[int, str, str | None, str | None]] = field(default_factory=list)
    merges: dict[int, int] = field(default_factory=dict)

    def preferred(self, entity):
        seen = []
        while entity in self.merges:
            assert entity not in seen, "a circle"
            seen.append(entity)
            entity = self.merges[entity]
        return entity

    def spans(self, name):
        """Return (entity, start, until) of everything that ever bore the name; days as text, None is open."""
        found = [(entity, start, until) for entity, form, start, until in self.aliases if form.lower() == name.lower()]
        for wanted in dict.fromkeys((name, name.upper())):
            said = []
            for entity, renames in self.renames.items():
                days = sorted(renames)
                for start, following in zip(days, [*days[1:], None], strict=True):
                    if renames[start] == wanted:
                        if said and said[-1][0] == entity and said[-1][2] == start:
                            start = said.pop()[1]
                        said.append((entity, start, following))
            if said:
                return said + found
        return found

    def meant(self, name, asked):
        """Return the entities that a name means: who bears it then, else who bore it last, else who bears it first."""
        at, spans = asked or NOW, self.spans(name)
        holding = [s for s in spans if (s[1] is None or s[1] <= at) and (s[2] is None or at < s[2])]
        if not holding:
            past = [s for s in spans if s[2] is not None and s[2] <= at]
            holding = [s for s in past if s[2] == max(p[2] for p in past)]
        if not holding:
            coming = [s for s in spans if s[1] is not None and s[1] > at]
            holding = [s for s in coming if s[1] == min(c[1] for c in coming)]
        return {self.preferred(entity) for entity, _, _ in holding}

    def called_now(self, entity):
        return self.renames[entity][max(self.renames[entity])]


class Resolution(RuleBasedStateMachine):
    @initialize()
    def begin(self):
        self.prism = Prism.in_memory(clock=ManualClock(Instant.parse(NOW)))
        self.project = self.prism.project("demo")
        self.uuids = [
            self.project.entity("Project", {"name": f"project {n}"}, valid_from="2025-01-01")["uuid"]
            for n in range(COUNT)
        ]
        self.model = Model({n: {"2025-01-01": f"project {n}"} for n in range(COUNT)})
        self.undo = {}

    def teardown(self):
        if hasattr(self, "prism"):
            assert self.project.check() == []
            self.prism.close()

    def answers(self):
        return {
            (name, asked): answer(self.project, name, asked)
            for name in [*FORMS, *(f"project {n}" for n in range(COUNT))]
            for asked in ASKED
        }

    @invariant()
    def every_name_means_what_it_means_in_the_model(self):
        if not hasattr(self, "model"):
            return
        for (name, asked), told in self.answers().items():
            meant = {self.uuids[entity] for entity in self.model.meant(name, asked)}
            assert told == meant, (name, asked)
        for entity, uuid in enumerate(self.uuids):
            end = self.project.resolve_alias(uuid)
            assert end["uuid"] == self.uuids[self.model.preferred(entity)]
            assert len(end["chain"]) <= COUNT

    @rule(
        entity=who, form=st.sampled_from(FORMS), days=st.lists(day, min_size=2, max_size=2, unique=True), ends=openness
    )
    def alias(self, entity, form, days, ends):
        start, until = (each if bound else None for each, bound in zip(sorted(days), ends, strict=True))
        meant = self.model.preferred(entity)
        bounds = {"valid_from": start, "valid_until": f"{until}T00:00:00Z" if until else None}

        def act():
            return self.project.alias(form, self.uuids[entity], kind="synonym", **bounds)

        if until is None and form == self.model.called_now(meant):
            with pytest.raises(RefusedError, match="is called now"):
                act()
            return
        receipt = act()
        if receipt.commit is not None:
            same = [a for a in self.model.aliases if (a[0], a[1], a[2]) == (meant, form, start)]
            self.model.aliases = [a for a in self.model.aliases if a not in same]
            self.model.aliases.append((meant, form, start, until))
            if not same:
                self.undo[receipt.commit] = ("alias", (meant, form, start))
            else:
                self.undo.clear()  # a revert of an end gives the end before back, which is tested elsewhere

    @rule(entity=who, name=st.sampled_from(NAMES), at=day)
    def rename(self, entity, name, at):
        meant = self.model.preferred(entity)
        if at in self.model.renames[meant]:
            return  # which of two of one instant prevails is decided elsewhere
        receipt = self.project.transition(self.uuids[entity], {"name": name}, "rename", valid_from=at)
        assert receipt.commit is not None
        self.model.renames[meant][at] = name
        self.undo[receipt.commit] = ("rename", (meant, at))

    @rule(one=who, other=who)
    def merge(self, one, other):
        model, before = self.model, self.answers()
        refused = one == other or model.merges.get(one, other) != other or model.preferred(other) == one
        if refused:
            with pytest.raises(ValidationError):
                self.project.merge(self.uuids[one], self.uuids[other])
            assert self.answers() == before
            return
        done = self.project.merge(self.uuids[one], self.uuids[other])
        if one in model.merges:
            assert done["commit"] is None
            return
        self.project.unmerge(self.uuids[one])
        assert self.answers() == before, "a merge taken back leaves every answer as it was"
        commit = self.project.merge(self.uuids[one], self.uuids[other])["commit"]
        model.merges[one] = other
        self.undo[commit] = ("merge", one)

    @rule(entity=who)
    def unmerge(self, entity):
        if entity in self.model.merges:
            assert self.project.unmerge(self.uuids[entity]).commit is not None
            del self.model.merges[entity]
            self.undo = {commit: what for commit, what in self.undo.items() if what != ("merge", entity)}
        else:
            with pytest.raises(RefusedError):
                self.project.unmerge(self.uuids[entity])

    @rule(position=st.integers(0, 50))
    def revert(self, position):
        if not self.undo:
            return
        commit = sorted(self.undo)[position % len(self.undo)]
        kind, what = self.undo.pop(commit)
        self.project.revert(commit)
        if kind == "merge":
            del self.model.merges[what]
        elif kind == "rename":
            del self.model.renames[what[0]][what[1]]
        else:
            self.model.aliases = [a for a in self.model.aliases if a[:3] != what]


def answer(project, name, asked):
    try:
        return {project.resolve_alias(name, as_of=f"{asked}T00:00:00Z" if asked else None)["uuid"]}
    except AmbiguousError as error:
        return {each["uuid"] for each in error.candidates}
    except UnknownEntity:
        return set()


def test_every_name_means_in_the_store_what_it_means_in_the_model():
    run(
        Resolution,
        settings=settings(
            max_examples=8, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )


@settings(max_examples=12, deadline=None)
@given(
    aliases=st.lists(st.tuples(who, st.sampled_from(FORMS), day), max_size=6, unique=True),
    renames=st.dictionaries(st.tuples(who, day), st.sampled_from(NAMES), max_size=6),
    parents=st.lists(st.integers(0, COUNT), min_size=COUNT, max_size=COUNT),
    seed=st.integers(0, 2**16),
)
def test_what_commutes_gives_the_same_answers_in_any_order(aliases, renames, parents, seed):
    """Each statement is a commit of its own; some merges are taken back and said again on the way."""
    uuids = [f"00000000-0000-4000-8000-00000000000{n}" for n in range(COUNT)]
    said = [Alias(uuids[e], form, "synonym", start=Instant.parse(f"{at}T00:00:00Z")) for e, form, at in aliases]
    for (entity, at), name in renames.items():
        start = Instant.parse(f"{at}T00:00:00Z")
        said.append(
            Event(uuids[entity], "rename", Edge(start), (Assertion(term("name"), term_of(name), "set", start),))
        )
    merges = [Merge(uuids[e], uuids[parent]) for e, parent in enumerate(parents) if parent < e]
    told = [_told(uuids, [*said, *merges], shuffle) for shuffle in (None, random.Random(seed))]
    assert told[0] == told[1]


def _told(uuids, intents, shuffle):
    with Prism.in_memory(clock=ManualClock(Instant.parse(NOW))) as prism:
        project = prism.project("demo")
        kind = prism.schema("demo").catalog.type("Project").iri
        born = Edge(Instant.parse("2025-01-01T00:00:00Z"))
        for number, uuid in enumerate(uuids):
            name = Assertion(term("name"), term_of(f"project {number}"), "set", born.instant)
            project.write([NewEntity(uuid, kind), Event(uuid, "created", born, (name,))])
        order = list(intents)
        if shuffle is not None:
            shuffle.shuffle(order)
        for intent in order:
            project.write([intent])
            if isinstance(intent, Merge) and shuffle is not None and shuffle.random() < 0.5:
                project.unmerge(intent.merged)
                project.write([intent])
        assert project.check() == []
        names = [*FORMS, *uuids, *(f"project {number}" for number in range(COUNT))]
        current = project.names.graph("current")
        view = {str(q) for q in prism.store.quads_for_pattern(None, None, None, current) if "createdAt" not in str(q)}
        return {(name, asked): answer(project, name, asked) for name in names for asked in ASKED}, view
