"""How much of what answers a question recall finds, beside BM25, cosine and plain rank fusion; asserts nothing.

    python bench/recall/development.py                  # BEAM, chats 1 to 10, and pages of TimeQA
    python bench/recall/development.py --recipe rrf     # the other recipe
    python bench/recall/development.py --vectors FOLDER # where vectors are kept between runs

The two halves of BEAM (chats 1 to 5, 6 to 10) are shown apart, to see whether they agree; both were in view when the
weights were chosen, so neither is held out. Recall goes through the product: it
writes the memories to a store and asks by the verb ``recall``. BM25 is Whoosh's own (stemming, any of the words), over
whole texts, cosine that of the same embedder over the text with its header, RRF their fusion with k = 60. Intervals are
of 95 %, by bootstrap over questions.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from collections_of import Asked, Collection, beam, cached, timeqa
from whoosh import fields, filedb, qparser
from whoosh.analysis import StemmingAnalyzer

from prism_rdf.evidence.memories import memory_node
from prism_rdf.prism import Prism
from prism_rdf.project import Project
from prism_rdf.recall.embedders import Embedder
from prism_rdf.recall.fusion import RECIPES
from prism_rdf.recall.memories import Passage
from prism_rdf.recall.vectors import described

DEPTHS = (5, 10, 20, 40)
FAR = 10**6
Ranker = Callable[[str], list[str]]


@dataclass
class Measured:
    """What one system reached, question by question."""

    rows: list[dict[str, float]] = field(default_factory=list)
    updates: list[bool] = field(default_factory=list)

    def add(self, question: Asked, found: Sequence[str]) -> None:
        place = {name: number for number, name in reversed(list(enumerate(found, start=1)))}
        ranks = [place.get(name, FAR) for name in question.gold]
        row = {f"R@{depth}": float(np.mean([rank <= depth for rank in ranks])) for depth in DEPTHS}
        self.rows.append(row | {"all@40": float(max(ranks) <= 40), "MRR": max(1 / rank for rank in ranks)})
        if question.before and question.after and not set(question.before) & set(question.after):
            first = [min(place.get(name, FAR) for name in names) for names in (question.after, question.before)]
            self.updates.append(first[0] < first[1])

    def line(self, name: str) -> str:
        cells = []
        for column in self.rows[0]:
            values = np.array([row[column] for row in self.rows])
            low, high = _interval(values)
            cells.append(f"{values.mean():.3f} [{low:.2f}, {high:.2f}]".replace("0.", "."))
        if self.updates:
            cells.append(f"{sum(self.updates)}/{len(self.updates)} = {np.mean(self.updates):.2f}")
        return f"| {name} | " + " | ".join(cells) + " |"


def _interval(values: np.ndarray) -> tuple[float, float]:
    drawn = np.random.default_rng(7).integers(0, len(values), (1_000, len(values)))
    low, high = np.percentile(values[drawn].mean(axis=1), [2.5, 97.5])
    return float(low), float(high)


def bm25(collection: Collection) -> Ranker:
    """Return Whoosh as it comes: BM25F over the stemmed text, any of the words."""
    schema = fields.Schema(name=fields.ID(stored=True), text=fields.TEXT(StemmingAnalyzer()))
    made = filedb.filestore.RamStorage().create_index(schema)
    writer = made.writer()
    for name, memory in collection.memories.items():
        writer.add_document(name=name, text=f"{memory.heading or memory.speaker} {memory.content}")
    writer.commit()
    searcher, parser = made.searcher(), qparser.QueryParser("text", schema, plugins=[], group=qparser.OrGroup)
    return lambda text: [hit["name"] for hit in searcher.search(parser.parse(text), limit=200)]


def cosine(collection: Collection, embedder: Embedder) -> Ranker:
    names = list(collection.memories)
    texts = (
        Passage("", m.content, m.heading, m.source, m.start, None, m.kind, m.speaker)
        for m in collection.memories.values()
    )
    rows = np.vstack([embedder.embed([described(text)])[0] for text in texts])
    return lambda text: [names[row] for row in np.argsort(-(rows @ embedder.embed([text])[0]))[:200]]


def rrf(rankers: Iterable[Ranker]) -> Ranker:
    def ranked(text: str) -> list[str]:
        scores: dict[str, float] = {}
        for ranker in rankers:
            for rank, name in enumerate(ranker(text), start=1):
                scores[name] = scores.get(name, 0.0) + 1 / (60 + rank)
        return sorted(scores, key=lambda name: (-scores[name], name))

    return ranked


def product(collection: Collection, project: Project, recipe: str) -> Ranker:
    project.write(list(collection.memories.values()))
    names = {memory_node(memory, project.names).value: name for name, memory in collection.memories.items()}
    while any(project.recall("warm up")["legs"][leg]["status"] != "ok" for leg in ("vector", "lexical")):
        time.sleep(0.2)
    return lambda text: [names[hit["id"]] for hit in project.recall(text, limit=40, recipe=recipe)["hits"]]


def measure(collections: Iterable[Collection], embedder: Embedder, recipe: str) -> Mapping[str, dict[str, Measured]]:
    """Return by part (each half, all) and system what was reached."""
    parts: dict[str, dict[str, Measured]] = {}
    for collection in collections:
        with Prism.in_memory(embedder=embedder) as prism:
            systems = {"BM25 alone": bm25(collection), "cosine alone": cosine(collection, embedder)}
            systems["RRF k=60"] = rrf(list(systems.values()))
            systems["recall"] = product(collection, prism.project("bench"), recipe)
            for question in collection.questions:
                for name, system in systems.items():
                    found = system(question.text)
                    for part in ("all", "chats 1-5" if collection.first_half else "chats 6-10"):
                        parts.setdefault(part, {}).setdefault(name, Measured()).add(question, found)
    return parts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vectors", type=Path, default=Path("~/.cache/prism/bench").expanduser())
    parser.add_argument("--pages", type=int, default=110, help="pages of TimeQA; embedding all 320 takes half an hour")
    parser.add_argument("--recipe", choices=sorted(RECIPES), default="scores")
    parser.add_argument("--only", choices=("beam", "timeqa"), default="")
    options = parser.parse_args()
    embedder = cached(options.vectors / "vectors.db")
    sets = {"BEAM, chats 1-10": beam, f"TimeQA, {options.pages} pages": lambda: [timeqa(pages=options.pages)]}
    for title, load in sets.items():
        if options.only and not title.casefold().startswith(options.only):
            continue
        for part, systems in sorted(measure(load(), embedder, options.recipe).items()):
            if title.startswith("TimeQA") and part != "all":
                continue
            count = len(next(iter(systems.values())).rows)
            print(f"\n{title}: {part}, {count} questions\n")
            columns = [*next(iter(systems.values())).rows[0], "update above"]
            print("| system | " + " | ".join(columns) + " |")
            print("|---" * (len(columns) + 1) + "|")
            for name, measured in systems.items():
                print(measured.line(name))


if __name__ == "__main__":
    main()
