"""Real facts with real intervals, in three orders: current, as-of and previous are all right, and the graph the same.

Expected answers are computed from the rows by interval_facts, which shares no code with the engine. Facts of a subject
overlap, so they are values of a multi-valued property. The ordinary run takes all office holders and one subject in
fifty of the others; with PRISM_LONG=1 (make test-long) it is everything.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from math import inf
from random import Random
from uuid import NAMESPACE_URL, uuid5

import interval_facts as data
import pytest
from interval_facts import DAY, Fact
from pyoxigraph import Literal, NamedNode

from prism_rdf import Prism
from prism_rdf.clock import Instant, ManualClock, end_of, start_of
from prism_rdf.errors import BadTime, PrismError, ValidationError
from prism_rdf.model import Assertion, Event, NewEntity
from prism_rdf.namespaces import prism as term

pytestmark = pytest.mark.shared

LONG = os.environ.get("PRISM_LONG") == "1"
ORDERS = (1, 2, 3)
BATCH = 500
COMPONENT = NamedNode("https://w3id.org/prism-rdf/type#Component")
TAGS = term("tags")
TAGGED = "SELECT ?thing ?tag { ?thing prism:tags ?tag }"


@cache
def facts_of(shared, name):
    """Return all facts of a set, and those of the subjects that this run takes."""
    if name == "office holders":
        facts = data.office_holders(shared / "data" / "dyknow-officeholders")
        return facts, facts
    facts = data.interval_rows(shared / "data" / "tkg-yago11k-wikidata12k" / name)
    return facts, [fact for fact in facts if LONG or int(fact.subject) % 50 == 0]


def uuid_of(subject):
    return str(uuid5(NAMESPACE_URL, subject))


def event_of(fact: Fact):
    """Return the fact as an event, its dates read by the engine. Raises BadTime."""
    until = None if fact.until is None else end_of(fact.until).instant
    said = Assertion(TAGS, Literal(fact.value), "add", None, until)
    at = None if fact.start is None else start_of(fact.start)
    return Event(uuid_of(fact.subject), "fact", at, (said,), source="rows")


@dataclass
class Load:
    """A store with the facts of one order in it; ``refused`` counts what the store would not take, by kind of error."""

    prism: Prism
    facts: list[Fact]
    refused: list[tuple[Fact, str]] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def project(self):
        return self.prism.project("facts")

    def write(self, facts):
        """Write a batch; what the report of a refusal names is left out, and the rest written."""
        events = {}
        for fact in facts:
            try:
                events[fact] = event_of(fact)
            except BadTime:
                self.refused.append((fact, "unreadable"))
        subjects = {event.entity for event in events.values()}
        intents = [NewEntity(uuid, COMPONENT) for uuid in sorted(subjects)]
        try:
            self.project.write([*intents, *events.values()])
        except ValidationError as error:
            named = {(violation.node, violation.value) for violation in error.report}
            bad = [f for f, e in events.items() if (e.entity, str(e.assertions[0].until)) in named and f.fault]
            if len(bad) != len(error.report):
                raise
            self.refused += [(fact, "reversed") for fact in bad]
            self.project.write([*intents, *(event for fact, event in events.items() if fact not in bad)])


def loaded(facts, order, clock=None):
    load = Load(Prism.in_memory(clock=clock), list(facts))
    Random(order).shuffle(load.facts)
    began = time.monotonic()
    for place in range(0, len(load.facts), BATCH):
        load.write(load.facts[place : place + BATCH])
    load.seconds = time.monotonic() - began
    return load


def digest(prism):
    """Return how many quads are believed, and a sum over them that does not depend on their order."""
    quads = prism.store.quads_for_pattern
    gone = {q.subject for q in quads(None, term("withdrawnAt"), None)}
    gone |= {q.object for q in quads(None, term("earlierBelief"), None)}
    system = {term(name) for name in ("recordedAt", "endRecordedAt", "earlierBelief", "createdAt", "frontier")}
    count = total = 0
    for quad in quads(None, None, None):
        if quad.predicate in system or "/-/" in quad.graph_name.value:
            continue
        if not {quad.subject, quad.object, quad.graph_name} & gone:
            count += 1
            total += int.from_bytes(sha256(str(quad).encode()).digest())
    return count, total % 2**256


def tags(state):
    return set(state["props"]["tags"]) if state["state"] else set()


def told_spans(project, uuid):
    """Return the history in the form of data.spans."""

    def edge(text, unknown):
        return unknown if text is None else Instant.parse(text).micros

    return [(edge(s["valid_from"], -inf), edge(s["valid_until"], inf), tags(s)) for s in project.history(uuid)]


def ask(load, subjects):
    """Ask each subject at and beside each of its boundaries; return how many questions there were, and the wrong."""
    asked, wrong, project = Counter(), [], load.project
    for subject, facts in subjects.items():
        uuid, expected = uuid_of(subject), data.spans(facts)
        told = told_spans(project, uuid)
        for when in sorted({edge + by for edge in data.edges(facts) for by in (-DAY, 0, DAY)}):
            asked.update(["as-of", "previous"])
            answer = tags(project.state_as_of(uuid, Instant(when)))
            if answer != data.holding(facts, when):
                wrong.append(("as-of", subject, when, answer))
            if data.before(told, when) != data.before(expected, when):
                wrong.append(("previous", subject, when, data.before(told, when)))
        asked["current"] += 1
        if tags(project.state_as_of(uuid)) != data.holding(facts, load.prism.clock.now().micros):
            wrong.append(("current", subject, None, None))
    return asked, wrong


def ask_by_sparql(load, subjects, instants):
    """Ask for the whole world at each instant (None: the current graph); return those that are answered wrong."""
    wrong = []
    for when in instants:
        as_of = None if when is None else Instant(when)
        rows = load.prism.sparql(TAGGED, pid="facts", as_of=as_of).rows()
        told = {(thing.value.rsplit("/", 1)[-1], tag.value) for thing, tag in rows}
        at = load.prism.clock.now().micros if when is None else when
        if told != {(uuid_of(s), value) for s, facts in subjects.items() for value in data.holding(facts, at)}:
            wrong.append(when)
    return wrong


@pytest.mark.parametrize("name", ["office holders", "yago", "wikidata"])
def test_every_order_gives_the_same_graph_and_only_right_answers(shared, name, capsys):
    everything, facts = facts_of(shared, name)
    sound = data.by_subject(fact for fact in facts if not fact.fault)
    faults = {(fact, fact.fault) for fact in facts if fact.fault}
    graphs, asked, wrong, seconds = set(), Counter(), [], []
    for order in ORDERS:
        load = loaded(facts, order)
        assert set(load.refused) == faults
        graphs.add(digest(load.prism))
        seconds.append(load.seconds)
        instants = Random(order).sample(sorted({e for each in sound.values() for e in data.edges(each)}), 10)
        wrong += ask_by_sparql(load, sound, [None, *instants, *(instant - DAY for instant in instants)])
        asked["by SPARQL"] += 21
        if order == ORDERS[-1]:
            found, missed = ask(load, sound)
            asked += found
            wrong += missed
            assert load.project.check() == []
        load.prism.close()
    speed = len(facts) / max(seconds)
    with capsys.disabled():
        print(
            f"\n{name}: {len(facts)} of {len(everything)} facts of {len(sound)} subjects in {len(ORDERS)} orders; "
            f"refused {dict(Counter(fault for _, fault in faults))}; asked {dict(asked)}; wrong {len(wrong)}; "
            f"{len(graphs)} graph of {next(iter(graphs))[0]} quads; {speed:.0f} facts/s at the slowest"
        )
    assert wrong == []
    assert len(graphs) == 1


def test_the_current_graph_follows_the_clock_past_every_boundary(shared, capsys):
    """All is loaded long before it happens; then time passes."""
    _, facts = facts_of(shared, "office holders")
    clock = ManualClock(Instant.parse("1000-01-01T00:00:00Z"))
    load, subjects = loaded(facts, 1, clock), data.by_subject(facts)
    boundaries = sorted({edge + by for each in subjects.values() for edge in data.edges(each) for by in (-DAY, 0, DAY)})
    taken = boundaries if LONG else boundaries[::10]
    wrong = 0
    for when in taken:
        clock.advance(micros=when - clock.now().micros)
        wrong += len(ask_by_sparql(load, subjects, [None]))
    with capsys.disabled():
        print(f"\noffice holders: now passes {len(taken)} of {len(boundaries)} instants; wrong {wrong}")
    assert wrong == 0
    load.prism.close()


def test_references_that_hold_for_a_while_are_right_at_every_boundary(shared, capsys):
    """Chains of office holders as references, whose ends differ where only their last day does."""
    _, facts = facts_of(shared, "office holders")
    chains = data.by_subject(facts)
    taken = list(chains) if LONG else list(chains)[::12]
    asked = wrong = 0
    with Prism.in_memory() as prism:
        project = prism.project("facts")
        for chain in taken:
            office = project.entity("Component", {"name": chain}, valid_from="1500")["uuid"]
            names = sorted({value for value, *_ in chains[chain]})
            people = {name: project.entity("Persona", {"name": name}, valid_from="1500")["uuid"] for name in names}
            for fact in facts:
                if fact.subject == chain:
                    valid = {"valid_from": fact.start or "-9999", "valid_until": fact.until}
                    project.reference(
                        office, people[fact.value], "RELATES_TO", **valid, source_document=str(fact.until)
                    )
            for when in {edge + by for edge in data.edges(chains[chain]) for by in (-DAY, 0, DAY)}:
                told = {each["target"]["ref"] for each in project.list_references(office, as_of=Instant(when))}
                asked += 1
                held = data.holding(chains[chain], when)
                wrong += told != {project.names.entity(people[name]).value for name in held}
        assert project.check() == []
    with capsys.disabled():
        print(f"\nreferences: {len(taken)} of {len(chains)} chains; asked {asked}; wrong {wrong}")
    assert wrong == 0


def test_what_the_rows_hold_is_what_their_notes_say(shared):
    """Fifty-five facts end before they start; in twenty-five more the year of the end lost a digit or its sign."""
    rows = [fact for name in ("yago", "wikidata") for fact in facts_of(shared, name)[0]]
    faults = Counter(fact.fault for fact in rows)
    short = sum(fact.fault == "reversed" and fact.until.startswith("0") for fact in rows)
    assert (len(rows), faults["reversed"], short, faults["unreadable"]) == (61_130, 80, 25, 2)
    assert sum(fact.start is None for fact in rows) == 1_405
    assert sum((fact.start or "").startswith("-") for fact in rows) == 10
    holders, _ = facts_of(shared, "office holders")
    assert (len(holders), len({fact.subject for fact in holders})) == (1_159, 132)
    assert not any(fact.fault for fact in holders)


def test_each_fact_without_an_interval_is_refused_by_the_verbs_too(shared):
    rows = [fact for name in ("yago", "wikidata") for fact in facts_of(shared, name)[0] if fact.fault]
    with Prism.in_memory() as prism:
        project = prism.project("facts")
        thing = project.entity("Component", {"name": "x"}, valid_from="-9999")["uuid"]
        before = sorted(map(str, prism.store.quads_for_pattern(None, None, None)))
        for fact in rows:
            with pytest.raises(PrismError) as caught:
                project.fact(thing, "tags", [fact.value], valid_from=fact.start, valid_until=fact.until)
            assert isinstance(caught.value, BadTime)
            assert caught.value.rule
            assert caught.value.mend
        assert sorted(map(str, prism.store.quads_for_pattern(None, None, None))) == before
