"""What begins or ends by time alone is looked for only when something can have come due."""

from __future__ import annotations

from threading import Thread

from prism_rdf import Prism
from prism_rdf.changes import DUE_AT
from prism_rdf.clock import Instant, ManualClock

TITLE = 'SELECT ?t { ?d prism:number "ADR-1" ; prism:title ?t }'


def titles(prism: Prism) -> list[str]:
    return [row[0].value for row in prism.sparql(TITLE).rows()]


def test_boundaries_are_read_once_and_again_after_a_write(monkeypatch):
    clock = ManualClock(Instant.parse("2026-01-01T00:00:00Z"))
    with Prism.in_memory(clock=clock) as prism:
        project = prism.project("demo")
        made = project.entity("ADR", {"number": "ADR-1", "title": "Old"})["uuid"]
        project.fact(made, "title", "New", valid_from="2026-02-01")
        read, reads = prism.store.quads_for_pattern, []

        def watched(subject, predicate, value, graph=None):
            reads.append(predicate)
            return read(subject, predicate, value, graph)

        monkeypatch.setattr(prism.store, "quads_for_pattern", watched)
        assert titles(prism) == ["Old"]
        assert DUE_AT in reads
        reads.clear()
        assert titles(prism) == ["Old"]
        assert DUE_AT not in reads
        clock.advance(days=40)
        assert titles(prism) == ["New"]
        project.fact(made, "title", "Newer", valid_from="2026-03-01")
        assert titles(prism) == ["New"]
        clock.advance(days=40)
        assert titles(prism) == ["Newer"]
        clock.advance(days=40)
        reads.clear()
        assert titles(prism) == ["Newer"]
        assert DUE_AT not in reads


def test_who_reads_does_not_wait_for_who_writes():
    with Prism.in_memory(clock=ManualClock(Instant.parse("2026-01-01T00:00:00Z"))) as prism:
        prism.project("demo").entity("ADR", {"number": "ADR-1", "title": "Old"})
        found: list[list[str]] = []
        reader = Thread(target=lambda: found.append(titles(prism)), daemon=True)
        with prism.site.committer.paused():  # as during a long commit, after one of which nobody has read
            reader.start()
            reader.join(10)
            assert found == [["Old"]]
