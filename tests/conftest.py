"""What all tests share: where the checkout is, and which tests cannot run on this machine, with the reason."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"

# Each test would leave a daemon behind that owns its store for a while; tests/owner asks for them.
os.environ["PRISM_OWNER"] = "never"
# Whether the model is installed must not decide what a test sees; those about vectors bring an embedder.
os.environ["PRISM_EMBEDDER"] = "none"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    no_shared = None if SHARED.is_dir() else pytest.mark.skip(reason="no folder ../shared beside this checkout")
    no_java = None if shutil.which("java") else pytest.mark.skip(reason="no java on the PATH")
    for item in items:
        if item.path.is_relative_to(ROOT / "tests/owner") or item.path.is_relative_to(ROOT / "tests/maintenance"):
            item.add_marker(pytest.mark.slow)  # real processes, whole stores written anew
        if no_shared and item.get_closest_marker("shared"):
            item.add_marker(no_shared)
        if no_java and item.get_closest_marker("java"):
            item.add_marker(no_java)


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The folder of this checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder ../shared; a test that asks for it is marked ``shared``."""
    if not SHARED.is_dir():
        pytest.skip("no folder ../shared beside this checkout")
    return SHARED


@pytest.fixture(scope="session")
def shared_data(shared: Path) -> Path:
    """The folder ../shared/data."""
    return shared / "data"
