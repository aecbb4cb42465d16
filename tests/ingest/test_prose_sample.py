"""Precision and recall of typed references on sentences of two real corpora, labelled by hand before they were tried.

A case names a document, its version and a stretch of it; the words are read from the corpus. ``states`` is what the
sentence states, ``may`` what it can be read to state: neither counted as right nor as wrong.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

from prism_rdf.canonical.catalog import TypeCatalog
from prism_rdf.ingest.frontmatter import split
from prism_rdf.ingest.headers import rfc822
from prism_rdf.ingest.identifiers import spans_in_text
from prism_rdf.ingest.mapping import load
from prism_rdf.ingest.prose import Related, findings
from prism_rdf.ingest.texts import decode

pytestmark = pytest.mark.shared

CASES = Path(__file__).resolve().parent.parent / "cases" / "ingest" / "prose"
Said = tuple[str, str, str]  # kind, source, target; an empty end is the document itself


@pytest.fixture(scope="module")
def corpora(shared_data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpora")
    for name in ("adr-history", "peps"):
        bundle = shared_data / name / f"{name}.bundle"
        subprocess.run(["git", "clone", "-q", "--bare", str(bundle), str(folder / name)], check=True)
    return folder


@pytest.mark.parametrize(
    ("name", "size", "stated", "recall"),
    [
        ("sample", 370, 32, 0.8),
        ("later", 152, 38, 0.8),
        ("wide", 300, 22, 0.8),
        ("third", 150, 27, 0.8),
        ("fourth", 114, 15, 0.8),
        ("fifth", 92, 7, 0.8),
    ],
)
def test_precision_and_recall_of_typed_references(corpora, name, size, stated, recall, capsys) -> None:
    cases = json.loads((CASES / f"{name}.json").read_text())
    counts: Counter[str] = Counter()
    for case in (case for case in cases if not case.get("header")):
        told = said_in(corpora, case)
        wanted, allowed = ([tuple(each) for each in case.get(key, [])] for key in ("states", "may"))
        counts["right"] += sum(any(fits(said, each) for said in told) for each in wanted)
        counts["missed"] += sum(not any(fits(said, each) for said in told) for each in wanted)
        counts["wrong"] += sum(not any(fits(said, each) for each in (*wanted, *allowed)) for said in told)
    precise = counts["right"] / (counts["right"] + counts["wrong"])
    complete = counts["right"] / (counts["right"] + counts["missed"])
    with capsys.disabled():
        print(f"\n{name}: {size} sentences, {dict(counts)}, precision {precise:.3f}, recall {complete:.3f}")

    assert len(cases) == size
    assert counts["right"] + counts["missed"] == stated
    assert precise >= 0.95
    assert complete >= recall


def said_in(corpora: Path, case: dict[str, Any]) -> set[Said]:
    """Return what is found to be stated in the stretch of a case, the document's own identifier left empty."""
    text, found = read(corpora / case["corpus"], case["version"], case["document"])
    words = " ".join(text[case["start"] : case["end"]].split())
    assert blake2b(words.encode(), digest_size=6).hexdigest() == case["words"]
    own = re.search(r"(ADR|pep)-0*(\d+(?:\.\d+)?)", case["document"])
    assert own is not None
    itself = f"PEP {own[2]}" if own[1] == "pep" else f"ADR-{own[2]}"
    said = {
        (each.kind, *("" if end.identifier == itself else end.identifier for end in (each.source, each.target)))
        for start, each in found
        if start + each.quote.start < case["end"] and case["start"] < start + each.quote.end
    }
    return {each for each in said if each[1] != each[2]}


@cache
def read(repo: Path, version: str, path: str) -> tuple[str, list[tuple[int, Related]]]:
    shown = subprocess.run(["git", "-C", str(repo), "show", f"{version}:{path}"], capture_output=True, check=True)
    text = decode(shown.stdout, ("utf-8", "latin-1"))
    if repo.name == "peps":
        begin = rfc822(text).body
        found = findings(text[begin:], "text", load("peps", TypeCatalog.shipped()).rules[0].identifier.spans)
    else:
        begin = len(text) - len(split(text)[1])
        found = findings(text[begin:], "markdown", spans_in_text)
    return text, [(begin, each) for each in found if isinstance(each, Related)]


def fits(said: Said, label: Said) -> bool:
    return said[0] in label[0].split("|") and said[1:] == label[1:]
