"""A small store with a bit of everything in it, step by step, and what is compared of whole stores."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pyoxigraph import BlankNode, CanonicalizationAlgorithm, Dataset, Literal, NamedNode, Quad

from prism_rdf import Prism
from prism_rdf.clock import Instant

START = Instant.parse("2026-06-01T00:00:00Z")
STEPS: list[Callable[[Prism], object]] = [
    lambda p: p.project("demo").entity(
        "ADR", {"number": "ADR-001", "title": "Use a graph"}, valid_from="2025-01-01", idempotency_key="first"
    ),
    lambda p: p.project("demo").entity("ADR", {"number": "ADR-002", "title": "Use a table"}, valid_from="2025-01-01"),
    lambda p: p.project("demo").transition("ADR-001", {"status": "Accepted"}, valid_from="2025-03-01"),
    lambda p: p.project("demo").reference("ADR-001", "ADR-002", "SUPERSEDES", valid_from="2025-03-01"),
    lambda p: p.project("demo").transition("ADR-001", {"title": "Use a graph store"}, valid_from="2025-02-01"),
    lambda p: p.project("demo").alias("The Graph", "ADR-001", valid_from="2025-01-01", valid_until="2025-06-01"),
    lambda p: p.project("demo").remember("ADR-001 says that a graph is used", about=["ADR-001"]),
    lambda p: p.project("other").entity("ADR", {"number": "ADR-001", "title": "Elsewhere"}, valid_from="2025-01-01"),
    lambda p: p.project("demo").wip("ADR-002", {"status": "Rejected"}),
    lambda p: p.project("demo").transition("ADR-002", {"status": "Proposed"}, valid_from="2025-05-01"),
    lambda p: p.project("demo").revert(5),
    lambda p: p.project("demo").seal("ADR-002"),
    lambda p: p.project("demo").transition("ADR-001", {"status": "Rejected"}, valid_from="2026-07-01"),
    lambda p: p.project("demo").alias(
        "Graphy", "ADR-001", tier=3, quote="we call it Graphy", source="a.md", confidence=0.5
    ),
    lambda p: p.project("demo").alias("Graphy", "ADR-001", tier=3, quote="Graphy, they say", source="b.md"),
    lambda p: p.project("demo").fact("ADR-002", "status", "Accepted", tier=3, valid_from="2025-04-01"),
    lambda p: _rule(p, "alias", "promote"),
    lambda p: _rule(p, "fact", "reject"),
]


def _rule(prism: Prism, kind: str, decision: str) -> object:
    project = prism.project("demo")
    [row] = project.list_candidates(kind)["candidates"]
    return project.review(row["uuid"], decision, reviewer="ada", note="so it is")


def fill(prism: Prism) -> None:
    for step in STEPS:
        step(prism)


def add_free_graphs(prism: Prism) -> None:
    """Blank nodes, some of them in two graphs, and values that are easily mangled."""
    one, two = BlankNode(), BlankNode()
    mine, theirs = NamedNode(f"{prism.base}/demo/free/notes"), NamedNode("https://example.org/graph")
    says = NamedNode("https://example.org/says")
    prism.store.load(
        [
            Quad(one, says, two, mine),
            Quad(one, says, Literal('quoted " \\ \n\t\u2028 é', language="fr"), mine),
            Quad(two, says, Literal("1.5", datatype=NamedNode("http://www.w3.org/2001/XMLSchema#decimal")), theirs),
            Quad(two, says, Literal(""), theirs),
        ]
    )


def quads(prism: Prism) -> set[Quad]:
    return set(prism.store.quads_for_pattern(None, None, None))


def canonical(prism: Prism) -> set[Quad]:
    """Every quad of the store, blank nodes named alike in isomorphic stores."""
    dataset = Dataset(quads(prism))
    dataset.canonicalize(CanonicalizationAlgorithm.UNSTABLE)
    return set(dataset)


def files_with(folder: Path, *texts: str) -> list[str]:
    """The files below a folder that hold any of the texts, in any case."""
    wanted = [each.encode() for text in texts for each in (text, text.lower(), text.upper())]
    found = (file for file in folder.rglob("*") if file.is_file())
    return sorted(str(file.relative_to(folder)) for file in found if any(w in _bytes(file) for w in wanted))


def _bytes(file: Path) -> bytes:
    """Return what a file holds; nothing when the engine has just removed it, as it does while it compacts."""
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return b""
