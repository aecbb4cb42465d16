"""An owner as a process of its own, and an owner inside a program that shows the store to others, such as a server."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from prism_rdf.clock import SystemClock
from prism_rdf.config import Limits, query_limits
from prism_rdf.errors import PrismError
from prism_rdf.owner import codec, idle_seconds
from prism_rdf.owner.place import Hold, Place
from prism_rdf.owner.reaching import hold, take
from prism_rdf.owner.serving import Server
from prism_rdf.owner.wire import dumps
from prism_rdf.prism import Prism
from prism_rdf.storage.folder import StoreFolder, open_folder

_LOG = logging.getLogger("prism_rdf.owner")


def run(home: str, tenant: str, ready: int) -> int:
    """Own the store until nobody asks any more; ``ready`` is told when it answers, or what kept it from it."""
    starter = _Starter(ready)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(process)d %(levelname)s %(message)s")
    try:
        idle = idle_seconds()
        place = Place.of(Path(home) / tenant)
        limits = query_limits()
        held = hold(place, "daemon")
    except PrismError as error:
        return _refused(starter, error)
    try:
        with owned(place, held, limits) as prism:
            server = Server(prism, place, held, idle)
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, lambda number, frame: server.leave(f"signal {number}"))
            os.chdir(place.folder)
            starter.tell({"ready": True})
            _LOG.info("owns the store in %s", place.folder)
            why = server.run()
    except PrismError as error:
        return _refused(starter, error)
    _LOG.info("left: %s", why)
    return 0


def _refused(starter: _Starter, error: PrismError) -> int:
    _LOG.error("%s", error)
    starter.tell({"error": codec.error_json(error)})
    return error.exit_status


class _Starter:
    """Who started the daemon and waits for one word of it."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def tell(self, what: dict[str, object]) -> None:
        """Say it if nothing was said before."""
        if self._handle >= 0:
            with suppress(OSError):  # whoever started it may have gone: others will ask
                os.write(self._handle, dumps(what))
            os.close(self._handle)
            self._handle = -1


@contextmanager
def owned(place: Place, held: Hold, limits: Limits) -> Iterator[Prism]:
    """Open the store that is held, its queries within these limits; close it, then let it go."""
    try:
        folder = open_folder(place.folder.parent, place.folder.name, create=False)
        with Prism(folder, folder.base, folder.tenant, SystemClock()) as prism:
            prism.limit_queries(limits)
            yield prism
    finally:
        held.release()


class Hosted:
    """A store that this process owns and answers for on the socket too, as `prism serve` does."""

    def __init__(self, prism: Prism, held: Hold) -> None:
        self.prism = prism
        self._held = held

    def announce(self, url: str) -> None:
        """Say in the note at which address it can be reached too."""
        self._held.announce(url=url)


@contextmanager
def hosted(folder: StoreFolder, limits: Limits | None = None) -> Iterator[Hosted]:
    """Own a store in this process for as long as the context lasts. Raises BusyError naming who has it.

    The limits of queries are those of the environment unless given.
    """
    limits = limits or query_limits()
    place = Place.of(folder.path)
    held = take(place, "serve")
    with owned(place, held, limits) as prism:
        server = Server(prism, place, held)
        thread = threading.Thread(target=server.run, name="owner")
        thread.start()
        try:
            yield Hosted(prism, held)
        finally:
            server.leave("the program ends")
            thread.join()
