"""What of a dataset a query can reach, judged by its words alone; it is not parsed, and in doubt it reaches everything.

Oxigraph looks a pattern up in each graph of the default graph, so a query that spares the memories is asked of half as
many. A pattern reaches a memory only by a property that memories have, or where the query leaves the property open: as
a variable, in a negated set, or by a path of no steps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urljoin

from prism_rdf.canonical.catalog import TypeCatalog
from prism_rdf.evidence.memories import TERMS
from prism_rdf.namespaces import PREFIXES, PRISM, SKOS, XSD

# What Oxigraph reads as one token, to the letter: where the two differ, a word could be hidden from who judges a query.
_CODE = r"\\u(?![dD][89a-fA-F])[0-9a-fA-F]{4}|\\U00(?!00[dD][89a-fA-F])(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4}"
_ESCAPE = rf"\\[tbnrf\"'\\]|{_CODE}"
_LETTER = (
    r"A-Za-z\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u02FF\u0370-\u037D\u037F-\u1FFF\u200C\u200D\u2070-\u218F\u2C00-\u2FEF"
    r"\u3001-\uD7FF\uF900-\uFDCF\uFDF0-\uFFFD\U00010000-\U000EFFFF"
)
_IN_NAME = rf"{_LETTER}_0-9\u00B7\u0300-\u036F\u203F\u2040"
_LOCAL = r"%[0-9A-Fa-f]{2}|\\[_~.!$&'()*+,;=/?#@%-]"
TOKEN = re.compile(
    rf"(?P<literal>\"{{3}}(?:[^\"\\]|{_ESCAPE}|\"(?!\"\"))*\"{{3}}|'{{3}}(?:[^'\\]|{_ESCAPE}|'(?!''))*'{{3}}"
    rf"|\"(?:[^\"\\\n\r]|{_ESCAPE})*\"|'(?:[^'\\\n\r]|{_ESCAPE})*'"
    r"|[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|\b(?:true|false)\b(?!:))"
    rf"|(?P<iri><(?:[^\x00-\x20<>\"{{}}|^`\\]|{_CODE})*>)"
    rf"|(?P<variable>[?$][{_LETTER}_0-9][{_IN_NAME}]*|_:[{_LETTER}_0-9](?:[{_IN_NAME}.-]*[{_IN_NAME}-])?)"
    rf"|(?P<name>(?:[{_LETTER}](?:[{_IN_NAME}.-]{{0,255}}[{_IN_NAME}-])?)?:"  # any length would take quadratic time
    rf"(?:(?:[{_LETTER}_:0-9]|{_LOCAL})(?:(?:[{_IN_NAME}.:-]|{_LOCAL})*(?:[{_IN_NAME}:-]|{_LOCAL}))?)?)"
    r"|(?P<word>[A-Za-z][A-Za-z0-9_]*)|(?P<nothing>[ \t\r\n]+|\#[^\n\r]*)|(?P<sign>!=|.)",
    re.DOTALL,
)
_CODED = re.compile(r"\\u(.{4})|\\U(.{8})")
_ESCAPED = re.compile(r"\\(.)")
_TERMS = {"iri", "variable", "literal"}
_BEFORE_A_VERB = {*_TERMS, "]", ";", "[", ">", "|", ")"}
_AFTER_A_VERB = {*_TERMS, "[", "(", "<"}
_OPEN = {("word", "describe"), ("word", "from"), ("word", "base"), *((sign, sign) for sign in "\\~?")}
_OF_ENTITIES = {PRISM + name for name in ("uuid", "tenant", "namespace", "mergedInto")}
_LABELS = {SKOS + "altLabel", SKOS + "hiddenLabel"}
_NONE = ("", "")
_PREFIXED = tuple(PREFIXES.items())
Token = tuple[str, str]


@dataclass(frozen=True)
class PlacedToken:
    """A token by the name of its group in TOKEN, and where in the text it stands; ``word`` is in small letters."""

    kind: str
    text: str
    start: int
    end: int

    @property
    def word(self) -> str:
        return self.text.lower() if self.kind == "word" else ""


def vocabulary(catalog: TypeCatalog) -> frozenset[str]:
    """Return the properties, kinds of reference and classes that entities have and no memory has."""
    found = _OF_ENTITIES | _LABELS | {kind.value for kind in catalog.kinds.values()}
    for known in catalog.types:
        found |= {each.iri.value for each in known.properties}
        found |= {each.value for each in (known.iri, *known.superclasses)}
    return frozenset(found - {term.value for term in TERMS})


@lru_cache(maxsize=1024)
def spares_memories(query: str, known: frozenset[str], base: str) -> bool:
    """Return whether a query certainly reaches no memory; ``known`` is the vocabulary, ``base`` that of the store.

    >>> from prism_rdf.canonical.catalog import TypeCatalog
    >>> known = vocabulary(TypeCatalog.shipped())
    >>> spares_memories("SELECT ?d ?t { ?d a type:ADR ; prism:title ?t }", known, "urn:prism:default")
    True
    >>> spares_memories("SELECT ?d ?p { ?d a type:ADR ; ?p 'Proposed' }", known, "urn:prism:default")
    False
    """
    tokens = [_NONE, *_without_heads(_spelled_out(query)), _NONE, _NONE]
    return not any(
        token in _OPEN
        or (token[0] == "variable" and before in _BEFORE_A_VERB and after in _AFTER_A_VERB)
        or (token[0] == "iri" and token[1] not in known and not token[1].startswith((XSD, f"{base}/")))
        or (token[0] == "a" and (after != "iri" or following == ","))
        or (token[0] == "*" and before in {"iri", "a", ")", "expression"})
        or (token[0] == "!" and after in {"iri", "a", "^", "("})
        for (before, _), token, (after, _), (following, _) in zip(
            tokens, tokens[1:], tokens[2:], tokens[3:], strict=False
        )
    )


def graphs_declared(query: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the IRIs of the graphs that a query takes its dataset from: FROM, and FROM NAMED.

    >>> graphs_declared("SELECT * FROM <urn:g> FROM NAMED prism:x { ?from ?p 'FROM <urn:h>' }")
    (('urn:g',), ('https://w3id.org/prism-rdf/ns#x',))
    """
    if "from" not in query.lower():
        return (), ()
    found: dict[str, list[str]] = {"from": [], "named": []}
    base = clause = ""
    for kind, text in _spelled_out(query):
        if kind == "word" and text in ("from", "named", "base"):
            clause = text
        elif kind == "iri" and clause:
            if clause == "base":
                base = urljoin(base, text)
            else:
                found[clause].append(urljoin(base, text))
            clause = ""
    return tuple(found["from"]), tuple(found["named"])


