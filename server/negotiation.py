"""Which format an answer takes: from the ``format`` parameter, else from the Accept header; nothing is written here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from werkzeug.datastructures import MIMEAccept

from .failures import NotAcceptable

HTML = "text/html"
# media type → name of the format for QueryAnswer.stream; the first of each table is the default
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
    "application/x-turtle": "ttl",
    "application/json": "jsonld",
    "application/xml": "rdf",
}
# what clients call formats beside their names and media types
_OF_ROWS = {"sparql-results+json": "json", "sparql-results+xml": "xml"}
_OF_GRAPHS = {
    "turtle": "ttl",
    "n3": "ttl",
    "ntriples": "nt",
    "n-triples": "nt",
    "nquads": "nq",
    "n-quads": "nq",
    "rdf+xml": "rdf",
    "xml": "rdf",
    "json-ld": "jsonld",
    "json": "jsonld",
}
_COMMENT = "cut: there is more, see the header Prism-Truncated"
_CUT = "https://w3id.org/prism-rdf/ns#truncated"


@dataclass(frozen=True)
class Format:
    """A format of answers: its media type, and its name for ``QueryAnswer.stream``."""

    media_type: str
    name: str

    @property
    def content_type(self) -> str:
        return f"{self.media_type}; charset=utf-8" if self.media_type.startswith("text/") else self.media_type

    def marked(self, first: bytes) -> bytes:
        """Return the first bytes of an answer that was cut with a word that it is, where the format has room for one.

        >>> Format("text/csv", "csv").marked(b"s,p"), Format("application/json", "json").marked(b'{"head":{"vars":[]}')
        (b's,p', b'{"head":{"link":["https://w3id.org/prism-rdf/ns#truncated"],"vars":[]}')
        """
        if self.name == "json":
            return first.replace(b'{"head":{', f'{{"head":{{"link":["{_CUT}"],'.encode(), 1)
        if self.name in ("xml", "rdf"):
            return first.replace(b"?>", f"?>\n<!-- {_COMMENT} -->\n".encode(), 1)
        if self.name in ("ttl", "nt", "trig", "nq"):
            return f"# {_COMMENT}\n".encode() + first
        return first


def choose(kind: str, accept: MIMEAccept, asked: str | None) -> Format:
    """Return the format for an answer of this kind: select, ask or graph.

    Raises NotAcceptable with the list of what there is.
    """
    table = GRAPH if kind == "graph" else ROWS
    if asked:
        wanted = (_OF_GRAPHS if kind == "graph" else _OF_ROWS).get(asked.lower(), asked.lower())
        for media_type, name in table.items():
            if wanted in (name, media_type):
                return Format(media_type, name)
        raise _not_acceptable(f"format {asked!r} does not fit this answer", table)
    if not accept:
        media_type = next(iter(table))
        return Format(media_type, table[media_type])
    best = _plain(accept).best_match(list(table))
    if best is None:
        raise _not_acceptable(f"none of what the client accepts fits this answer: {accept.to_header()}", table)
    return Format(best, table[best])


def wants_page(accept: MIMEAccept, asked: str | None) -> bool:
    """Return whether the client would rather have a page than any of the formats: whether it is a browser."""
    return asked in ("html", HTML) or (not asked and _plain(accept).best_match([*ROWS, *GRAPH, HTML]) == HTML)


def _plain(accept: MIMEAccept) -> MIMEAccept:
    """Return what a client accepts without parameters such as charset, which choose nothing here."""
    return MIMEAccept([(media_type.partition(";")[0].strip(), quality) for media_type, quality in accept])


def _not_acceptable(message: str, table: Mapping[str, str]) -> NotAcceptable:
    return NotAcceptable(
        message,
        rule=f"this answer can be had as {', '.join(table)}",
        mend=f"send one of these in Accept, or format= one of {', '.join(dict.fromkeys(table.values()))}",
    )
