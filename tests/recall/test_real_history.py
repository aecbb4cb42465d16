"""Recall over real decision records with their history: flags against git, and an old number in a question."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from prism_rdf.ingest import read
from prism_rdf.prism import Prism
from prism_rdf.project import Project

pytestmark = [pytest.mark.shared, pytest.mark.slow]

FOLDER = "docs/architecture/ai-embeddings"
DATES = ("2025-10-30T00:00:00Z", "2025-12-15T00:00:00Z", "2026-03-01T00:00:00Z", "2026-06-16T00:00:00Z")
RENUMBERED = {
    "ADR-039": "ADR-804",
    "ADR-041": "ADR-805",
    "ADR-042": "ADR-806",
    "ADR-043": "ADR-807",
    "ADR-044": "ADR-808",
    "ADR-045": "ADR-809",
    "ADR-049": "ADR-810",
    "ADR-058": "ADR-811",
    "ADR-068": "ADR-812",
    "ADR-070": "ADR-813",
}


@pytest.fixture(scope="module")
def clone(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("history") / "adr"
    bundle = shared_data / "adr-history" / "adr-history.bundle"
    subprocess.run(["git", "clone", "-q", "-b", "main", str(bundle), str(folder)], check=True)
    return folder


@pytest.fixture(scope="module")
def project(clone: Path) -> Iterator[Project]:
    with Prism.in_memory() as prism:
        made = prism.project("adr")
        made.write(read(clone / FOLDER, "adr").intents, "ingest")
        yield made


def text_at(clone: Path, source: str, date: str) -> str:
    """Return what git has for the document of a memory at a date: by following its path from that commit."""
    path, _, version = source.partition("@")
    sha = version.partition("#")[0]  # the rest says which passage of the version
    later = subprocess.run(
        ["git", "log", "--first-parent", "--format=%H %ct", "--name-status", "-M40%", "--reverse", f"{sha}..main"],
        cwd=clone, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    limit = datetime.fromisoformat(date).astimezone(UTC).timestamp()
    at = sha
    for line in later.splitlines():
        fields = line.split("\t")
        if len(fields) == 1 and line:
            commit, seconds = line.split(" ")
            if int(seconds) > limit:
                break
            at = commit
        elif fields[0].startswith("R") and fields[1] == path:
            path = fields[2]
        elif fields[0] == "D" and fields[1] == path:
            return ""
    return subprocess.run(["git", "show", f"{at}:{path}"], cwd=clone, capture_output=True, text=True, check=True).stdout


def meaning(text: str) -> str:
    """The words of a document or of a passage of it."""
    return " ".join(text.split())


def test_an_old_number_finds_the_texts_of_then_and_of_now(project: Project) -> None:
    hits: list[dict[str, Any]] = project.recall("ADR-044 grounding")["hits"]
    by_flag: dict[str, list[str]] = {"current": [], "historical": []}
    for hit in hits:
        by_flag.setdefault(hit["state_flag"], []).append(hit["content"])
    assert by_flag["current"]
    assert by_flag["historical"]
    assert any("ADR-808" in content for content in by_flag["current"])
    assert any("ADR-044" in content for content in by_flag["historical"])
    assert {hit["state_summary"] for hit in hits} == {
        "[current: ADR ADR-808]",
        "[historical: current ADR is ADR-808, this reflects ADR-044]",
    }


def test_nothing_superseded_is_called_current(project: Project, clone: Path) -> None:
    """A hit about the decision that was asked for is current exactly when git still has its text at that date."""
    labelled: list[tuple[str, str, bool]] = []  # the flag, the hit, whether git has its text then
    known: dict[tuple[str, str], str] = {}
    for old, new in RENUMBERED.items():
        for date in DATES:
            asked = old if date < "2026-06-15" else new
            answers = [project.recall(asked, as_of=date, limit=8, flag=flag) for flag in ("current", "historical")]
            anchors = {anchor["entity"] for answer in answers for anchor in answer["anchors"]}
            for hit in (hit for answer in answers for hit in answer["hits"]):
                if hit["entity"] not in anchors or not hit["source"].lower().count(old[4:]) + hit["source"].count(
                    new[4:]
                ):
                    continue
                key = (hit["source"], date)
                if key not in known:
                    known[key] = text_at(clone, *key)
                labelled.append((hit["state_flag"], str(key), meaning(hit["content"]) in meaning(known[key])))
    wrong = [(flag, hit) for flag, hit, holds in labelled if flag != ("current" if holds else "historical")]
    print(len(labelled), "pairs,", sum(holds for _, _, holds in labelled), "hold,", len(wrong), "wrong:", wrong[:5])
    assert len(labelled) >= 200
    assert min(sum(holds for _, _, holds in labelled), sum(not holds for _, _, holds in labelled)) >= 50
    assert [hit for flag, hit, holds in labelled if flag == "current" and not holds] == []
    assert len(wrong) <= 0.01 * len(labelled)
