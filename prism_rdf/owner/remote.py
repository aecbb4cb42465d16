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

from prism_rdf.namespaces import check_name
from prism_rdf.owner import verbs
from prism_rdf.owner.line import KEY, Line
from prism_rdf.owner.wire import Message
from prism_rdf.prism import Prism
from prism_rdf.project import Project
from prism_rdf.storage.folder import StoreFolder
from prism_rdf.tiers import known


class RemotePrism(Prism):
    """The store of one tenant, asked through the process that owns it."""

    def __init__(self, folder: StoreFolder, tier: int = 1) -> None:
        self.folder = folder
        self._tier = known(tier)
        self.base = folder.base
        self.managed = folder.managed
        self.tenant = folder.tenant
        self._line = Line(folder.path, folder.tenant, tier)

    @classmethod
    def connected(cls, folder: StoreFolder, tier: int = 1) -> RemotePrism:
        """Return the store, once there is an owner that answers. Raises BusyError, StoreVersionError."""
        prism = cls(folder, tier)
        prism._line.connect()
        return prism

    def project(self, pid: str) -> RemoteProject:
        return RemoteProject(self, check_name("project", pid))

    def close(self) -> None:
        self._line.close()

    def _ask(self, verb: str, options: Message, *, reads: bool) -> Any:
        return self._line.ask(None, verb, options, reads=reads)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"{name!r} belongs to the process that owns the store: to reach it, open the store with exclusive=True"
        )


class RemoteProject(Project):
    """A project of a store that another process owns."""

    def _ask(self, verb: str, options: Message, *, reads: bool) -> Any:
        assert isinstance(self.prism, RemotePrism)
        return self.prism._line.ask(self.pid, verb, options, reads=reads)


def _sent(original: Callable[..., Any], name: str, effect: verbs.Effect) -> Callable[..., Any]:
    """Return the verb as a function that has the owner do it."""
    shape = signature(original)
    paths = {name for name, each in shape.parameters.items() if "PathLike" in str(each.annotation)}
    takes_key = effect == "writes" and (KEY in shape.parameters or _rest_of(shape) is not None)

    @wraps(original)
    def ask(self: Any, *args: Any, **options: Any) -> Any:
        given = shape.bind(self, *args, **options).arguments  # a wrong call is a TypeError here as it is there
        named = {key: _plain(value, key in paths) for key, value in given.items() if key != "self"}
        named |= named.pop(_rest_of(shape) or "", {})
        if takes_key and not named.get(KEY):
            named[KEY] = uuid4().hex
        return self._ask(name, named, reads=effect == "reads")

    return ask


def _rest_of(shape: Signature) -> str | None:
    """Return the name under which a verb takes any other option; None where it takes none."""
    return next((name for name, each in shape.parameters.items() if each.kind is Parameter.VAR_KEYWORD), None)


def _plain(value: Any, is_path: bool) -> Any:
    """Return an argument that means the same elsewhere (the owner has another working folder) and a second time."""
    if is_path and value is not None:
        return os.path.abspath(value)
    return list(value) if isinstance(value, Iterator) else value


def send_every_verb(remote: type, local: type, effects: Mapping[str, verbs.Effect]) -> None:
    """Give a class that stands for another one its verbs, each of which calls ``_ask(verb, options, reads=…)``."""
    for name, effect in effects.items():
        original = getattr(local, name)
        if isinstance(original, property):
            assert original.fget is not None
            setattr(remote, name, property(_sent(original.fget, name, effect), doc=original.__doc__))
        else:
            setattr(remote, name, _sent(original, name, effect))


send_every_verb(RemotePrism, Prism, verbs.PRISM)
send_every_verb(RemoteProject, Project, verbs.PROJECT)
