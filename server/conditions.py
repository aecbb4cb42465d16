"""The conditions of a write, If-Match and If-None-Match, judged under the writer's lock; of reads: responding.py."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext

from flask import request

from .asking import Asker
from .failures import PreconditionFailed
from .responding import stamp


def conditioned(
    asker: Asker, is_there: Callable[[], bool], needed: Callable[[], None] | None = None
) -> AbstractContextManager[None]:
    """Have what is written within refused where a condition of the request does not hold; nobody writes in between.

    A tag holds as long as nothing at all was written since the answer that bore it. ``is_there``: what ``*`` asks.
    ``needed``, if given, raises where something else is missing. What was done before under the same key is not judged.
    """
    if needed is None and "If-Match" not in request.headers and "If-None-Match" not in request.headers:
        return nullcontext()

    def check() -> None:
        if needed is not None:
            needed()
        now = stamp(asker.version())
        if "If-Match" in request.headers:
            wanted = request.if_match
            if not (is_there() if wanted.star_tag else _names(wanted, now)):
                raise _failed(
                    "there is no such graph" if wanted.star_tag else "the tag is not that of the store as it is now"
                )
        if "If-None-Match" in request.headers:
            had = request.if_none_match
            if is_there() if had.star_tag else _names(had.as_set(include_weak=True), now):
                raise _failed("it is there already" if had.star_tag else "the store is as it was")

    return asker.prism.provided(check)


def _names(tags: Iterable[str | None], stamp: str) -> bool:
    """Return whether one of the tags bears the stamp; an empty one is none to werkzeug."""
    return any(tag is not None and tag.startswith(stamp) for tag in tags)


def _failed(what: str) -> PreconditionFailed:
    return PreconditionFailed(
        f"nothing was written: {what}",
        rule="If-Match and If-None-Match say when a write may be done: an ETag is of one commit, * of any",
        mend="read it again, and decide anew",
    )
