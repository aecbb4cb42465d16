"""A bearer token as a value: what it may, where, and until when; the secret itself is shown once and kept nowhere."""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from prism_rdf.clock import Instant, TimeInput, end_of
from prism_rdf.errors import BadArgument
from prism_rdf.namespaces import check_name

SCOPES: Mapping[str, str] = {
    "read": "ask: queries, states, histories, recall",
    "write": "record: entities, changes, names, references, memories, free graphs",
    "review": "rule on what was guessed",
    "admin": "everything, and forget, types, backup, export, rebuild, check",
}
DEFAULT_RATE = 1200  # requests a minute
MOST_RATE = 1_000_000
_PREFIX = "prism_"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")


@dataclass(frozen=True)
class Token:
    """What is kept of a token; ``namespaces`` None means all of the store, ``tier`` is the highest it may claim.

    ``rate`` is how many requests a minute it may make. It ends at ``expires_at``, excluded.
    """

    id: str
    name: str
    digest: str
    scopes: frozenset[str]
    namespaces: frozenset[str] | None
    tier: int
    rate: int
    created_at: Instant
    expires_at: Instant | None = None
    revoked_at: Instant | None = None

    def status(self, now: Instant) -> str:
        """Return ``active``, ``expired`` or ``revoked``."""
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= now else "active"

    def as_dict(self, now: Instant) -> dict[str, Any]:
        """Return what may be shown of it: all but the digest."""
        return {
            "id": self.id,
            "name": self.name,
            "status": self.status(now),
            "scopes": sorted(self.scopes, key=list(SCOPES).index),
            "namespaces": None if self.namespaces is None else sorted(self.namespaces),
            "tier": self.tier,
            "rate": self.rate,
            "created_at": self.created_at.iso(),
            "expires_at": self.expires_at.iso() if self.expires_at else None,
            "revoked_at": self.revoked_at.iso() if self.revoked_at else None,
        }


def digest_of(secret: str) -> str:
    """Return what is kept of a secret; of 256 random bits one plain hash is as good as a slow one.

    >>> len(digest_of("prism_x"))
    64
    """
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def new_secret() -> str:
    """Return 256 random bits, as text that can be told from other secrets."""
    return _PREFIX + secrets.token_urlsafe(32)


def make(
    name: str,
    secret: str,
    now: Instant,
    *,
    scopes: Collection[str] = ("read",),
    namespaces: Collection[str] | None = None,
    tier: int = 2,
    rate: int = DEFAULT_RATE,
    expires: TimeInput | None = None,
) -> Token:
    """Return the token of a secret; ``expires`` is the last day, or the instant. Raises BadArgument, BadTime."""
    if not _NAME.fullmatch(name):
        raise BadArgument(
            f"{name!r} cannot be the name of a token",
            rule="a name starts with a letter or digit and has at most 64 of A-Z a-z 0-9 . _ @ -",
            mend="name who or what carries it, such as ci or ada@laptop",
        )
    unknown = sorted(set(scopes) - set(SCOPES))
    if unknown or not scopes:
        raise BadArgument(
            f"there is no scope {unknown[0]!r}" if unknown else "a token without a scope may nothing",
            rule=f"scopes are {', '.join(SCOPES)}",
            mend="give one or more of these",
        )
    if namespaces is not None:
        for each in namespaces:
            check_name("project", each)
        if not namespaces:
            raise BadArgument("a token for no project may nothing", rule="it reaches some or all", mend="name one")
    if tier not in (1, 2, 3):
        raise BadArgument(f"there is no tier {tier}", rule="1 is a person, 2 an agent, 3 only guesses", mend="give one")
    if not 1 <= rate <= MOST_RATE:
        raise BadArgument(
            f"a rate of {rate} is none", rule=f"requests a minute, from 1 to {MOST_RATE}", mend=f"try {DEFAULT_RATE}"
        )
    until = None if expires is None else end_of(expires).instant
    if until is not None and until <= now:
        raise BadArgument(f"{until} is past", rule="a token ends later than it begins", mend="give a later time")
    digest = digest_of(secret)
    bound = None if namespaces is None else frozenset(namespaces)
    return Token(digest[:8], name, digest, frozenset(scopes), bound, tier, rate, now, until)
