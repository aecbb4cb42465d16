"""A program that uses a store beside others: what it does is its second argument. Prints what it saw as JSON."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from prism_rdf import BusyError, Prism

PARENT = os.getppid()  # without the test nobody says when it is enough


def main() -> None:
    home, job, *words = sys.argv[1:]
    print(json.dumps(JOBS[job](home, *words)))


def look(home: str) -> Any:
    """Open the store and say how many commits it has."""
    with Prism.open(home) as prism:
        return prism.commit_number


def write(home: str, name: str, threads: str, count: str) -> Any:
    """Write so many values from so many threads; returns [commit, value] of each receipt, per thread."""
    with Prism.open(home) as prism:
        project = prism.project("demo")

        def values(thread: int) -> list[tuple[int | None, str]]:
            said = [f"{name}-{thread}-{number}" for number in range(int(count))]
            return [(project.fact("Counter", "description", value).commit, value) for value in said]

        return _in_threads(int(threads), values)


def insist(home: str, name: str, threads: str, until: str) -> Any:
    """Write until the file ``until`` is there, asking again under the same key; returns the values of each thread."""
    with Prism.open(home) as prism:
        project = prism.project("demo")

        def values(thread: int) -> list[str]:
            written: list[str] = []
            while _goes_on(until):
                value = f"{name}-{thread}-{len(written)}"
                while not _acknowledged(lambda v=value: project.fact("Counter", "description", v, idempotency_key=v)):
                    pass
                written.append(value)
            return written

        return _in_threads(int(threads), values)


def trust(home: str, name: str, threads: str, until: str) -> Any:
    """Write until the file is there, each once; returns [value, whether it was acknowledged] of each thread."""
    with Prism.open(home) as prism:
        project = prism.project("demo")

        def values(thread: int) -> list[tuple[str, bool]]:
            tried: list[tuple[str, bool]] = []
            while _goes_on(until):
                value = f"{name}-{thread}-{len(tried)}"
                tried.append((value, _acknowledged(lambda v=value: project.fact("Counter", "description", v))))
            return tried

        return _in_threads(int(threads), values)


def _goes_on(until: str) -> bool:
    return os.getppid() == PARENT and not Path(until).exists()


def _acknowledged(write: Callable[[], object]) -> bool:
    try:
        write()
    except BusyError:
        return False
    return True


def _in_threads(count: int, work: Callable[[int], Any]) -> list[Any]:
    found: list[Any] = [None] * count

    def run(thread: int) -> None:
        found[thread] = work(thread)

    running = [threading.Thread(target=run, args=(thread,)) for thread in range(count)]
    for each in running:
        each.start()
    for each in running:
        each.join()
    return found


JOBS: dict[str, Callable[..., Any]] = {"look": look, "write": write, "insist": insist, "trust": trust}

if __name__ == "__main__":
    main()
