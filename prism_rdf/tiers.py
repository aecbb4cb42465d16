"""Who may claim what: the tiers of authority, and the highest one a connection has; what follows is for the verbs.

1 is a person, 2 an agent with an artifact: what they say is believed. 3 is a guess: it awaits review. A store is opened
with a highest tier (``PRISM_TIER``, default 1); claiming more is refused. What is said without a tier has the highest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import cast

from prism_rdf.errors import BadArgument, RefusedError
from prism_rdf.evidence.bookmarks import is_place
from prism_rdf.model import Bookmark, Candidate, Evidence, Intent, Ruling, Tier
from prism_rdf.namespaces import article

_SPOKEN_FOR: ContextVar[Tier | None] = ContextVar("spoken_for", default=None)
_MEANS = "1 is a person, 2 an agent with an artifact; what a pattern guessed (3) awaits review"


@contextmanager
def speaking_for(tier: int) -> Iterator[None]:
    """Let this thread claim what a connection may, for a process that answers connections with tiers of their own."""
    token = _SPOKEN_FOR.set(known(tier))
    try:
        yield
    finally:
        _SPOKEN_FOR.reset(token)


def highest(own: Tier) -> Tier:
    """Return the highest tier that may be claimed now: of the connection spoken for, else ``own``, of the store."""
    return _SPOKEN_FOR.get() or own


def claimed(tier: int | None, most: Tier) -> Tier:
    """Return the tier that is claimed, or the highest where none is. Raises BadArgument, RefusedError."""
    if tier is None:
        return most
    if known(tier) < most:
        raise _too_much(tier, most)
    return known(tier)


def check_direct(tier: Tier) -> Tier:
    """Return a tier that writes directly; raise RefusedError for one that does not."""
    if tier == 3:
        raise RefusedError(
            f"tier {tier} does not write directly",
            rule=_MEANS,
            mend="use fact, transition, alias or reference, which guess; or claim 1 or 2 where you may (PRISM_TIER)",
        )
    return tier


def check_claims(intents: Iterable[Intent], most: Tier) -> None:
    """Raise RefusedError for an intent that claims more than the highest tier, or believes a guess without a ruling."""
    wanted = tuple(intents)
    ruled = any(isinstance(intent, Ruling) for intent in wanted)
    for intent in wanted:
        if isinstance(intent, Candidate) or (isinstance(intent, Bookmark) and is_place(intent)):
            continue
        weighs = isinstance(intent, Evidence)  # of any tier: it is believed to be said, not to be so
        if most == 3 and not weighs:
            raise _too_much(2, most)
        tier = getattr(intent, "tier", None)
        if tier is not None and tier < most:
            raise _too_much(tier, most)
        if tier == 3 and not ruled and not weighs:
            raise RefusedError(
                f"{article(type(intent).__name__.lower())} of tier 3 is a guess",
                rule="a guess is believed once a reviewer promotes it",
                mend="write it as a Candidate",
            )


def check_rules(most: Tier) -> None:
    """Raise RefusedError where nothing but guesses may be said."""
    if most == 3:
        raise _too_much(2, most)


def known(tier: int) -> Tier:
    """Return the tier, if there is such a one. Raises BadArgument."""
    if tier not in (1, 2, 3):
        raise BadArgument(f"there is no tier {tier}", rule=_MEANS, mend="give 1, 2 or 3")
    return cast(Tier, tier)


def _too_much(tier: int, most: Tier) -> RefusedError:
    if most == 3:
        return RefusedError(
            "this connection only guesses: its highest tier is 3",
            rule="what tier 3 says awaits review, and it neither rules nor takes back",
            mend="use fact, transition, alias or reference; or open the store with a higher tier (PRISM_TIER)",
        )
    return RefusedError(
        f"tier {tier} is more than this connection may claim: its highest is {most}",
        rule="a store is opened with a highest tier; " + _MEANS,
        mend=f"leave the tier out, say {most}, or open the store with a higher tier (PRISM_TIER)",
    )
