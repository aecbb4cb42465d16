"""The change feed at /changes: commits as JSON lines, at once or when one comes, or as events that a browser follows.

Whoever waits has a thread of the server. So waiting ends after a while, only some may wait at once, and the client asks
again from where it is.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from threading import BoundedSemaphore
from typing import TYPE_CHECKING, Any

from flask import Blueprint, Response, request

from prism_rdf.errors import BadArgument

from .caller import client_gone
from .failures import TooManyWaiting
from .parameters import refuse_unknown, single
from .tokens import Caller, caller

if TYPE_CHECKING:
    from prism_rdf import Prism

LONGEST_WAIT = 60.0  # seconds
MOST_WAITING = 6
MOST_COMMITS = 10_000
_DEFAULT_COMMITS = 1_000
_LOOK = 0.05  # seconds
_SIGN_OF_LIFE = 10.0  # seconds
_PARAMETERS = ("since", "pid", "wait", "limit")
_EVENTS = "text/event-stream"
_LINES = "application/x-ndjson"


class Feed:
    """Reads the commits of one store for clients, of whom some may wait."""

    def __init__(self, prism: Prism) -> None:
        self._prism = prism
        self._places = BoundedSemaphore(MOST_WAITING)

    @property
    def last(self) -> int:
        return self._prism.commit_number

    def commits(self, since: int, pid: str | None, who: Caller) -> Iterator[dict[str, Any]]:
        """Yield the commits after ``since`` of a project, or of all that somebody reaches."""
        for each in self._prism.log(since, pid):
            if who.namespaces is None or each["pid"] in who.namespaces:
                yield each

    def take_place(self) -> None:
        """Take one of the places of those who wait. Raises TooManyWaiting."""
        if not self._places.acquire(blocking=False):
            raise TooManyWaiting(
                f"{MOST_WAITING} clients wait for commits already",
                rule="whoever waits has a thread of the server, so only some may",
                mend="ask again in a few seconds, or without wait",
            )

    def leave_place(self) -> None:
        self._places.release()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        self.take_place()
        try:
            yield
        finally:
            self.leave_place()

    def wait(self, since: int, until: float, gone: Callable[[], bool]) -> bool:
        """Wait for a commit after ``since``; return whether there is one before ``until`` on the monotonic clock."""
        while self.last <= since:
            if time.monotonic() >= until or gone():
                return False
            time.sleep(_LOOK)
        return True


def blueprint(prism: Prism) -> Blueprint:
    """Return the route of the change feed."""
    routes, feed = Blueprint("changes", __name__), Feed(prism)

    @routes.get("/changes")
    def changes() -> Response:
        refuse_unknown(_PARAMETERS)
        pid, follows = single("pid"), request.accept_mimetypes.best_match([_LINES, _EVENTS]) == _EVENTS
        if pid is not None:
            caller().reach(pid)
        since = _since(feed.last, resumes=follows)
        limit = _whole("limit", _DEFAULT_COMMITS, 1, MOST_COMMITS)
        if follows:
            return _events(feed, since, pid)
        seconds = _whole("wait", 0, 0, int(LONGEST_WAIT))
        if seconds and feed.last <= since:
            with feed.waiting():
                feed.wait(since, time.monotonic() + seconds, client_gone())
        looked_up_to = feed.last
        found = list(islice(feed.commits(since, pid, caller()), limit))
        seen = found[-1]["commit"] if len(found) == limit else looked_up_to
        response = Response("".join(f"{_line(each)}\n" for each in found), content_type=_LINES)
        response.headers["Prism-Commit"] = str(seen)
        response.headers["Cache-Control"] = "no-store"
        return response

    return routes


def _events(feed: Feed, since: int, pid: str | None) -> Response:
    """Return the stream of events; it ends after a while, and the browser goes on from the last one by itself."""
    feed.take_place()
    gone, end = client_gone(), time.monotonic() + LONGEST_WAIT
    who = caller()

    def told() -> Iterator[str]:
        seen = since
        yield "retry: 1000\n\n"
        while time.monotonic() < end and not gone():
            if not feed.wait(seen, min(end, time.monotonic() + _SIGN_OF_LIFE), gone):
                yield ": waiting\n\n"
                continue
            looked_up_to = feed.last
            for each in feed.commits(seen, pid, who):
                looked_up_to = max(looked_up_to, each["commit"])
                yield f"id: {each['commit']}\nevent: commit\ndata: {_line(each)}\n\n"
                if gone():
                    return
            seen = looked_up_to

    response = Response(told(), content_type=f"{_EVENTS}; charset=utf-8")
    response.call_on_close(feed.leave_place)
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Accel-Buffering"] = "no"
    return response


def _since(last: int, *, resumes: bool) -> int:
    """Return the commit after which to begin; a browser that comes back says it in Last-Event-ID."""
    resumed = request.headers.get("Last-Event-ID") if resumes else None
    since = _number("Last-Event-ID", resumed) if resumed else _whole("since", 0, 0, None)
    if since > last:
        raise BadArgument(
            f"there is no commit {since}",
            rule=f"the last commit is {last}",
            mend="begin with since=0, or with the number of the last commit that you saw of this store",
        )
    return since


def _whole(name: str, default: int, least: int, most: int | None) -> int:
    text = single(name)
    value = default if text is None else _number(name, text)
    if value < least or (most is not None and value > most):
        raise BadArgument(f"{name} is {value}", rule=f"{name} is from {least} to {most}", mend="give such a number")
    return value


def _number(name: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or len(text) > 15:
        raise BadArgument(f"{name} is {text!r}", rule=f"{name} is a whole number", mend="such as 12")
    return int(text)


def _line(commit: dict[str, Any]) -> str:
    return json.dumps(commit, ensure_ascii=False)
