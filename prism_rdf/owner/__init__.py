"""One owner, many doors: the process that holds an embedded store, and how others reach it; no verb is defined here.

A store in a folder can be open in one process only. ``Prism.open`` therefore asks its owner: `prism serve` or a program
that opened it exclusively, else a daemon, started by the first that needs it and gone when nobody asked it for a while.

| environment | meaning | default |
|---|---|---|
| ``PRISM_OWNER`` | ``never``: start no daemon; without an owner the store is opened in this process | ``start`` |
| ``PRISM_OWNER_IDLE`` | seconds without a request after which a daemon leaves | 300 |
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from prism_rdf.errors import BadArgument

if TYPE_CHECKING:
    from prism_rdf.owner.place import Door, Hold
    from prism_rdf.prism import Prism
    from prism_rdf.storage.folder import StoreFolder

DEFAULT_IDLE = 300.0  # seconds


def connect(folder: StoreFolder, tier: int = 1) -> Prism | None:
    """Return the store as its owner answers for it; None when there is no owner and none may be started.

    ``tier`` is the highest that this connection may claim. Raises BusyError when a program has the store exclusively,
    StoreVersionError when the owner is of a newer release.
    """
    from prism_rdf.owner.place import Place
    from prism_rdf.owner.remote import RemotePrism

    if not may_start() and not Place.of(folder.path).is_held():
        return None
    return RemotePrism.connected(folder, tier)


def take(folder: StoreFolder, door: Door) -> Hold:
    """Have the store in this process; a daemon that has it is asked to leave. Raises BusyError naming who has it."""
    from prism_rdf.owner.place import Place
    from prism_rdf.owner.reaching import take as taken

    return taken(Place.of(folder.path), door)


def status(folder: StoreFolder) -> dict[str, Any] | None:
    """Return who has the store and, where it answers, how much it was asked; None when nobody has it."""
    from dataclasses import asdict

    from prism_rdf.owner.place import Place
    from prism_rdf.owner.reaching import knock

    place = Place.of(folder.path)
    link = knock(place)
    if link is None:
        holder = place.holder()
        return asdict(holder) if holder is not None and place.is_held() else None
    try:
        link.channel.send({"control": "status"})
        answer = link.channel.receive()
    finally:
        link.channel.close()
    assert isinstance(answer, dict)
    return dict(answer["status"])


def stop(folder: StoreFolder) -> bool:
    """Ask the daemon to finish what it does and leave; return whether there was one, once it is gone.

    Raises BusyError when `prism serve` or an exclusive program has the store: they are stopped where they run.
    """
    from prism_rdf.owner.place import Place
    from prism_rdf.owner.reaching import ask_to_leave, knock, wait_until_free

    place = Place.of(folder.path)
    link = knock(place)
    if link is None and not place.is_held():
        return False
    if link is not None:
        ask_to_leave(place, link)
    wait_until_free(place)
    return True


def may_start() -> bool:
    """Return whether a daemon may be started. Raises BadArgument for another word than start or never."""
    word = os.environ.get("PRISM_OWNER") or "start"
    if word not in ("start", "never"):
        raise BadArgument(
            f"PRISM_OWNER is {word!r}", rule="PRISM_OWNER is start or never", mend="set it to one of them, or unset it"
        )
    return word == "start"


def idle_seconds() -> float:
    """Return after how many seconds without a request a daemon leaves. Raises BadArgument."""
    text = os.environ.get("PRISM_OWNER_IDLE") or str(DEFAULT_IDLE)
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise BadArgument(
            f"PRISM_OWNER_IDLE is {text!r}", rule="it is a number of seconds", mend=f"such as {DEFAULT_IDLE:.0f}"
        )
    return seconds
