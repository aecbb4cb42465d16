"""The store seen from outside its owner: the classes Prism and Project with every verb sent over the line.

Signatures and docstrings are those of the classes themselves. A verb that changes something carries an idempotency
key, so that it can be asked again when the owner dies in the middle, and is done once all the same.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any
from uuid import uuid4

from prism_rdf.errors import BadArgument, BusyError
from prism_rdf.namespaces import check_name
from prism_rdf.owner import codec, verbs
from prism_rdf.owner.carrying import receive_answer, receive_items
from prism_rdf.owner.place import Place
from prism_rdf.owner.reaching import Link, reach
from prism_rdf.owner.wire import Message
from prism_rdf.prism import Prism
from prism_rdf.project import Project
from prism_rdf.storage.folder import StoreFolder

_KEY = "idempotency_key"


_MOST_TURNS = 20


class _TurnedAway(Exception):
    """The owner has not begun the request: it leaves, or has left already."""


class Line:
    """The way to whoever owns the store now. Any thread may ask; each request under way has a connection of its own."""

    def __init__(self, folder: StoreFolder) -> None:
        self._place = Place.of(folder.path)
        self._tenant = folder.tenant
        self._free: list[Link] = []
        self._process = os.getpid()
        self._closed = False

    def ask(self, request: Message, *, again: bool) -> Any:
        """Return what the owner answers, or raise what it raises; ``again``: it may be asked twice.

        Raises BusyError when the owner died in the middle and the request may not be asked again, or was.
        """
        died = False
        for _ in range(_MOST_TURNS):
            try:
                return self._asked(request)
            except _TurnedAway:
                continue
            except ConnectionError:
                if died or not again:
                    raise self._died(request) from None
                died = True
        raise self._place.busy("its owners come and go")

    def connect(self) -> None:
        """Make sure that there is an owner."""
        self._free.append(self._link())

    def close(self) -> None:
        self._closed = True
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

    def _asked(self, request: Message) -> Any:
        link = self._link()
        try:
            reply = _exchanged(link, request)
            if "items" in reply or "end" in reply:
                return self._yielded(link, reply, request)
            found = receive_answer(link.channel, reply["answer"]) if "answer" in reply else reply.get("result")
        except BaseException:
            link.channel.close()
            raise
        self._put_back(link)
        if "error" in reply:
            raise codec.error_of(reply["error"])
        return found

    def _yielded(self, link: Link, first: Message, request: Message) -> Iterator[Any]:
        try:
            yield from receive_items(link.channel, first)
        except ConnectionError:
            raise self._died(request) from None
        except BaseException:  # the reader wants no more, or the verb failed on the way
            link.channel.close()
            raise
        self._put_back(link)

    def _put_back(self, link: Link) -> None:
        if self._closed:
            link.channel.close()
        else:
            self._free.append(link)

    def _died(self, request: Message) -> BusyError:
        key = request["options"].get(_KEY)
        if request["effect"] == "reads":
            rule, mend = "what only reads is asked twice, then not again", "ask again; owner.log tells what happened"
        else:
            rule = "a write is acknowledged once it is on disk; this one was not, and may or may not have been written"
            mend = f"ask again with {_KEY}={key!r}: it is not written twice" if key else "see in `prism log` if it was"
        return BusyError(
            f"the owner of the store in {self._place.folder} died while it was asked to {request['verb']}",
            rule=rule,
            mend=mend,
        )


def _exchanged(link: Link, request: Message) -> Message:
    try:
        link.channel.send(request)
    except ConnectionError as error:
        raise _TurnedAway from error  # it did not get all of it
    reply = link.channel.receive()
    if not isinstance(reply, dict):
        raise ConnectionResetError("the owner closed the connection")
    if "leaving" in reply:
        raise _TurnedAway
    return reply


class RemotePrism(Prism):
    """The store of one tenant, asked through the process that owns it."""

    def __init__(self, folder: StoreFolder) -> None:
        self.folder = folder
        self.base = folder.base
        self.tenant = folder.tenant
        self._line = Line(folder)

    @classmethod
    def connected(cls, folder: StoreFolder) -> RemotePrism:
        """Return the store, once there is an owner that answers. Raises BusyError, StoreVersionError."""
        prism = cls(folder)
        prism._line.connect()
        return prism

    def project(self, pid: str) -> RemoteProject:
        return RemoteProject(self, check_name("project", pid))

    def close(self) -> None:
        self._line.close()

    def _send(self, request: Message, *, again: bool) -> Any:
        return self._line.ask({"pid": None, **request}, again=again)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"{name!r} belongs to the process that owns the store: to reach it, open the store with exclusive=True"
        )


class RemoteProject(Project):
    """A project of a store that another process owns."""

    def _send(self, request: Message, *, again: bool) -> Any:
        assert isinstance(self.prism, RemotePrism)
        return self.prism._line.ask({"pid": self.pid, **request}, again=again)


def _sent(original: Callable[..., Any], name: str, effect: verbs.Effect) -> Callable[..., Any]:
    """Return the verb as a function that has the owner do it."""
    shape = signature(original)
    paths = {name for name, each in shape.parameters.items() if "PathLike" in str(each.annotation)}
    takes_key = effect == "writes" and (_KEY in shape.parameters or _rest_of(shape) is not None)

    @wraps(original)
    def send(self: Any, *args: Any, **options: Any) -> Any:
        given = shape.bind(self, *args, **options).arguments  # a wrong call is a TypeError here as it is there
        named = {key: _plain(value, key in paths) for key, value in given.items() if key != "self"}
        named |= named.pop(_rest_of(shape) or "", {})
        if takes_key and not named.get(_KEY):
            named[_KEY] = uuid4().hex
        request = {"verb": name, "effect": effect, "options": named}
        return self._send(request, again=effect == "reads" or bool(named.get(_KEY)))

    return send


def _rest_of(shape: Signature) -> str | None:
    """Return the name under which a verb takes any other option; None where it takes none."""
    return next((name for name, each in shape.parameters.items() if each.kind is Parameter.VAR_KEYWORD), None)


def _plain(value: Any, is_path: bool) -> Any:
    """Return an argument that means the same elsewhere (the owner has another working folder) and a second time."""
    if is_path and value is not None:
        return os.path.abspath(value)
    return list(value) if isinstance(value, Iterator) else value


def _send_every_verb(remote: type, local: type, effects: Mapping[str, verbs.Effect]) -> None:
    for name, effect in effects.items():
        original = getattr(local, name)
        if isinstance(original, property):
            assert original.fget is not None
            setattr(remote, name, property(_sent(original.fget, name, effect), doc=original.__doc__))
        else:
            setattr(remote, name, _sent(original, name, effect))


_send_every_verb(RemotePrism, Prism, verbs.PRISM)
_send_every_verb(RemoteProject, Project, verbs.PROJECT)