def may_name_graphs(query: str) -> bool:
    """Return whether a query may name graphs by GRAPH: it has the word, or something written by its code."""
    return "graph" in query.lower() or "\\" in query


@lru_cache(maxsize=256)
def prefixes_in(query: str) -> dict[str, str]:
    """Return those of PREFIXES that a query may use; all of them take the engine longer to read than a short query.

    >>> list(prefixes_in("SELECT ?d { ?d a type:ADR ; prism:title ?t }"))
    ['prism', 'type']
    """
    if "\\" in query:
        return PREFIXES
    return {prefix: iri for prefix, iri in _PREFIXED if f"{prefix}:" in query}


def _spelled_out(query: str) -> Iterator[Token]:
    """Yield the tokens as (kind, text), names as the IRIs that they stand for; the kind of a sign is the sign."""
    found = [(each.lastgroup or "", each[0]) for each in TOKEN.finditer(query) if each.lastgroup != "nothing"]
    prefixes, skipped = dict(PREFIXES), 0
    for index, (kind, text) in enumerate(found):
        if skipped:
            skipped -= 1
        elif text.lower() == "prefix" and [each for each, _ in found[index + 1 : index + 3]] == ["name", "iri"]:
            prefixes[found[index + 1][1][:-1]] = _spelled(found[index + 2][1])
            skipped = 2
        elif kind == "name":
            prefix, _, local = text.partition(":")
            yield "iri", prefixes.get(prefix, "?") + _ESCAPED.sub(r"\1", local)
        elif kind == "iri":
            yield kind, _spelled(text)
        elif kind == "word":
            yield ("a", "a") if text == "a" else ("word", text.lower())
        else:
            yield (text, text) if kind == "sign" else (kind, text)


def _spelled(iri: str) -> str:
    """Return what stands in the brackets of an IRI, with the characters that are written by their codes."""
    return _CODED.sub(lambda code: chr(int(code[1] or code[2], 16)), iri[1:-1])


def _without_heads(tokens: Iterable[Token]) -> Iterator[Token]:
    """Yield the tokens without the variables that a SELECT returns; what closes an expression is an ``expression``."""
    brackets: list[str] = []
    head, before = -1, ""
    for kind, text in tokens:
        if (kind, text) == ("word", "select"):
            head = len(brackets)
        elif (kind == "{" or (kind, text) == ("word", "where")) and len(brackets) == head:
            head = -1
        if kind == "(":
            of_expression = before == "word" or brackets[-1:] == ["expression"]
            brackets.append("expression" if of_expression else ")")
        elif kind in ("{", "["):
            brackets.append(kind)
        closed = brackets.pop() if kind in (")", "}", "]") and brackets else ""
        before = closed if kind == ")" else kind
        if kind != "variable" or len(brackets) != head:
            yield before, text
