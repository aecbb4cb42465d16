"""The owner's side: a socket, a thread for each connection, and the end when it is idle or asked to leave.

A request that was begun is finished, except that nobody waits for ever for questions: queries are stopped after a
while, and a daemon that is to leave ends with other questions that do not end. On a connection where none is begun when
the owner leaves, the owner says so before it closes, so the other end knows that what it sent afterwards was not done.
"""

from __future__ import annotations

import logging
import os
import selectors
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from prism_rdf.datasets import QueryAnswer
from prism_rdf.errors import BadArgument, BusyError, PrismError
from prism_rdf.owner import build, codec, verbs
from prism_rdf.owner.carrying import send_answer, send_items
from prism_rdf.owner.wire import Channel, Message
from prism_rdf.tiers import speaking_for
from prism_rdf.workers.asking import asked_by

if TYPE_CHECKING:
    from prism_rdf.owner.place import Hold, Place
    from prism_rdf.prism import Prism

MOST_CONNECTIONS = 256
_SLOWEST_READER = 60.0  # seconds for a piece of an answer
_PAUSE = 0.02  # seconds
_LOOK = 5.0  # seconds
_GRACE = 5.0  # seconds
_LOG = logging.getLogger("prism_rdf.owner")
_LEAVING: Message = {"leaving": True}


class Server:
    """Answers on the socket of one store until it is told to leave; ``idle`` None: however long nobody asks."""

    def __init__(self, prism: Prism, place: Place, hold: Hold, idle: float | None = None) -> None:
        self._prism = prism
        self._hold = hold
        self._idle = idle
        self._state = threading.Condition()
        self._connections: dict[Channel, bool] = {}  # whether a request is being answered
        self._requests = 0
        self._writes = 0  # being done
        self._used_at = time.monotonic()
        self._leaving = ""
        self._woken, self._wake = socket.socketpair()
        self._listener = _listen(place, hold)

    def run(self) -> str:
        """Answer until asked to leave or idle; return why, once every request that was begun is answered."""
        while not self._leaving:
            crowded = len(self._connections) >= MOST_CONNECTIONS
            if crowded:
                self._free_the_waiting()
            came = self._wait([self._woken] if crowded else [self._woken, self._listener])
            if self._listener in came:
                self._accept()
            elif self._woken in came:
                self._woken.recv(1)
            elif self._is_idle():
                self.leave("nobody asked for a while")
            elif not os.path.exists(self._hold.holder.socket):
                self.leave("its socket is gone, or the whole store")
        self._listener.close()
        self._free_the_waiting()
        self._finish()
        self._woken.close()
        self._wake.close()
        return self._leaving

    def _finish(self) -> None:
        """Wait for what was begun: for writes as long as they take, in a daemon for questions only a while."""
        with self._state:
            if self._state.wait_for(lambda: not self._connections, _GRACE):
                return
        self._prism.stop_queries("the owner of the store leaves")
        with self._state:
            while not self._state.wait_for(lambda: not self._connections, None if self._idle is None else _GRACE):
                if not self._writes:
                    _LOG.warning("left %d questions unanswered: %s", len(self._connections), self._leaving)
                    for channel in self._connections:
                        with suppress(OSError):
                            channel.send({"error": codec.error_json(_stopped())})
                    logging.shutdown()
                    os._exit(0)  # what was acknowledged is in the change log

    def leave(self, why: str) -> None:
        """Begin no further request; ``run`` returns when those that were begun are answered."""
        if not self._leaving:
            self._leaving = why
            self._wake.send(b"!")

    def _free_the_waiting(self) -> None:
        """End the connections on which nothing is being answered; whoever needs one comes again."""
        with self._state:
            waiting = [channel for channel, busy in self._connections.items() if not busy]
        for channel in waiting:
            channel.hear_no_more()

    def _wait(self, doors: Sequence[socket.socket]) -> list[Any]:
        """Return at which doors something comes; at none when a daemon should see whether it is still of use."""
        rest = None
        if self._listener not in doors:
            rest = _PAUSE  # crowded: a connection that was busy a moment ago may be free now
        elif self._idle is not None:
            rest = min(_LOOK, max(_PAUSE, self._used_at + self._idle - time.monotonic()))
        with selectors.DefaultSelector() as selector:
            for door in doors:
                selector.register(door, selectors.EVENT_READ)
            return [key.fileobj for key, _ in selector.select(rest)]

    def _is_idle(self) -> bool:
        with self._state:
            if any(self._connections.values()):
                self._used_at = time.monotonic()
            return self._idle is not None and time.monotonic() >= self._used_at + self._idle

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return  # the other end has gone again
        channel = Channel(connection)
        with self._state:
            self._connections[channel] = False
        threading.Thread(target=self._converse, args=(channel,), daemon=True).start()

    def _converse(self, channel: Channel) -> None:
        try:
            channel.send(_LEAVING if self._leaving else {"owner": self._self_description()})
            while self._next(channel):
                pass
            channel.send(_LEAVING)
        except OSError:
            pass  # the other end has gone: nobody is there to be told
        finally:
            channel.close()
            with self._state:
                if len(self._connections) == MOST_CONNECTIONS:
                    self._wake.send(b"!")
                del self._connections[channel]
                self._state.notify_all()

    def _next(self, channel: Channel) -> bool:
        """Answer the next request; return False when there is none, or when the owner leaves."""
        try:
            request = channel.receive()
        except PrismError as error:  # it holds what this release does not know
            channel.send({"error": codec.error_json(error)})
            return not self._leaving
        if not isinstance(request, dict) or not self._begin(channel):
            return False
        writes = _effect(request) == "writes"
        self._count(writes)
        try:
            self._answer(channel, request)
        finally:
            self._count(-writes)
            self._end(channel)
        return not self._leaving

    def _count(self, writes: int) -> None:
        with self._state:
            self._writes += writes

    def _begin(self, channel: Channel) -> bool:
        with self._state:
            self._connections[channel] = not self._leaving
            return not self._leaving

    def _end(self, channel: Channel) -> None:
        with self._state:
            self._connections[channel] = False
            self._requests += 1
            self._used_at = time.monotonic()

    def _self_description(self) -> dict[str, Any]:
        return {**asdict(self._hold.holder), **build.describe(), "base": self._prism.base}

    def _answer(self, channel: Channel, request: Message) -> None:
        if "control" in request:
            channel.send(self._control(request["control"]))
            return
        try:
            with asked_by(channel.peer(), channel.is_gone):
                result = _called(self._prism, request)
            channel.wait_at_most(_SLOWEST_READER)
            if isinstance(result, QueryAnswer):
                send_answer(channel, result)
            elif isinstance(result, Iterator):
                send_items(channel, result)
            else:
                channel.send({"result": result})
            channel.wait_at_most(None)
        except PrismError as error:
            channel.send({"error": codec.error_json(error)})
        except (ConnectionError, TimeoutError):
            raise
        except Exception as error:
            _LOG.exception("unforeseen failure of %s", request.get("verb"))
            channel.send({"error": codec.error_json(_unforeseen(error))})

    def _control(self, what: str) -> Message:
        if what == "status":
            with self._state:
                counts = {"requests": self._requests, "connections": len(self._connections) - 1}
            return {"status": {**self._self_description(), **counts, "commit": self._prism.commit_number}}
        if self._hold.holder.door != "daemon":
            return {"stays": True}
        self.leave("asked to")
        return {"goes": True}


