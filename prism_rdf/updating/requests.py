"""A SPARQL UPDATE request cut into its operations, by its words alone; nothing is evaluated here.

Oxigraph judges the syntax of each operation and reads what stands in braces. What is left to know is where each
operation and each of its parts begins and ends, and all that stands outside of braces are a few keywords and IRIs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal as Choice

from pyoxigraph import NamedNode, Store

from prism_rdf.errors import BadQuery
from prism_rdf.namespaces import PREFIXES
from prism_rdf.reach import TOKEN, PlacedToken

_PLACE = re.compile(r"error at (\d+):(\d+)")
_NOWHERE = "urn:prism:no-graph"
Ask = Choice["default", "named", "all", "graph"]


@dataclass(frozen=True)
class Place:
    """What an operation on whole graphs is about: the default graph, all named ones, all, or the one of an IRI."""

    kind: Ask
    graph: NamedNode | None = None


@dataclass(frozen=True)
class Data:
    """INSERT DATA or DELETE DATA."""

    prologue: str
    deletes: bool
    body: str


@dataclass(frozen=True)
class Modify:
    """DELETE and INSERT with a WHERE. A template that is not there is empty text."""

    prologue: str
    delete: str
    insert: str
    where: str
    within: NamedNode | None = None
    using: tuple[NamedNode, ...] = ()
    using_named: tuple[NamedNode, ...] = ()

    @property
    def has_dataset(self) -> bool:
        return bool(self.using or self.using_named)


@dataclass(frozen=True)
class Manage:
    """CLEAR, DROP or CREATE of ``target``; COPY, MOVE or ADD of ``source`` to ``target``."""

    verb: Choice["clear", "drop", "create", "copy", "move", "add"]
    silent: bool
    target: Place
    source: Place = Place("default")


@dataclass(frozen=True)
class Load:
    """LOAD of another address."""

    address: NamedNode
    silent: bool


Operation = Data | Modify | Manage | Load


@dataclass
class _Piece:
    """The tokens outside of braces of one operation; a group in braces is one token of the kind ``group``."""

    tokens: list[PlacedToken] = field(default_factory=list)
    labels: set[str] = field(default_factory=set)


def operations(text: str) -> tuple[Operation, ...]:
    """Return the operations of a request, in order. Raises BadQuery, which says where it is not SPARQL.

    >>> [type(each).__name__ for each in operations("CREATE GRAPH <urn:g> ; INSERT DATA { GRAPH <urn:g> { } }")]
    ['Manage', 'Data']
    """
    found: list[Operation] = []
    prologue, seen = "", set[str]()
    for piece in _pieces(text):
        head = _prologue_length(piece.tokens)
        prologue += "".join(f"{text[each.start : each.end]} " for each in piece.tokens[:head])
        tokens = piece.tokens[head:]
        if not tokens:
            continue
        _check_syntax(text, prologue, tokens)
        operation = _Reading(text, prologue, tokens).operation()
        repeated = seen & piece.labels if isinstance(operation, Data) else ()
        if repeated:
            raise BadQuery(
                f"the blank node {min(repeated)} stands in the data of two operations",
                rule="a label of a blank node in data belongs to one operation of a request",
                mend="give the node an IRI, or say all of it in one operation",
            )
        seen |= piece.labels if isinstance(operation, Data) else set()
        found.append(operation)
    return tuple(found)


def _pieces(text: str) -> Iterator[_Piece]:
    piece, depth, group = _Piece(), 0, 0
    for match in TOKEN.finditer(text):
        kind, said = match.lastgroup or "", match[0]
        if kind == "nothing":
            continue
        if said == "{" and kind == "sign":
            group = match.start() if depth == 0 else group
            depth += 1
        elif said == "}" and kind == "sign" and depth:
            depth -= 1
            if depth == 0:
                piece.tokens.append(PlacedToken("group", text[group : match.end()], group, match.end()))
        elif depth:
            if said.startswith("_:"):
                piece.labels.add(said)
        elif said == ";" and kind == "sign":
            yield piece
            piece = _Piece()
        else:
            piece.tokens.append(PlacedToken(kind, said, match.start(), match.end()))
    if depth:
        piece.tokens.append(PlacedToken("group", text[group:], group, len(text)))
    yield piece


def _prologue_length(tokens: Sequence[PlacedToken]) -> int:
    at = 0
    while at < len(tokens):
        word = tokens[at].word
        if word == "prefix" and [each.kind for each in tokens[at + 1 : at + 3]] == ["name", "iri"]:
            at += 3
        elif word in ("base", "version") and len(tokens) > at + 1:
            at += 2
        else:
            break
    return at


def _check_syntax(text: str, prologue: str, tokens: Sequence[PlacedToken]) -> None:
    """Have Oxigraph parse an operation: before it stands one that fails once all is parsed, so that nothing is done."""
    start, end = tokens[0].start, tokens[-1].end
    head = f"{prologue}\nDROP GRAPH <{_NOWHERE}> ;\n"
    try:
        Store().update(head + text[start:end], prefixes=PREFIXES)
    except SyntaxError as error:
        raise _not_sparql(text, start, head.count("\n"), str(error)) from error
    except (RuntimeError, OSError):
        return


def _not_sparql(text: str, start: int, lines_before: int, complaint: str) -> BadQuery:
    place = _PLACE.search(complaint)
    if place is None or int(place[1]) <= lines_before:
        return BadQuery(f"the request is not SPARQL UPDATE: {complaint}", rule="updates are SPARQL 1.1", mend="mend it")
    line, column = int(place[1]) - lines_before, int(place[2])
    before = text[:start]
    if line == 1:
        column += start - (before.rfind("\n") + 1)
    line += before.count("\n")
    shown = text.splitlines()[line - 1] if text.splitlines()[line - 1 :] else ""
    return BadQuery(
        f"the request is not SPARQL UPDATE at line {line}, column {column}",
        line=line,
        column=column,
        rule=f"updates are SPARQL 1.1; declared are {', '.join(f'{prefix}:' for prefix in PREFIXES)}",
        mend=f"look just before the mark: {shown[: column - 1]}⟨here⟩{shown[column - 1 :]}".rstrip(),
    )


class _Reading:
    """Reads one operation that is known to be SPARQL."""

    def __init__(self, text: str, prologue: str, tokens: Sequence[PlacedToken]) -> None:
        self._text = text
        self._prologue = prologue
        self._tokens = list(tokens)

    def operation(self) -> Operation:
        first = self._tokens[0].word
        second = self._tokens[1].word if len(self._tokens) > 1 else ""
        if second == "data":
            return Data(self._prologue, first == "delete", self._tokens[2].text)
        if first == "load":
            address = next(each for each in self._tokens if each.kind in ("iri", "name"))
            return Load(self._iri(address), second == "silent")
        if first in ("insert", "delete", "with"):
            return self._modify()
        return self._manage()

    def _modify(self) -> Modify:
        parts: dict[str, str] = {"delete": "", "insert": "", "where": ""}
        within: NamedNode | None = None
        using: list[NamedNode] = []
        using_named: list[NamedNode] = []
        word = ""
        for token in self._tokens:
            if token.kind == "group":
                parts[word if word in ("delete", "insert") else "where"] = token.text
                word = ""
            elif token.kind != "word":
                if word == "with":
                    within = self._iri(token)
                else:
                    (using_named if word == "named" else using).append(self._iri(token))
            else:
                if token.word == "where" and word == "delete":  # DELETE WHERE: the pattern is the template
                    parts["delete"] = self._tokens[-1].text
                word = token.word
        return Modify(
            self._prologue,
            parts["delete"],
            parts["insert"],
            parts["where"],
            within,
            tuple(using),
            tuple(using_named),
        )

    def _manage(self) -> Manage:
        verb = self._tokens[0].word
        silent = self._tokens[1].word == "silent"
        places = [place for each in self._tokens[1:] if (place := self._place(each)) is not None]
        if verb in ("copy", "move", "add"):
            return Manage(verb, silent, places[1], places[0])  # type: ignore[arg-type]
        return Manage(verb, silent, places[0])  # type: ignore[arg-type]

    def _place(self, token: PlacedToken) -> Place | None:
        if token.kind in ("iri", "name"):
            return Place("graph", self._iri(token))
        kinds: dict[str, Ask] = {"default": "default", "named": "named", "all": "all"}
        return Place(kinds[token.word]) if token.word in kinds else None

    def _iri(self, token: PlacedToken) -> NamedNode:
        """Return the IRI that a token stands for, by the prologue."""
        query = f"{self._prologue} CONSTRUCT {{ {token.text} <urn:p> 1 }} WHERE {{ }}"
        (triple,) = Store().query(query, prefixes=PREFIXES)  # type: ignore[misc]
        found = triple.subject
        assert isinstance(found, NamedNode)
        return found
