"""Who sends a request, and what that caller may: the rule for every route; tokens themselves live in ``prism_rdf``.

Without a token a request is answered only where the server listens on this machine alone, to programs of this machine:
not through a proxy, and not for a page of a foreign site. Everywhere else a request carries a token.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from flask import Flask, g, request

from prism_rdf.tiers import speaking_for

from .failures import BadRequest, Forbidden, TooManyRequests, Unauthenticated
from .loopback import is_loopback
from .tokens_rate import Rates

if TYPE_CHECKING:
    from prism_rdf.tokens.keeping import Tokens

_BEARER = re.compile(r"[Bb]earer +([A-Za-z0-9._~+/=-]+)")
_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")
_ALL = frozenset({"read", "write", "review", "admin"})


@dataclass(frozen=True)
class Caller:
    """Who asks: a token, or ``local`` without one.

    ``namespaces`` None means all of the store, ``tier`` None the highest of the store.
    """

    name: str
    token: str | None = None
    scopes: frozenset[str] = _ALL
    namespaces: frozenset[str] | None = None
    tier: int | None = None

    @property
    def granted(self) -> frozenset[str]:
        """Return the scopes that the caller has; admin includes the others."""
        return _ALL if "admin" in self.scopes else self.scopes

    def may(self, scope: str) -> bool:
        return scope in self.granted

    def need(self, scope: str) -> None:
        """Raise Forbidden where the caller lacks a scope."""
        if not self.may(scope):
            error = Forbidden(
                f"the token {self.name!r} lacks the scope {scope}",
                rule=f"this takes the scope {scope}; the token has {', '.join(sorted(self.scopes)) or 'none'}",
                mend=f"use a token with it: prism token create NAME --scope {scope}",
            )
            error.headers = {"WWW-Authenticate": f'Bearer error="insufficient_scope", scope="{scope}"'}
            raise error

    def reach(self, pid: str) -> None:
        """Raise Forbidden for a project that the caller does not reach, whether or not there is such a one."""
        if self.namespaces is not None and pid not in self.namespaces:
            self.refuse(f"the project {pid!r}")

    def refuse(self, what: str) -> NoReturn:
        """Raise Forbidden for what is of no project that the caller reaches."""
        raise Forbidden(
            f"the token {self.name!r} does not reach {what}",
            rule=f"it reaches {', '.join(sorted(self.namespaces or ()))} alone",
            mend="keep to these projects, or use another token",
        )

    def reach_all(self, what: str) -> None:
        """Raise Forbidden where the caller does not reach all of the store."""
        if self.namespaces is not None:
            raise Forbidden(
                f"{what} is of the whole store, and the token {self.name!r} reaches only some projects",
                rule=f"it reaches {', '.join(sorted(self.namespaces))} alone",
                mend="name one of these where a project can be named, or use another token",
            )

    def speaking(self, own: int) -> AbstractContextManager[None]:
        """Let what is done within claim no more than the caller may, and the store (``own``), whichever is less."""
        return nullcontext() if self.tier is None else speaking_for(max(self.tier, own))

    def pids(self, known: Iterable[str]) -> list[str]:
        """Return those of some projects that the caller reaches."""
        return [pid for pid in known if self.namespaces is None or pid in self.namespaces]


LOCAL = Caller("local")
NOBODY = Caller("nobody", scopes=frozenset())


class Guard:
    """Lets requests in; ``required``: each has to carry a token."""

    def __init__(self, tokens: Tokens, *, required: bool = False) -> None:
        self.tokens = tokens
        self.required = required
        self._rates = Rates()

    def admit(self, method: str, headers: Mapping[str, str]) -> Caller:
        """Return who sends a request of these headers, their names in lower case.

        Raises Unauthenticated, Forbidden, TooManyRequests, BadRequest.
        """
        if method == "OPTIONS" and "access-control-request-method" in headers:
            return NOBODY  # a browser asks what it may ask, and says nothing of who it is
        given = headers.get("authorization")
        if given is not None:
            return self._bearer(given)
        if self.required:
            raise _no_token("the request carries no token", "every request to this server carries a token")
        _check_local(headers)
        return LOCAL

    def _bearer(self, given: str) -> Caller:
        match = _BEARER.fullmatch(given.strip())
        token = self.tokens.find(match[1]) if match else None
        if token is None:
            error = _no_token("the token is not known", "a token is active until it expires or is revoked")
            error.headers = {"WWW-Authenticate": 'Bearer realm="prism", error="invalid_token"'}
            raise error
        wait = self._rates.wait(token.id, token.rate)
        if wait:
            raise TooManyRequests(
                f"the token {token.name!r} makes too many requests",
                retry_after=wait,
                rule=f"it may make {token.rate} a minute",
                mend=f"wait {wait} s, or use a token with a higher --rate",
            )
        return Caller(token.name, token.id, token.scopes, token.namespaces, token.tier)


def install(app: Flask, guard: Guard) -> None:
    """Have every request of the application admitted first; ``caller()`` is who sent it."""

    @app.before_request
    def admit() -> None:
        g.caller = NOBODY
        g.caller = guard.admit(request.method, {name.lower(): value for name, value in request.headers.items()})


def caller() -> Caller:
    """Return who sent the request that is being answered."""
    found = g.caller
    assert isinstance(found, Caller)
    return found


def _no_token(message: str, rule: str) -> Unauthenticated:
    return Unauthenticated(
        message, rule=rule, mend="send Authorization: Bearer …, with what `prism token create` showed"
    )


def _check_local(headers: Mapping[str, str]) -> None:
    """Raise an error for a request without a token that does not come from a program of this machine."""
    host = re.sub(r":\d+$", "", headers.get("host", ""))
    if not is_loopback(host):
        raise BadRequest(
            f"the host {host!r} is not this machine",
            status=400,
            rule="without a token the server answers to localhost, 127.0.0.1 and [::1]",
            mend="call it by one of these names, or send a token",
        )
    if any(name in headers for name in _FORWARDED):
        raise _no_token("the request comes through a proxy", "what a proxy passes on carries a token")
    origin = headers.get("origin")
    named = re.fullmatch(r"https?://(\[[^\]]*\]|[^:/]*)(:\d+)?", origin) if origin else None
    foreign = origin is not None and (named is None or not is_loopback(named[1]))
    embedded = headers.get("sec-fetch-site") == "cross-site" and headers.get("sec-fetch-mode") != "navigate"
    if foreign or embedded:
        raise Forbidden(
            f"a page of {origin or 'another site'} asks",
            rule="without a token only programs and pages of this machine are answered",
            mend="send a token",
        )
