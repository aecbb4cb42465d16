"""What a decision record says of other records, and in which kind; which document is meant is found out elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from prism_rdf.ingest.frontmatter import Value
from prism_rdf.ingest.identifiers import alone, is_markdown
from prism_rdf.ingest.inline import Line, Named, read_lines

REFERENCES, SUPERSEDES = "REFERENCES", "SUPERSEDES"
_MAX_VALUES, _MAX_DEPTH = 1000, 4

_KINDS: Mapping[str, tuple[str, bool]] = {
    "related": ("RELATES_TO", False),
    "related_to": ("RELATES_TO", False),
    "relates_to": ("RELATES_TO", False),
    "related_decisions": ("RELATES_TO", False),
    "supersedes": (SUPERSEDES, False),
    "replaces": (SUPERSEDES, False),
    "superseded_by": (SUPERSEDES, True),
    "replaced_by": (SUPERSEDES, True),
    "references": (REFERENCES, False),
    "implements": ("IMPLEMENTS", False),
    "extends": ("EXTENDS", False),
    "depends_on": ("DEPENDS_ON", False),
    "specifies": ("SPECIFIES", False),
    "formalizes": ("FORMALIZES", False),
    "resolves": ("RESOLVES", False),
    "documents": ("DOCUMENTS", False),
}
_ABOUT_ITSELF = frozenset({"status", "title", "id", "number", "adr", "date", "created", "type", "kind"})
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SUPERSESSION = re.compile(r"(?:supers|superc)ed(ed\s+by|es)\b", re.IGNORECASE)


@dataclass(frozen=True, order=True)
class Mention:
    """Another record, named by identifier, by the path of its file from here, or both.

    ``inverse``: the other one stands in this kind to the one that speaks, as in ``superseded_by``.
    """

    kind: str
    identifier: str
    href: str = ""
    inverse: bool = False


def kind_of(key: str) -> tuple[str, bool] | None:
    """Return (kind, inverse) of a front matter key or of the label of a line; None when it names no kind.

    >>> kind_of("superseded-by"), kind_of("Related ADRs"), kind_of("deciders")
    (('SUPERSEDES', True), ('RELATES_TO', False), None)
    """
    words = re.sub(r"[-\s]+", "_", _CAMEL.sub("_", key.strip())).lower()
    return _KINDS.get(words.removesuffix("_adrs").removesuffix("_adr"))


def mentions(named: Iterable[Named], kind: str = REFERENCES, *, inverse: bool = False) -> Iterator[Mention]:
    for name in named:
        yield Mention(kind, name.identifier, name.href, inverse)


def in_status(line: Line) -> Iterator[Mention]:
    """Yield what a line about the status says: ``Superseded by ADR-12`` is SUPERSEDES, the other way round."""
    marks = list(_SUPERSESSION.finditer(line.text))
    for named in line.names():
        said = [mark for mark in marks if mark.start() < named.offset]
        if said:
            yield Mention(SUPERSEDES, named.identifier, named.href, said[-1][1].lower() != "es")
        else:
            yield Mention(REFERENCES, named.identifier, named.href)


def in_field(text: str, kind: str, *, inverse: bool) -> list[Mention]:
    """Return what one value of a typed field names; empty when it names no record.

    >>> in_field("0007", "EXTENDS", inverse=False)[0].identifier
    'ADR-0007'
    """
    if identifier := alone(text):
        return [Mention(kind, identifier, "", inverse)]
    found = [mention for line in read_lines(text) for mention in mentions(line.names(), kind, inverse=inverse)]
    if not found and is_markdown(text.strip()):
        found = [Mention(kind, "", text.strip(), inverse)]
    return found


def in_fields(fields: Mapping[str, Value]) -> tuple[list[Mention], list[tuple[str, str]]]:
    """Return what front matter names, and the (key, value) of typed fields that name nothing known."""
    found: list[Mention] = []
    unknown: list[tuple[str, str]] = []
    for key, value in fields.items():
        if key.lower() in _ABOUT_ITSELF:
            continue
        kind = kind_of(key)
        for text in islice(_texts(value, _MAX_DEPTH), _MAX_VALUES):
            if kind is None:
                found += [mention for line in read_lines(text) for mention in mentions(line.names())]
            elif named := in_field(text, kind[0], inverse=kind[1]):
                found += named
            elif text.strip():
                unknown.append((key, text.strip()))
    return found, unknown


def _texts(value: Value, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth:
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner, depth - 1)
