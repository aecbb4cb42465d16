"""Whether an ingestion that is killed at random points and begun again gives the graph of an undisturbed one.

    python bench/ingest/kills.py                                # every PEP, ten kills, by the command line
    python bench/ingest/kills.py --kills 3 --commits 1500       # a part of the history
    python bench/ingest/kills.py --folder FOLDER                # keeps what it makes, and does not make it twice

One run is left alone, and measured. In the other, command and owner are killed with SIGKILL, both at once, each time
that the change log has come to a random share of what the undisturbed run wrote, and up to two seconds later. Both
stores are exported then, and compared quad by quad. Left out of the comparison is what is of system time: graphs of the
bookkeeping (commits, bookmarks), prism:recordedAt, prism:endRecordedAt, and prism:createdAt of entities, with the
copies of these in the current graph. Exits with 1 when a quad differs.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from pyoxigraph import RdfFormat, parse

PEPS = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "peps" / "peps.bundle"
_PRISM = (sys.executable, "-m", "prism_rdf.cli")
_LOOK = 0.05  # seconds between two looks at the processes
_LATEST = 2.0  # seconds that a kill may come after its share of the log
_SYSTEM_TIME = ("recordedAt", "endRecordedAt")
_TICKS = os.sysconf("SC_CLK_TCK")

Quad = tuple[str, str, str, str]


@dataclass
class Used:
    """What the processes of one run came to: seconds of the wall and of the processor, the most memory of each."""

    wall: float = 0.0
    cpu: dict[str, float] = field(default_factory=dict)
    peak: dict[str, int] = field(default_factory=dict)

    def look(self, name: str, pid: int) -> None:
        with suppress(OSError, IndexError, StopIteration):
            numbers = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            self.cpu[name] = (int(numbers[11]) + int(numbers[12])) / _TICKS
            lines = Path(f"/proc/{pid}/status").read_text().splitlines()
            peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
            self.peak[name] = max(self.peak.get(name, 0), peak // 1024)

    def __str__(self) -> str:
        parts = (f"{name} {self.cpu[name]:.0f} s CPU, at most {self.peak[name]} MB" for name in sorted(self.cpu))
        return f"{self.wall:.0f} s; " + "; ".join(parts)


@dataclass(frozen=True)
class Store:
    """A store in a home of its own, into which one repository is read."""

    home: Path
    repository: Path
    ref: str

    @property
    def log(self) -> Path:
        return self.home / "default" / "changes.log"

    def written(self) -> int:
        return self.log.stat().st_size if self.log.exists() else 0

    def owner(self) -> int | None:
        with suppress(OSError, ValueError, KeyError):
            return int(json.loads((self.log.parent / "owner.json").read_text())["pid"])
        return None

    def run(self, stop: Callable[[], bool] = lambda: False) -> tuple[int | None, Used]:
        """Ingest until it is done, or kill it once ``stop`` says so; return the exit code (None: killed) and cost."""
        command = [*_PRISM, "ingest", str(self.repository), "--mapping", "peps", "--ref", self.ref, "--json"]
        used, began = Used(), time.monotonic()
        out = (self.home.parent / f"{self.home.name}.json").open("wb")
        with out, subprocess.Popen(command, env=self._environment(), stdout=out) as process:
            while process.poll() is None:
                used.look("command", process.pid)
                owner = self.owner()
                if owner is not None:
                    used.look("owner", owner)
                if stop():
                    for pid in filter(None, (process.pid, owner)):
                        with suppress(ProcessLookupError):
                            os.kill(pid, signal.SIGKILL)
                    process.wait()
                    used.wall = time.monotonic() - began
                    return None, used
                time.sleep(_LOOK)
            used.wall = time.monotonic() - began
            return process.returncode, used

    def quads(self) -> set[Quad]:
        """Return all that the store holds but for what is of system time."""
        target = self.home.parent / f"{self.home.name}.nq"
        target.unlink(missing_ok=True)
        subprocess.run([*_PRISM, "export", str(target)], env=self._environment(), check=True, stdout=subprocess.DEVNULL)
        subprocess.run([*_PRISM, "owner", "stop"], env=self._environment(), check=True, stdout=subprocess.DEVNULL)
        return set(_timeless(target))

    def check(self) -> str:
        done = subprocess.run([*_PRISM, "check"], env=self._environment(), check=False, capture_output=True, text=True)
        return done.stdout.strip() or done.stderr.strip()

    def _environment(self) -> dict[str, str]:
        return {**os.environ, "PRISM_HOME": str(self.home), "PRISM_PID": "peps", "PRISM_TENANT": "default"}


def _timeless(exported: Path) -> Iterator[Quad]:
    with exported.open("rb") as file:
        for quad in parse(file, RdfFormat.N_QUADS):
            name = quad.predicate.value.rpartition("#")[2]
            created = name == "createdAt" and "/entity/" in str(quad.subject)
            if "/-/" not in str(quad.graph_name) and name not in _SYSTEM_TIME and not created:
                yield str(quad.subject), quad.predicate.value, str(quad.object), str(quad.graph_name)


def killed(store: Store, whole: int, kills: int, chance: random.Random) -> int:
    """Kill and begin again until it is done; return how many kills there were."""
    count = 0
    for share in sorted(chance.uniform(0.0, 0.98) for _ in range(kills)):
        wanted, late = int(share * whole), chance.uniform(0.0, _LATEST)
        reached: list[float] = []

        def stop(wanted: int = wanted, late: float = late, reached: list[float] = reached) -> bool:
            if not reached and store.written() >= wanted:
                reached.append(time.monotonic())
            return bool(reached) and time.monotonic() - reached[0] >= late

        code, used = store.run(stop)
        if code is not None:
            print(f"  done before the kill at {share:.0%}, exit code {code}", flush=True)
            continue
        count += 1
        print(f"  killed at {store.written() / whole:.1%} of the log, after {used.wall:.0f} s", flush=True)
    code, used = store.run()
    print(f"  left alone at last: exit code {code}, {used}", flush=True)
    return count


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--bundle", type=Path, default=PEPS)
    asked.add_argument("--kills", type=int, default=10)
    asked.add_argument("--commits", type=int, default=0, help="only the first so many of the first-parent line")
    asked.add_argument("--seed", type=int, default=5)
    asked.add_argument("--folder", type=Path)
    given = asked.parse_args()
    with TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        clone = folder / "clone"
        if not clone.exists():
            subprocess.run(["git", "clone", "-q", "--bare", str(given.bundle), str(clone)], check=True)
        listing = ["git", "-C", str(clone), "rev-list", "--first-parent", "--reverse", "HEAD"]
        line = subprocess.run(listing, check=True, capture_output=True, text=True).stdout.split()
        ref = line[given.commits - 1] if given.commits else line[-1]
        return _compare(Store(folder / "whole", clone, ref), Store(folder / "killed", clone, ref), given)


def _compare(whole: Store, broken: Store, given: argparse.Namespace) -> int:
    code, used = whole.run()
    print(f"left alone: exit code {code}, {used}", flush=True)
    _, used = whole.run()
    print(f"again: {used}", flush=True)
    expected = whole.quads()
    print(f"{len(expected)} quads without system time", flush=True)
    count = killed(broken, whole.written(), given.kills, random.Random(given.seed))
    found = broken.quads()
    missing, more = expected - found, found - expected
    print(f"killed {count} times: {len(found)} quads, {len(missing)} missing, {len(more)} too many")
    for quad in (*sorted(missing)[:5], *sorted(more)[:5]):
        print("  ", " ".join(quad)[:200])
    print(f"check of the killed one: {broken.check()}")
    return 1 if missing or more else 0


if __name__ == "__main__":
    sys.exit(main())
