"""An export that was corrupted at random is told the same of in memory and on disk, and never ends in a crash."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from whole_stores import START, add_free_graphs, fill

from prism_rdf import Prism
from prism_rdf.clock import ManualClock
from prism_rdf.errors import RefusedError, ValidationError
from prism_rdf.storage.changelog import read_log

SEEDS = range(8)
LINE = re.compile(r"(\S+) (\S+) (.*) (\S+) \.", re.DOTALL)
VALUES = (
    '"x"',
    "<urn:x>",
    '"2024-01-01T00:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>',
    '"nonsense"^^<http://www.w3.org/2001/XMLSchema#dateTime>',
    '"x"^^<http://www.w3.org/2001/XMLSchema#integer>',
)


@pytest.fixture(scope="module")
def lines() -> list[str]:
    """The N-Quads of a store with a bit of everything, sorted; literals may hold line ends of other kinds."""
    with Prism.in_memory(clock=ManualClock(START)) as prism:
        fill(prism)
        add_free_graphs(prism)
        return sorted(str(prism.export(None, "nquads")["text"]).rstrip("\n").split("\n"))


def terms(line: str) -> list[str]:
    found = LINE.fullmatch(line)
    assert found
    return list(found.groups())


def corrupted(lines: list[str], seed: int) -> list[str]:
    """Leave lines out, or let them say something else that stands elsewhere in the export."""
    chance = random.Random(seed)
    at = chance.randrange(len(lines))
    mine, other = terms(lines[at]), terms(chance.choice(lines))
    alike = terms(chance.choice([line for line in lines if terms(line)[1] == mine[1]]))
    ways: list[Callable[[], list[str]]] = [
        list,
        lambda: [mine[0], mine[1], alike[2], mine[3]],
        lambda: [alike[0], *mine[1:]],
        lambda: [*mine[:3], other[3]],
        lambda: [mine[0], other[1], *mine[2:]],
        lambda: [*mine[:2], chance.choice(VALUES), mine[3]],
    ]
    said = chance.choice(ways)()
    kept = [*lines[:at], *lines[at + 1 :], *([" ".join((*said, "."))] if said else [])]
    return kept if chance.random() < 0.5 else [line for line in kept if "_:" not in line]


def verdict(path: Path, home: Path) -> tuple[str, object]:
    """Return what an import says; of one that is taken in, what it begins with."""
    try:
        done = Prism.import_(path, home)
    except ValidationError as error:
        return "refused", sorted((v.node, v.path, v.value, v.shape, v.message) for v in error.report)
    except RefusedError as error:
        return "refused", error.message
    logged = [quad for change in read_log(Path(str(done["store"])) / "changes.log") for quad in change.adds]
    assert len(set(logged)) == done["quads"]
    return "taken in", sorted(str(quad) for quad in logged if "_:" not in str(quad))


def test_a_corrupted_export_is_told_the_same_of_wherever_it_is_judged(lines, tmp_path, monkeypatch):
    told = []
    for seed in SEEDS:
        path = tmp_path / f"{seed}.nq"
        path.write_text("\n".join(corrupted(lines, seed)) + "\n")
        in_memory = verdict(path, tmp_path / f"memory-{seed}")
        with monkeypatch.context() as without_memory:
            without_memory.setattr("prism_rdf.maintenance.importing.memory_left", lambda: 0)
            assert verdict(path, tmp_path / f"disk-{seed}") == in_memory
        told.append(in_memory)
    kinds = [kind for kind, _ in told]
    assert min(kinds.count("refused"), kinds.count("taken in")) >= len(SEEDS) // 4


NUMBER = '"x"^^<http://www.w3.org/2001/XMLSchema#integer>'
TIME = '"nonsense"^^<http://www.w3.org/2001/XMLSchema#dateTime>'


@pytest.mark.parametrize(
    ("predicate", "graph", "value"),
    [
        ("lastCommit", "/-/graph/meta", NUMBER),
        ("commitNumber", "/-/graph/meta", NUMBER),
        ("recordedAt", "/-/graph/meta", TIME),
        ("recordedAt", "/demo/graph/temporal", TIME),
        ("withdrawnAt", "/demo/graph/temporal", TIME),
    ],
)
def test_a_number_or_time_that_cannot_be_read_is_reported(lines, tmp_path, predicate, graph, value):
    at = next(
        index
        for index, line in enumerate(lines)
        if terms(line)[1].endswith(f"#{predicate}>") and terms(line)[3].endswith(f"{graph}>")
    )
    subject, prop, _, where = terms(lines[at])
    broken = [*lines[:at], f"{subject} {prop} {value} {where} .", *lines[at + 1 :]]
    (tmp_path / "broken.nq").write_text("\n".join(broken) + "\n")
    with pytest.raises(ValidationError) as refused:
        Prism.import_(tmp_path / "broken.nq", tmp_path / "new")
    told = [v for v in refused.value.report if v.node == subject and v.message.endswith(f"cannot be read: {value}")]
    assert [violation.path for violation in told] == [prop]
    assert all(violation.mend for violation in told)
