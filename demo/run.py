"""The demo: ingests this project's own decision records and asks what was true when, by plain `prism` commands.

Run it with `make demo`. It writes only under .demo/, which it empties first.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pygit2

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / ".demo"
DECISIONS = Path("docs/decisions")
RECORD = "ADR-101"  # renumbered, then superseded: its history has both
DAY_BEFORE = "2026-11-29"  # no record had been written

ENVIRON = os.environ | {
    "PRISM_HOME": str(PLACE / "home"),
    "PRISM_TENANT": "demo",
    "PRISM_PID": "prism-rdf",
    "COLUMNS": os.environ.get("COLUMNS", "120"),
}

TABLE = """
SELECT ?number ?status ?title WHERE {
  ?record a type:ADR ; prism:number ?number ; prism:status ?status ; prism:title ?title .
} ORDER BY ?number
"""


def prism(*arguments: str) -> str:
    """Run one command and return what it printed; stop the demo with its exit status when it fails."""
    command = [sys.executable, "-m", "prism_rdf.cli", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=ENVIRON, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        print(done.stdout, end="")
        raise SystemExit(done.returncode)
    return done.stdout


def show(*arguments: str) -> None:
    print(f"$ prism {shlex.join(arguments)}", flush=True)
    print(prism(*arguments), flush=True)


def heading(text: str) -> None:
    print(f"\n── {text} ".ljust(100, "─") + "\n", flush=True)


def source() -> Path:
    """Return what to ingest: the folder in its repository or, where there is no history, a plain copy of it."""
    lacks = ""
    if not (ROOT / ".git").exists():
        lacks = "This is no git checkout"
    elif pygit2.Repository(str(ROOT)).is_shallow:
        lacks = "This clone is shallow"
    if not lacks:
        return DECISIONS
    print(f"{lacks}, so the demo reads the records without their history: expect one state of each, and few old names.")
    shutil.copytree(ROOT / DECISIONS, PLACE / "decisions")
    return (PLACE / "decisions").relative_to(ROOT)


def earlier_instant() -> str:
    """Return an instant at which the record had another number, by its history; nothing where there was none."""
    states: list[dict[str, Any]] = json.loads(prism("history", RECORD, "--json"))
    return next((str(state["valid_from"]) for state in reversed(states) if state["identifier"] != RECORD), "")


def main() -> None:
    shutil.rmtree(PLACE, ignore_errors=True)
    PLACE.mkdir()

    heading("Ingest our own decision records, with their history in git")
    show("ingest", str(source()))
    then = earlier_instant()

    heading("Recall: each hit says whether it speaks of now or of the past")
    show("recall", "equal weights for the legs of recall, ADR-006", "--limit", "5")

    if then:
        heading(f"One record now, and as it was at {then}: other number, other status, same uuid")
    else:
        then = DAY_BEFORE
        heading(f"One record now, and on {then}, the day before it was written")
    show("state", RECORD)
    show("state", RECORD, "--as-of", then)

    heading("The same SPARQL query, of now and of then")
    query = PLACE / "decisions.rq"
    query.write_text(TABLE, encoding="utf-8")
    print(TABLE)
    name = str(query.relative_to(ROOT))
    show("sparql", "-f", name)
    show("sparql", "-f", name, "--as-of", then)

    print("The store is in .demo/home. Ask it more:")
    print("  PRISM_HOME=.demo/home PRISM_TENANT=demo .venv/bin/prism history ADR-101")


if __name__ == "__main__":
    main()
