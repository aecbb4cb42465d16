"""Which format an answer takes: from the ``format`` parameter, else from the Accept header; nothing is written here."""

from __future__ import annotations

from collections.abc import Mapping

from werkzeug.datastructures import MIMEAccept

from .failures import NotAcceptable

# media type → name of the format for QueryAnswer.serialize; the first of each table is the default
ROWS: Mapping[str, str] = {
    "application/sparql-results+json": "json",
    "application/sparql-results+xml": "xml",
    "text/csv": "csv",
    "text/tab-separated-values": "tsv",
    "application/json": "json",
    "application/xml": "xml",
}
GRAPH: Mapping[str, str] = {
    "text/turtle": "ttl",
    "application/n-triples": "nt",
    "application/rdf+xml": "rdf",
    "application/ld+json": "jsonld",
    "application/trig": "trig",
    "application/n-quads": "nq",
}


def choose(kind: str, accept: MIMEAccept, asked: str | None) -> tuple[str, str]:
    """Return (media type, format name) for an answer of this kind: select, ask or graph.

    Raises NotAcceptable with the list of what there is.
    """
    table = GRAPH if kind == "graph" else ROWS
    if asked:
        for media_type, name in table.items():
            if asked in (name, media_type):
                return media_type, name
        raise _not_acceptable(f"format {asked!r} does not fit this answer", table)
    if not accept:
        media_type = next(iter(table))
        return media_type, table[media_type]
    best = accept.best_match(list(table))
    if best is None:
        raise _not_acceptable(f"none of what the client accepts fits this answer: {accept.to_header()}", table)
    return best, table[best]


def _not_acceptable(message: str, table: Mapping[str, str]) -> NotAcceptable:
    return NotAcceptable(
        message,
        rule=f"this answer can be had as {', '.join(table)}",
        mend=f"send one of these in Accept, or format= one of {', '.join(dict.fromkeys(table.values()))}",
    )
