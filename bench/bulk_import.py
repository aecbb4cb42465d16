"""How long an import of an export takes, beside the bare load of the same file; asserts nothing.

    python bench/bulk_import.py --states 10000 --per-entity 5
    python bench/bulk_import.py --home /var/tmp/million

A store is made as time_engine.py makes it, or the one in ``--home`` is taken; it is exported, and imported as a new
store, judged in memory and on disk. The reference is Oxigraph loading that file into a folder, with no question asked.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import tempfile
import time
from pathlib import Path
from unittest.mock import patch

from pyoxigraph import Store
from time_engine import clock, load_by_verbs

from prism_rdf import Prism
from prism_rdf.maintenance import importing
from prism_rdf.namespaces import prism


def options() -> argparse.Namespace:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--states", type=int, default=10_000)
    arguments.add_argument("--per-entity", type=int, default=5)
    arguments.add_argument("--home", type=Path, help="take the store in this folder")
    arguments.add_argument("--form", choices=["nquads", "trig", "jsonld"], default="nquads")
    arguments.add_argument("--on-disk", action="store_true", help="also with no memory to judge in")
    return arguments.parse_args()


def exported(chosen: argparse.Namespace, folder: Path) -> tuple[Path, int]:
    """Return the export, and how many states are in it."""
    path = folder / f"store.{chosen.form}"
    with Prism.open(chosen.home or folder / "home", exclusive=True) as store:
        if not store.commit_number:
            entities = range(chosen.states // chosen.per_entity)
            load_by_verbs(store.project("bench"), entities, chosen.per_entity, 1000)
        started = clock()
        quads = store.export(path, chosen.form)["quads"]
        states = sum(1 for _ in store.store.quads_for_pattern(None, prism("hasState"), None))
        print(f"export of {states:,} states, {quads:,} quads: {clock() - started:.1f} s", flush=True)
    return path, states


def row(what: str, took: float, states: int, bare: float) -> None:
    print(f"{what:<36}{took:>9.1f} s{states / took:>10,.0f} states/s{took / bare:>8.2f}", flush=True)


def main() -> None:
    chosen = options()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path, states = exported(chosen, folder)
        started = clock()
        Store(str(folder / "bare")).bulk_load(path=str(path), format=importing.FORMATS[chosen.form])
        bare = clock() - started
        row("bare load", bare, states, bare)
        for what, room in (("import, judged in memory", None), ("import, judged on disk", 0)):
            if room is None or chosen.on_disk:
                began, processor = clock(), time.process_time()
                with patch.object(importing, "memory_left", (lambda: 0) if room == 0 else importing.memory_left):
                    Prism.import_(path, folder / "new", format=chosen.form)
                row(what, clock() - began, states, bare)
                print(f"{'':<36}{time.process_time() - processor:>9.1f} s of the processor")
                shutil.rmtree(folder / "new")
        print(f"most memory in use: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")


if __name__ == "__main__":
    main()
