"""How a process comes to the owner of a store, or to own it itself; what is then said over the line is in remote.py.

A daemon gives way: to an owner of a newer release, to `prism serve`, to a program that wants the store for itself.
`prism serve` and an exclusive program do not; whoever wants the store is told who has it.
"""

from __future__ import annotations

import os
import selectors
import socket
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from prism_rdf.errors import BusyError, RefusedError, StoreVersionError
from prism_rdf.owner import build
from prism_rdf.owner.place import PATIENCE, PAUSE, Door, Hold, Holder, Place
from prism_rdf.owner.wire import Channel, loads

_GREETING_TIME = 30.0  # seconds in which a living owner says who it is
_ENDING_TIME = 0.3  # seconds in which a program that is just ending lets the store go
_LONGEST_LOG = 1 << 20  # bytes of an old log that are kept


@dataclass(frozen=True)
class Link:
    """A connection to an owner that has said who it is."""

    channel: Channel
    owner: dict[str, Any]


def reach(place: Place, tenant: str) -> Link:
    """Return a connection to the owner of the store, of this release; one is started where there is none.

    Raises BusyError when an exclusive program has the store or the owner cannot be had, StoreVersionError when the
    owner is of a newer release, and whatever kept a new owner from opening the store.
    """
    deadline = time.monotonic() + PATIENCE
    link = knock(place)
    while link is None or not _fits(place, link):
        with place.turn(deadline):
            link = knock(place)
            if link is None:
                _wait_while_held(place, deadline)
                if not place.is_held() and not _start(place, tenant) and not _start(place, tenant):
                    raise place.busy("its owner dies as it starts")
                link = knock(place)
        if time.monotonic() > deadline:
            raise place.busy("its owner does not answer")
    return link


def knock(place: Place) -> Link | None:
    """Return a connection to the owner that answers; None where none does."""
    holder = place.holder()
    if holder is None or not holder.socket:
        return None
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(_GREETING_TIME)
    try:
        connection.connect(holder.socket)
        channel = Channel(connection)
        greeting = channel.receive()
        channel.wait_at_most(None)
    except TimeoutError:
        connection.close()
        raise place.busy(f"{holder.describe()}, does not answer") from None
    except PermissionError as error:
        connection.close()
        raise RefusedError(
            f"the store in {place.folder} belongs to another user",
            rule="only the user who owns a store may ask its owner",
            mend="become that user, or ask a `prism serve` of theirs over HTTP",
        ) from error
    except OSError:
        connection.close()
        return None
    if not isinstance(greeting, dict) or "owner" not in greeting:
        channel.close()
        return None
    return Link(channel, greeting["owner"])


def take(place: Place, door: Door) -> Hold:
    """Have the store in this process; a daemon is asked to leave. Raises BusyError while another program has it."""
    deadline = time.monotonic() + PATIENCE
    with place.turn(deadline):
        _wait_while_held(place, deadline, displace=True)
        return hold(place, door)


def hold(place: Place, door: Door) -> Hold:
    """Have the store, which nobody has. Raises BusyError when somebody does after all."""
    lock, until = place.lock(), time.monotonic() + _ENDING_TIME
    while not lock.take():
        if time.monotonic() > until:
            lock.release()
            _held_by_another(place)
        time.sleep(PAUSE)
    from prism_rdf.clock import SystemClock

    program = Path(sys.argv[0]).name or Path(sys.executable).name
    holder = Holder(os.getpid(), door, build.version(), SystemClock().now().iso(), program)
    return Hold.begin(place, lock, holder)


def ask_to_leave(place: Place, link: Link) -> None:
    """Ask an owner to finish what it does and leave. Raises BusyError when it is one that stays."""
    try:
        link.channel.send({"control": "leave"})
        answer = link.channel.receive()
    except OSError:
        answer = None  # it is gone already
    finally:
        link.channel.close()
    if isinstance(answer, dict) and answer.get("stays"):
        _held_by_another(place)


