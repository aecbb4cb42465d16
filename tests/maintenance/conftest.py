"""Stores that are opened in this process, each with a clock of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

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
