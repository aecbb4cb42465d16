"""What a short text mentions: the records it names and the terms it sets as code; long documents are read elsewhere."""

from __future__ import annotations

import re
from collections.abc import Callable

from prism_rdf.clock import Instant
from prism_rdf.ingest.identifiers import in_text

MOST_CONCEPTS = 20
_SET_AS_CODE = re.compile(r"`([^`\n]{2,60})`")


def mentions_of(content: str, at: Instant, resolve: Callable[[str, Instant], str | None]) -> tuple[str, ...]:
    """Return the mentions of a memory, as ``model.Memory`` takes them: each once, entities first.

    ``resolve(identifier, instant)`` answers the uuid of the entity that bore an identifier, or None.

    >>> uuids = {"ADR-7": "0000"}
    >>> mentions_of("ADR-7 keeps `prism_rdf` small, not ADR-8.", Instant(0), lambda name, _: uuids.get(name))
    ('entity:0000', 'concept:prism_rdf')
    """
    names = dict.fromkeys(identifier for _, identifier in in_text(content))
    uuids = (resolve(name, at) for name in names)
    concepts = list(dict.fromkeys(_SET_AS_CODE.findall(content)))[:MOST_CONCEPTS]
    return (*(f"entity:{uuid}" for uuid in uuids if uuid), *(f"concept:{concept.strip()}" for concept in concepts))
