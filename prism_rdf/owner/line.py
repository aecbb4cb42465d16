"""The line to whoever owns a store now: a request goes out, what comes back is returned or raised; it knows no verb.

Like what it is made of it needs little more than the standard library, so that a small program starts at once; the
engine is loaded only for what JSON lacks.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from prism_rdf.errors import BadArgument, BusyError, QueryStopped
from prism_rdf.owner.place import Place
from prism_rdf.owner.reaching import Link, reach
from prism_rdf.owner.wire import Message
from prism_rdf.workers import asking

KEY = "idempotency_key"
_MOST_TURNS = 20
_LOOK = 0.2  # seconds between two looks whether the answer is still wanted


class _TurnedAway(Exception):
    """The owner has not begun the request: it leaves, or has left already."""


class Line:
    """The way to whoever owns the store now. Any thread may ask; each request under way has a connection of its own."""

    def __init__(self, folder: Path, tenant: str, tier: int = 1) -> None:
        self._place = Place.of(folder)
        self._tenant = tenant
        self._tier = tier
        self._free: list[Link] = []
        self._process = os.getpid()
        self._closed = False

    def ask(self, pid: str | None, verb: str, options: Message, *, reads: bool) -> Any:
        """Return what the owner answers, or raise what it raises; ``pid`` None: a verb of the store, not of a project.

        A request during which the owner dies is made once more of the next one, if it only reads or has an
        idempotency key. Raises BusyError when it may not be made again, or was.
        """
        request = {"verb": verb, "pid": pid, "options": options, "tier": self._tier}
        died = False
        for _ in range(_MOST_TURNS):
            try:
                return self._asked(request, reads)
            except _TurnedAway:
                self._hang_up()  # the other connections are to the same owner
            except ConnectionError:
                if died or not (reads or options.get(KEY)):
                    raise self._died(request, reads) from None
                died = True
        raise self._place.busy("its owners come and go")

    def connect(self) -> None:
        """Make sure that there is an owner."""
        self._free.append(self._link())

    def close(self) -> None:
        self._closed = True
        self._hang_up()

    def _hang_up(self) -> None:
        while self._free:
            self._free.pop().channel.close()

    def _link(self) -> Link:
        if self._closed:
            raise BadArgument("the store is closed", rule="a closed store answers nothing", mend="open it again")
        if self._process != os.getpid():  # a fork: the connections are the parent's
            self._free, self._process = [], os.getpid()
        try:
            return self._free.pop()
        except IndexError:
            return reach(self._place, self._tenant)

    def _asked(self, request: Message, reads: bool) -> Any:
        link = self._link()
        try:
            reply = _exchanged(link, request)
            if "items" in reply or "end" in reply:
                return self._yielded(link, reply, request)
            found = _answer(link, reply["answer"]) if "answer" in reply else reply.get("result")
        except BaseException:
            link.channel.close()
            raise
        self._put_back(link)
        if "error" in reply:
            from prism_rdf.owner.codec import error_of

            raise error_of(reply["error"])
        return found

    def _yielded(self, link: Link, first: Message, request: Message) -> Iterator[Any]:
        from prism_rdf.owner.carrying import receive_items

        try:
            yield from receive_items(link.channel, first)
        except ConnectionError:
            raise self._died(request, reads=True) from None
        except BaseException:  # the reader wants no more, or the verb failed on the way
            link.channel.close()
            raise
        self._put_back(link)

    def _put_back(self, link: Link) -> None:
        if self._closed:
            link.channel.close()
        else:
            self._free.append(link)

    def _died(self, request: Message, reads: bool) -> BusyError:
        key = request["options"].get(KEY)
        if reads:
            rule, mend = "what only reads is asked twice, then not again", "ask again; owner.log tells what happened"
        else:
            rule = "a write is acknowledged once it is on disk; this one was not, and may or may not have been written"
            mend = f"ask again with {KEY}={key!r}: it is not written twice" if key else "see in `prism log` if it was"
        return BusyError(
            f"the owner of the store in {self._place.folder} died while it was asked to {request['verb']}",
            rule=rule,
            mend=mend,
        )


def _answer(link: Link, head: Message) -> Any:
    from prism_rdf.owner.carrying import receive_answer

    return receive_answer(link.channel, head)


def _exchanged(link: Link, request: Message) -> Message:
    try:
        link.channel.send(request)
    except ConnectionError as error:
        raise _TurnedAway from error  # it did not get all of it
    asks = asking.named()
    while asks is not None and not link.channel.has_message(_LOOK):
        if asks.gone():  # closing the connection tells the owner, which stops a query
            raise QueryStopped(f"{asks.who} gave up", rule="nobody waits for the answer", mend="ask again")
    reply = link.channel.receive()
    if not isinstance(reply, dict):
        raise ConnectionResetError("the owner closed the connection")
    if "leaving" in reply:
        raise _TurnedAway
    return reply
