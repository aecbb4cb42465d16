"""A pool over a small store, for what is said of queries that can be stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from prism_rdf.config import Limits
from prism_rdf.storage.embedded import EmbeddedStore
from prism_rdf.workers.answer import WorkedAnswer
from prism_rdf.workers.pool import Pool
from prism_rdf.workers.slow import SlowLog
from prism_rdf.workers.ticket import Question

GRAPH = NamedNode("urn:g")
COUNTER = ("urn:base", "urn:count", "urn:meta")


def quad(number: int) -> Quad:
    return Quad(NamedNode(f"urn:s{number}"), NamedNode(f"urn:p{number % 5}"), Literal(f"value {number}"), GRAPH)


def question(text: str) -> Question:
    return Question(text, {"default_graph": [GRAPH.value]}, COUNTER, "current")


class Asked:
    """A store of 2,000 quads, and a pool that is asked of it."""

    def __init__(self, folder: Path, limits: Limits) -> None:
        folder.mkdir(exist_ok=True)
        self.store = EmbeddedStore(folder / "quads")
        self.store.load([quad(number) for number in range(2000)])
        self.log = SlowLog(folder)
        self.pool = Pool(folder / "workers", limits, self.log)

    def answer(self, text: str, **options: Any) -> WorkedAnswer:
        return self.pool.ask(self.store, question(text), **options)

    def text(self, text: str, form: str = "tsv", **options: Any) -> str:
        return b"".join(self.answer(text, **options).stream(form, None)).decode()


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., Asked]]:
    made: list[Asked] = []

    def one(**limits: Any) -> Asked:
        folder = tmp_path / str(len(made))
        made.append(Asked(folder, Limits(**{"memory": 600, "timeout": 30, **limits})))
        return made[-1]

    yield one
    for each in made:
        each.pool.close()
        assert not each.pool.folder.exists()
        each.store.close()