def _stopped() -> BusyError:
    return BusyError(
        "the owner of the store was stopped before it could answer",
        rule="a question that takes long does not keep the owner from leaving",
        mend="ask again, or ask for less",
    )


def _effect(request: Message) -> str:
    known = verbs.PRISM if request.get("pid") is None else verbs.PROJECT
    return known.get(str(request.get("verb")), "reads")


def _called(prism: Prism, request: Message) -> Any:
    """Return what the verb returns; raise BadArgument for a name that is not in the table of verbs."""
    pid, name = request["pid"], request["verb"]
    if name not in (verbs.PRISM if pid is None else verbs.PROJECT):
        raise BadArgument(
            f"the owner has no verb {name!r}", rule="verbs are those of Prism and Project", mend="upgrade"
        )
    found = getattr(prism if pid is None else prism.project(pid), name)
    with speaking_for(request.get("tier", 1)):  # the highest that this connection may claim
        return found(**request["options"]) if callable(found) else found


def _unforeseen(error: Exception) -> PrismError:
    return PrismError(
        f"{type(error).__name__}: {error}",
        rule="this should not happen: it is a defect of prism, or of the machine it runs on",
        mend="look into owner.log in the folder of the store for the details, and report them",
    )


def _listen(place: Place, hold: Hold) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    path = place.socket_path()
    listener.bind(os.fspath(path))
    path.chmod(0o600)  # nobody can connect before the next line
    listener.listen(128)
    hold.announce(socket=os.fspath(path))
    return listener
