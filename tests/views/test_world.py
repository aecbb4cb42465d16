"""The world at once is what entity by entity makes of it, on both axes, whatever was said in whatever order."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from prism_rdf import Prism
from prism_rdf.belief import EARLIER_BELIEF
from prism_rdf.canonical.entities import entities
from prism_rdf.clock import Instant, ManualClock
from prism_rdf.errors import PrismError
from prism_rdf.model import Memory, TypeText
from prism_rdf.namespaces import PREFIXES, Names
from prism_rdf.namespaces import prism as term
from prism_rdf.temporal.read import covering, sealed_at, states_of
from prism_rdf.views import as_quads, entity_view, told_of
from prism_rdf.world import parsed, told_of_all, world_text

DAYS = [None, *(f"2026-0{month}-{day:02d}" for month in range(1, 6) for day in (1, 10, 20))]
MOMENTS = [Instant.parse(f"{day}T00:00:00Z").plus(micros=by) for day in DAYS if day for by in (-1, 0, 1)]
KINDS = ["RELATES_TO", "SUPERSEDES"]
CURRENT = Names("urn:prism:default", "demo").graph("current")


def random_history(project, random, operations):
    """Write at random; return how many of the operations were done: the others are refused."""
    uuids = [project.entity("ADR", {"title": f"T{n}"}, valid_from="2026-01-01")["uuid"] for n in range(4)]
    done = 0

    def span():
        return {"valid_from": random.choice(DAYS), "valid_until": random.choice([None, None, *DAYS])}

    def said_again():
        """The same node has another end each time, so that its earlier beliefs are kept."""
        return {"valid_from": random.choice(DAYS[:2]), "valid_until": random.choice([None, *DAYS])}

    def remember():
        key, until = random.choice("pq"), random.choice([None, *MOMENTS])
        said = Memory(key, "note", MOMENTS[1], key=key, about=(one(),), mentions=("concept:c",), until=until)
        project.write([said])

    def one():
        return random.choice(uuids)

    operations_by_weight = [
        *[lambda: project.fact(one(), "title", f"T{random.randrange(4)}", **span())] * 4,
        *[lambda: project.fact(one(), "deciders", random.sample("abc", 2), **span())] * 2,
        *[lambda: project.alias(random.choice("xy"), one(), **said_again())] * 5,
        *[lambda: project.reference(one(), one(), random.choice(KINDS), **said_again())] * 5,
        lambda: project.correct(one(), {"title": "corrected"}, valid_from=random.choice(DAYS)),
        lambda: project.retire(one(), valid_from=random.choice(DAYS)),
        lambda: project.reopen(one(), valid_from=random.choice(DAYS)),
        lambda: project.wip(one(), {"title": "draft"}),
        lambda: project.seal(project.drafts()[0]["wip"]),
        *[remember] * 4,
        lambda: project.merge(one(), one()),
        lambda: project.unmerge(one()),
        *[lambda: project.revert(random.randint(5, max(5, project.prism.commit_number)))] * 3,
    ]
    for _ in range(operations):
        project.prism.clock.advance(days=random.randrange(3))
        try:
            random.choice(operations_by_weight)()
            done += 1
        except (PrismError, IndexError):
            continue
    return done


def test_the_state_that_is_asked_for_is_found_among_all_states():
    random = Random(7)
    with Prism.in_memory(clock=ManualClock(Instant.parse("2026-03-01T00:00:00Z"))) as prism:
        project, known, found = prism.project("demo"), [None], 0
        random_history(project, random, 60)
        known += [prism.system_time(commit) for commit in range(1, prism.commit_number + 1, 4)]
        for entity in entities(prism.store, project.names):
            for at, known_at in product(MOMENTS, known):
                states = states_of(prism.store, project.names, entity, known_at)
                state = sealed_at(prism.store, project.names, entity, at, known_at)
                assert state == covering(states, at, prefer_wip=False)
                found += state is not None
        assert found > 500


MEASURED = """@prefix my: <https://example.org/my#> . my:Thing a owl:Class, prism:Type ; rdfs:subClassOf prism:Entity ;
    prism:mutableProperty my:whole, my:exact, my:rough, my:sure, my:day, my:text ."""
RANGES = {"whole": "integer", "exact": "decimal", "rough": "double", "sure": "boolean", "day": "date"}
SPOKEN = [
    "a\x1fb",
    "a\tb",
    "a\nb",
    "a\r\nb",
    "\\t",
    '"',
    "'",
    "",
    "\x85\u2028\x0b\x0c\x08",
    "true",
    "1",
    "é😀",
    "_:b",
    "<x> .",
    "$at ?x",
]


def test_values_of_every_kind_come_through_the_text_as_they_are():
    ranges = "".join(
        f"my:{name} a owl:DatatypeProperty ; rdfs:range xsd:{kind} ; prism:multiValued true .\n"
        for name, kind in {**RANGES, "text": "string"}.items()
    )
    prefixes = "".join(f"@prefix {prefix}: <{iri}> .\n" for prefix, iri in PREFIXES.items())
    values: dict[str, list[object]] = {
        "whole": [0, -7, 10**18], "exact": ["1.5", "-0.25", "3"], "rough": ["1e0", "INF", "-2.5E-7", "NaN"],
        "sure": [True, False], "day": ["2026-02-03"], "text": SPOKEN,
    }  # fmt: skip
    with Prism.in_memory() as prism:
        project = prism.project("demo")
        project.write([TypeText("my.ttl", prefixes + MEASURED + ranges)])
        uuid = project.entity("Thing", values, valid_from="2026-01-01")["uuid"]
        at, entity = MOMENTS[-1], project.names.entity(uuid)
        catalog = prism.schema("demo").catalog
        view = set(as_quads(entity_view(prism.store, project.names, entity, at, catalog.superclasses), CURRENT))
        said = [quad.object for quad in view if quad.predicate.value.startswith("https://example.org/my#")]
        assert len(said) == sum(map(len, values.values()))
        assert set(parsed(world_text(prism.store, project.names, at, catalog.superclasses))) == view
        now = prism.sparql(f"SELECT ?p ?o {{ {entity} ?p ?o }}", as_of=at)
        assert {tuple(row) for row in now.rows()} == {(quad.predicate, quad.object) for quad in view}


@pytest.mark.parametrize("seed", range(3))
def test_at_once_and_one_by_one_say_the_same_of_random_histories(seed):
    random = Random(seed)
    with Prism.in_memory(clock=ManualClock(Instant.parse("2026-03-01T00:00:00Z"))) as prism:
        project = prism.project("demo")
        assert random_history(project, random, 100) >= 50
        store, names, catalog = prism.store, project.names, project.prism.site.ground.schema(project.names).catalog
        for graph in ("temporal", "semantic", "memory"):
            assert next(store.quads_for_pattern(None, EARLIER_BELIEF, None, names.graph(graph)), None) is not None
        assert next(store.quads_for_pattern(None, term("draftOf"), None), None) is not None
        for at in random.sample(MOMENTS, 8):
            for known_at in (
                None,
                *(prism.system_time(random.randrange(1, prism.commit_number + 1)) for _ in range(6)),
            ):
                text = world_text(store, names, at, catalog.superclasses, known_at, catalog.identifying)
                at_once = list(parsed(text))
                one_by_one = {
                    triple
                    for entity in entities(store, names)
                    for triple in entity_view(
                        store, names, entity, at, catalog.superclasses, known_at, catalog.identifying
                    )
                }
                assert len(at_once) == len(set(at_once))
                assert set(at_once) == set(as_quads(one_by_one, names.graph("current")))
                memory = names.graph("memory")
                nodes = {quad.subject for quad in store.quads_for_pattern(None, None, None, memory)}
                told = {triple for node in nodes for triple in told_of(store, memory, node, at, known_at)}
                assert set(told_of_all(store, names, at, known_at)) == set(as_quads(told, memory))
