"""kill -9 of the owner at random moments of writing: what was acknowledged is there, once; the rest wholly or not."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

KILLS = int(os.environ.get("PRISM_TEST_KILLS", "4"))


def test_no_acknowledged_write_is_lost_and_none_is_done_twice(home: Any, tmp_path: Path) -> None:
    enough = tmp_path / "enough"
    with home.open() as prism:
        insisting = [home.worker("insist", "i", 2, enough)]
        trusting = [home.worker("trust", "t", 2, enough)]
        killed = _kill_again_and_again(home, random.Random(7))
        enough.touch()
        insisted = Counter(value for worker in home.workers(insisting) for thread in worker for value in thread)
        trusted = {value: known for worker in home.workers(trusting) for thread in worker for value, known in thread}
        project = prism.project("demo")
        assert project.check() == []
    with home.open(exclusive=True) as prism:
        project = prism.project("demo")
        found = Counter(state["props"]["description"] for state in project.history("Counter")[1:])
        assert project.check() == []
        numbers = [change.number for change in prism.changes(0)]
        assert numbers == list(range(1, prism.commit_number + 1))
    acknowledged = insisted + Counter(value for value, known in trusted.items() if known)
    assert killed >= KILLS
    assert len(insisted) > 0 < len(trusted)
    assert [value for value, times in found.items() if times != 1] == []
    assert acknowledged - found == Counter()
    assert set(found - acknowledged) <= {value for value, known in trusted.items() if not known}
    uncertain = sum(not known for known in trusted.values())
    print(f"{killed} kills, {sum(found.values())} writes, {uncertain} of {len(trusted)} that were tried once uncertain")


def _kill_again_and_again(home: Any, chance: random.Random) -> int:
    """Kill each owner in its turn: one at any moment of its beginning, the next in the middle of writing."""
    killed, last = 0, 0
    while killed < KILLS:
        home.wait_until(lambda known=last: home.pid() not in (0, known), 60)
        last = home.pid()
        if killed % 2:
            time.sleep(chance.random())
        else:
            written = _bytes_logged(home)
            home.wait_until(lambda before=written: _bytes_logged(home) > before, 60)
            time.sleep(chance.random() * 0.4)
        with suppress(ProcessLookupError):
            os.kill(last, signal.SIGKILL)
            killed += 1
    return killed


def _bytes_logged(home: Any) -> int:
    return int((home.store / "changes.log").stat().st_size)
