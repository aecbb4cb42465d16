"""Violations for eyes and for machines: rows, text, JSON and a SHACL report in Turtle; nothing is validated here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict

from pyoxigraph import (
    BlankNode,
    Literal,
    NamedNode,
    RdfFormat,
    Triple,
    parse,
    serialize,
)

from prism_rdf.errors import Violation
from prism_rdf.namespaces import PREFIXES, RDF_TYPE, SH

COLUMNS = ("node", "path", "value", "shape", "message", "mend", "component")
_TERM = re.compile(r"<[^<>\s]+>")
_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|^`\\]+")
_OF_THE_ENGINE = NamedNode(SH + "SPARQLConstraintComponent")  # its invariants are the queries of queries/checks
_WITH_PREFIXES = (RdfFormat.TURTLE, RdfFormat.TRIG, RdfFormat.RDF_XML)


def as_rows(violations: Iterable[Violation]) -> list[dict[str, str]]:
    """Return one row per violation, with COLUMNS as keys; known vocabularies are written with their prefixes."""
    return [{key: _short(value) for key, value in asdict(violation).items()} for violation in violations]


def as_text(violations: Sequence[Violation]) -> str:
    """Return a paragraph per violation: what is wrong, where, and how to mend it; ``no violations`` when empty."""
    if not violations:
        return "no violations"
    return "\n\n".join("\n".join(_lines(row)) for row in as_rows(violations))


def as_json(violations: Iterable[Violation]) -> str:
    """Return a JSON array of objects with COLUMNS as keys, terms as N-Triples."""
    return json.dumps([asdict(violation) for violation in violations], ensure_ascii=False, indent=2)


def as_turtle(violations: Sequence[Violation]) -> str:
    """Return a sh:ValidationReport (https://www.w3.org/TR/shacl/#validation-report) in Turtle."""
    return as_rdf(violations, RdfFormat.TURTLE).decode("utf-8")


def as_rdf(violations: Sequence[Violation], form: RdfFormat) -> bytes:
    """Return a sh:ValidationReport in any format of RDF."""
    prefixes = {name: PREFIXES[name] for name in ("sh", "prism", "type", "shape", "xsd")}
    text = serialize(_report(violations), format=form, prefixes=prefixes if form in _WITH_PREFIXES else None)
    assert text is not None
    return text


def _lines(row: dict[str, str]) -> Iterable[str]:
    yield row["message"]
    yield f"  at    {' '.join(row[key] for key in ('node', 'path', 'value') if row[key])}"
    if row["shape"]:
        yield f"  rule  {row['shape']}"
    if row["mend"]:
        yield f"  mend  {row['mend']}"


def _report(violations: Sequence[Violation]) -> Iterable[Triple]:
    report = BlankNode()
    results = [BlankNode() for _ in violations]
    yield Triple(report, RDF_TYPE, _sh("ValidationReport"))
    yield Triple(report, _sh("conforms"), Literal(not violations))
    yield from (Triple(report, _sh("result"), result) for result in results)
    for result, violation in zip(results, violations, strict=True):
        message = f"{violation.message}. {violation.mend}" if violation.mend else violation.message
        yield Triple(result, RDF_TYPE, _sh("ValidationResult"))
        yield Triple(result, _sh("resultSeverity"), _sh("Violation"))
        yield Triple(result, _sh("resultMessage"), Literal(message))
        if violation.node:
            yield Triple(result, _sh("focusNode"), _node(violation.node))
        if violation.value:
            yield Triple(result, _sh("value"), _term(violation.value))
        component = _node(violation.component)
        known = component if isinstance(component, NamedNode) else _OF_THE_ENGINE
        yield Triple(result, _sh("sourceConstraintComponent"), known)
        for name, text in (("resultPath", violation.path), ("sourceShape", violation.shape)):
            node = _node(text)
            if isinstance(node, NamedNode):
                yield Triple(result, _sh(name), node)


def _sh(name: str) -> NamedNode:
    return NamedNode(SH + name)


def _node(text: str) -> NamedNode | BlankNode | Literal:
    """Return the node of an N-Triples form, or of an IRI without brackets."""
    return NamedNode(text) if _IRI.fullmatch(text) else _term(text)


def _term(text: str) -> NamedNode | BlankNode | Literal:
    """Return the term of an N-Triples form; what is plain text becomes a string."""
    try:
        (triple,) = parse(f"<urn:s> <urn:p> {text} .", RdfFormat.N_TRIPLES)
    except (SyntaxError, ValueError):
        return Literal(text)
    found = triple.object
    return found if isinstance(found, (NamedNode, BlankNode, Literal)) else Literal(text)


def _short(text: str) -> str:
    """Write the IRIs of known vocabularies with their prefixes."""
    return _TERM.sub(lambda match: _curie(match[0]), text)


def _curie(term: str) -> str:
    for name, start in PREFIXES.items():
        local = term[1:-1].removeprefix(start)
        if local != term[1:-1] and re.fullmatch(r"[\w-]*", local):
            return f"{name}:{local}"
    return term
