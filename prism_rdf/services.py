"""Which other servers a query asks by SERVICE, and whether it may; judged by its words, and in doubt it may not.

What is judged is what Oxigraph will read, so nothing may be hidden from here that it sees. It knows by the grammar
whether ``<`` begins an IRI or means less than, and needs no space behind a keyword; here neither is known. So a query
with the word in it is read only if each of its IRIs is one for certain, or looks the same when it is none: without a
comment or a text that would begin in it. Prefixes and BASE are resolved by Oxigraph itself. Only whole IRIs are
compared, and Oxigraph follows no redirection.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from pyoxigraph import NamedNode, Store

from prism_rdf.errors import RefusedError
from prism_rdf.namespaces import PREFIXES
from prism_rdf.reach import TOKEN, PlacedToken

UNKNOWN = ""  # the server of a variable, and of what cannot be judged
NOWHERE = "<urn:prism:no-server>"  # nothing is sent there: it is no address
_ELSEWHERE = re.compile("service|load", re.IGNORECASE)
_CERTAIN = re.compile(r"<[A-Za-z][A-Za-z0-9+.-]*://")
_FORMS = {"select", "ask", "construct", "describe"}


@dataclass(frozen=True)
class Service:
    """One server that a query asks: its IRI or UNKNOWN, and where it is named in the text."""

    iri: str
    start: int = 0
    end: int = 0


def services_of(query: str) -> tuple[Service, ...]:
    """Return the servers that a query asks, in order; the word may stand in a text, a comment or a name for nothing.

    >>> [each.iri for each in services_of("PREFIX e: <http://example.org/> ASK { service silent e:sparql { } }")]
    ['http://example.org/sparql']
    >>> [each.iri for each in services_of("ASK { ?s ?p 'SERVICE' . SERVICE ?x { ?s ?p 1 } }")]
    ['']
    >>> services_of("ASK { ?service ?p 'SERVICE' }")
    ()
    """
    if "service" not in query.lower():
        return ()
    tokens = _tokens(query)
    if not _is_certain(tokens):
        return (Service(UNKNOWN),)
    return tuple(_services(query, tokens))


def check_services(query: str, allowed: Collection[str], *, confined: bool = False) -> tuple[str, ...]:
    """Return the IRIs of the servers that a query asks, which are all among the ``allowed``.

    Raises RefusedError where one is not; ``confined``, of who reaches some projects alone: where there is any.
    """
    asked = tuple(dict.fromkeys(each.iri for each in services_of(query)))
    if asked and confined:
        raise RefusedError(
            "the query asks another server (SERVICE), and who asks it reaches some projects alone",
            rule="what is asked elsewhere is asked in the name of this server, whose projects are more than these",
            mend="use a token of the whole store, or ask the other server yourself",
        )
    for iri in asked:
        if iri not in allowed:
            what = f"another server (SERVICE <{iri}>)" if iri else "a server that cannot be told (SERVICE)"
            raise RefusedError(
                f"the query asks {what}",
                rule="a query asks the servers alone that whoever runs this one has listed, each named by its whole "
                f"IRI behind SERVICE and a space; {'this is none of them' if allowed else 'none is listed'}",
                mend="have it listed (prism serve --service IRI, or PRISM_SERVICES), or ask it yourself",
                node=iri,
            )
    return asked


def check_update(text: str) -> None:
    """Raise RefusedError for an update that asks another server, or may do so or LOAD in a way that cannot be seen."""
    if services_of(text) or (_ELSEWHERE.search(text) and not _is_certain(_tokens(text))):
        raise RefusedError(
            "the update asks another server (SERVICE), or it cannot be told for certain that it does not",
            rule="an update is answered from the store alone; nothing is sent anywhere",
            mend="ask the other server yourself, and load what it answers; or declare a prefix in place of <urn:x#y>",
        )


def asking_nobody(query: str) -> str:
    """Return the query with each server replaced by none, for a trial of its syntax."""
    for each in reversed(services_of(query)):
        query = query[: each.start] + NOWHERE + query[each.end :]
    return query


def _tokens(query: str) -> list[PlacedToken]:
    found = TOKEN.finditer(query)
    return [PlacedToken(each.lastgroup or "", each[0], *each.span()) for each in found if each.lastgroup != "nothing"]


def _is_certain(tokens: Sequence[PlacedToken]) -> bool:
    """Return whether texts and comments begin and end where they seem to.

    They do up to the first IRI that may be none; it may be less than something in an expression, which has round
    brackets, and the second half of ``<<``.
    """
    brackets, before = [""], PlacedToken("", "", -1, -1)
    for each in tokens:
        if each.kind == "sign":
            if each.text in "\"'\\" or not each.text.isascii():
                return False
            if each.text in "({":
                brackets.append(each.text)
            elif each.text in ")}" and len(brackets) > 1:
                brackets.pop()
        elif each.kind == "iri" and (brackets[-1] == "(" or (before.text == "<" and before.end == each.start)):
            certain = _CERTAIN.match(each.text) or not ("#" in each.text or "'" in each.text)
            if not certain:
                return False
        before = each
    return True


def _services(query: str, tokens: Sequence[PlacedToken]) -> Iterator[Service]:
    end = PlacedToken("", "", len(query), len(query))
    for index, token in enumerate(tokens):
        rest = [*tokens[index + 1 : index + 4], end, end, end]
        if token.word == "service":
            target, after = rest[1:3] if rest[0].word == "silent" else rest[:2]
            named = target.kind in ("iri", "name") and not target.text.lower().startswith("silent")
            iri = _resolved(query, tokens, target) if named and after.text == "{" else UNKNOWN
            yield Service(iri, target.start, target.end)
        elif "service" in _keyword_in(token, rest[0]):
            yield Service(UNKNOWN, token.start, token.end)


def _keyword_in(token: PlacedToken, after: PlacedToken) -> str:
    """Return what of a token may be keywords that nothing parts from what stands beside them."""
    if token.kind == "name" and after.text == "{":
        return token.text.partition(":")[0].lower()
    return token.word


def _resolved(query: str, tokens: Sequence[PlacedToken], target: PlacedToken) -> str:
    """Return the IRI that a token stands for by the prologue of the query; UNKNOWN where that cannot be told."""
    at = 0
    while at < len(tokens) and tokens[at].word in ("prefix", "base", "version"):
        at += 3 if tokens[at].word == "prefix" else 2
    if at >= len(tokens) or tokens[at].word not in _FORMS:
        return UNKNOWN
    asked = f"{query[: tokens[at].start]} CONSTRUCT {{ {target.text} <urn:p> 1 }} WHERE {{ }}"
    try:
        (triple,) = Store().query(asked, prefixes=PREFIXES)  # type: ignore[misc]
    except (SyntaxError, ValueError):
        return UNKNOWN
    return triple.subject.value if isinstance(triple.subject, NamedNode) else UNKNOWN
