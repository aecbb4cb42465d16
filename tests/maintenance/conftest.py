"""Stores that are opened in this process, each with a clock of its own."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import canary
import pytest
from whole_stores import START, add_free_graphs, fill

from prism_rdf import Prism
from prism_rdf.clock import Instant, ManualClock

Open = Callable[..., Prism]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def open_store(home: Path) -> Iterator[Open]:
    """Open stores exclusively; those not closed by a test are closed at its end."""
    opened: list[Prism] = []

    def go(where: Path | None = None, tenant: str = "default", at: Instant = START) -> Prism:
        opened.append(Prism.open(where or home, tenant, exclusive=True, clock=ManualClock(at)))
        return opened[-1]

    yield go
    for prism in opened:
        if hasattr(prism.store, "_store"):
            prism.close()


@pytest.fixture
def prism(open_store: Open) -> Prism:
    return open_store()


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``home``, a filled store that is closed, and ``copy``, a backup of it. To be copied, not used."""
    folder = tmp_path_factory.mktemp("made")
    with Prism.open(folder / "home", exclusive=True, clock=ManualClock(START)) as prism:
        fill(prism)
        add_free_graphs(prism)
        prism.backup(folder / "copy")
    return folder


@pytest.fixture(scope="session")
def once_filled(tmp_path_factory) -> tuple[Path, dict[str, str]]:
    """The closed home of a filled store. To be copied, not used."""
    home = tmp_path_factory.mktemp("filled") / "home"
    with Prism.open(home, exclusive=True, clock=ManualClock(START)) as prism:
        return home, canary.fill(prism)


@pytest.fixture
def filled(once_filled, open_store, home) -> tuple[Prism, dict[str, str]]:
    shutil.copytree(once_filled[0], home)
    return open_store(at=START.plus(micros=1_000_000)), once_filled[1]