def wait_until_free(place: Place) -> None:
    """Wait until no process has the store. Raises BusyError when that takes too long."""
    _wait_while_held(place, time.monotonic() + PATIENCE, displace=True)


def _fits(place: Place, link: Link) -> bool:
    """Return whether the owner is of this release; an older daemon is asked to leave. Raises StoreVersionError."""
    age = build.age(link.owner)
    if age == "same":
        return True
    if age == "newer":
        link.channel.close()
        raise StoreVersionError(
            f"the owner of the store in {place.folder} is prism {link.owner['version']}, this is {build.version()}",
            rule="an older release never touches a newer store",
            mend="upgrade this one: pip install --upgrade prism-rdf",
        )
    if link.owner["door"] == "serve":
        link.channel.close()
        raise place.busy(
            f"held by a `prism serve` of release {link.owner['version']}, and this is {build.version()}",
            "start `prism serve` again, with this release",
        )
    ask_to_leave(place, link)
    return False


def _wait_while_held(place: Place, deadline: float, *, displace: bool = False) -> None:
    """Wait for an owner that is leaving; raise BusyError when one means to stay."""
    since = time.monotonic()
    while place.is_held():
        link = knock(place)
        if link is not None:
            if not displace:
                link.channel.close()
                return
            ask_to_leave(place, link)
        holder = place.holder()
        stays = holder is not None and holder.door == "exclusive" and time.monotonic() > since + _ENDING_TIME
        if stays or time.monotonic() > deadline:
            _held_by_another(place)
        time.sleep(PAUSE)


def _held_by_another(place: Place) -> NoReturn:
    holder = place.holder()
    if holder is None:
        raise place.busy("another process has it")
    mend = {
        "daemon": "it is still answering somebody: try again, or stop it with `prism owner stop`",
        "serve": "ask it (Prism.open without exclusive=True, the command line, HTTP), or stop it",
        "exclusive": "let it end, or let it open the store without exclusive=True, so that others can use it too",
    }[holder.door]
    raise place.busy(f"held by {holder.describe()}", mend)


def _start(place: Place, tenant: str) -> bool:
    """Start a daemon and wait until it answers; return False when it dies without a word.

    Raises what kept it from opening the store, else BusyError.
    """
    import subprocess  # most find an owner at work

    reader, writer = os.pipe()
    try:
        with place.log.open("ab") as log:
            if log.seek(0, os.SEEK_END) > _LONGEST_LOG:
                log.truncate(0)
            begin = log.seek(0, os.SEEK_END)
            command = [sys.executable, "-P", "-m", "prism_rdf.owner", str(place.folder.parent), tenant, str(writer)]
            subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(writer,),
                start_new_session=True,
                check=False,
            )
    finally:
        os.close(writer)
    try:
        said = _read_until_closed(reader)
    finally:
        os.close(reader)
    last_line = "" if said else _last_line(place.log, begin)
    if last_line:
        raise place.busy(f"its owner could not be started: {last_line}")
    told = loads(said or b"{}")
    if "error" in told:
        from prism_rdf.owner import codec

        raise codec.error_of(told["error"])
    return bool(said)


def _read_until_closed(reader: int) -> bytes:
    """Return what the new process says before it closes its end, which it does when it answers or dies."""
    said, deadline, selector = b"", time.monotonic() + PATIENCE, selectors.DefaultSelector()
    selector.register(reader, selectors.EVENT_READ)
    while True:
        if not selector.select(max(0.0, deadline - time.monotonic())):
            raise BusyError(
                "the owner of the store takes too long to start",
                rule=f"an owner answers within {PATIENCE:.0f} s",
                mend="look into owner.log in the folder of the store, and try again",
            )
        piece = os.read(reader, 65_536)
        if not piece:
            selector.close()
            return said
        said += piece


def _last_line(log: Path, begin: int) -> str:
    with log.open("rb") as file:
        file.seek(begin)
        lines = [line for line in file.read().decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1].strip() if lines else ""
