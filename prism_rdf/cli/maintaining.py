"""The commands that keep a store whole: backup, restore, export, import, rebuild, reindex, forget."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from prism_rdf.cli.options import Common, command, known_at_of
from prism_rdf.cli.progress import steps
from prism_rdf.cli.terminal import print_json, print_pairs, print_table


class Form(StrEnum):
    """How an export is written."""

    trig = "trig"
    nquads = "nquads"
    jsonld = "jsonld"


class Derived(StrEnum):
    """What can be computed anew."""

    current = "current"


FormatOption = Annotated[
    Form | None, typer.Option("--format", metavar="FORMAT", help="trig, nquads or jsonld; by the file's suffix.")
]


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the application."""
    for function, name, examples in (
        (backup, "backup", _BACKUP),
        (restore, "restore", _RESTORE),
        (export, "export", _EXPORT),
        (import_, "import", _IMPORT),
        (rebuild, "rebuild", _REBUILD),
        (reindex, "reindex", _REINDEX),
        (forget, "forget", _FORGET),
    ):
        command(app, name, examples)(function)


_BACKUP = """
prism backup /var/backups/prism-2026-05-01
prism backup ../copy --tenant acme --json | jq .commit
"""


def backup(
    common: Common, target: Annotated[Path, typer.Argument(metavar="TARGET", help="A folder that is not there yet.")]
) -> int:
    """Copy the store as it is at one commit, while others go on writing.

    The copy is verified and put back by `prism restore`. Search indexes are left out: they are made anew.
    """
    with common.store() as prism:
        done = prism.backup(os.path.abspath(target))
    _tell(common, done, f"backed up commit {done['commit']} to {done['target']}: {done['bytes']} bytes")
    return 0


_RESTORE = """
prism restore /var/backups/prism-2026-05-01 --home /srv/prism
prism restore ../copy --home /tmp/then --at 2026-04-30
prism restore ../copy --home /tmp/then --at 42
"""


def restore(
    common: Common,
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="A folder that `prism backup` made.")],
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="TIME", help="As it was at this system time; digits alone are a commit number."),
    ] = None,
) -> int:
    """Make a store from a backup, where there is none.

    Every file is verified before the store is visible. A store that is there is never written over.
    """
    from prism_rdf.prism import Prism

    settings = common.settings
    done = Prism.restore(source, settings.home, settings.tenant, at=known_at_of(at))
    _tell(common, done, f"restored {done['store']}: it ends with commit {done['commit']} of {done['recorded_at']}")
    return 0


_EXPORT = """
prism export store.trig
prism export --format nquads | gzip > store.nq.gz
prism export demo.jsonld --pid demo
"""


def export(
    common: Common,
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="Written whole or not at all.")] = None,
    form: FormatOption = None,
) -> int:
    """Write all that the store holds as RDF, with its commits; to stdout where no FILE is named.

    With --pid, one project. `prism import` makes the same store of it.
    """
    with common.store() as prism:
        chosen = form or _form_of(file) or Form.trig
        done = prism.export(os.path.abspath(file) if file else None, chosen.value, common.named_pid(prism))
    if file is None:
        sys.stdout.write(str(done["text"]))
    else:
        _tell(common, done, f"wrote {done['quads']} statements to {done['target']}")
    return 0


_IMPORT = """
prism import store.trig --home /srv/prism
prism import demo.jsonld --tenant acme
"""


def import_(
    common: Common,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that `prism export` wrote.")],
    form: FormatOption = None,
) -> int:
    """Make a store from an export, where there is none or an empty one.

    All of it is checked against the shapes and the invariants first; when anything is wrong, nothing is changed.
    That takes a second or two for a thousand states, and in memory five to twelve times the size of the file; where
    half of what is left is less than that, it is done on disk, and takes three times as long.
    """
    from prism_rdf.prism import Prism

    settings = common.settings
    with steps() as told:
        done = Prism.import_(file, settings.home, settings.tenant, format=form.value if form else None, told=told)
    _tell(common, done, f"imported {done['quads']} statements: {done['store']} ends with commit {done['commit']}")
    return 0


_REBUILD = """
prism rebuild current
prism rebuild current --pid demo
"""


def rebuild(
    common: Common,
    what: Annotated[Derived, typer.Argument(metavar="current", help="What to compute anew.")],
) -> int:
    """Compute the current graphs anew from the histories; `prism check` says whether one is stale.

    Of all projects, or of the one that --pid names. Search indexes are another thing.
    """
    with common.store() as prism:
        done = prism.rebuild(common.named_pid(prism))
    if common.json:
        print_json(done)
    else:
        print_table(["project", "stale entities"], list(done.items()), fixed=1)
    return 0


_REINDEX = """
prism reindex
prism reindex --pid demo --json
prism reindex --embedder sentence-transformers:all-MiniLM-L6-v2
"""


def reindex(
    common: Common,
    embedder: Annotated[
        str, typer.Option("--embedder", metavar="NAME", help="Change the model: minilm, sentence-transformers:NAME.")
    ] = "",
) -> int:
    """Build the search indexes anew from the store: after damage, or when recall says that a leg is not well.

    Of all projects, or of the one that --pid names. Vectors are made in the background, while the old ones serve.
    """
    with common.store() as prism:
        pid = common.named_pid(prism)
        pids = [pid] if pid else prism.projects()
        for each in pids:
            prism.project(each).reindex(embedder)
    if common.json:
        print_json({"reindexed": pids})
    else:
        print_table(["reindexed"], [(each,) for each in pids], fixed=1)
    return 0


_FORGET = """
prism forget ADR-7 --dry-run
prism forget ADR-7
prism forget 5d2f7c0a-43ce-4f4b-9a52-2b8f4f0b8f5e --json | jq '.going | length'
"""


def forget(
    common: Common,
    ref: Annotated[
        str, typer.Argument(metavar="REF", help="An entity (uuid, IRI, identifier, alias) or a memory (uuid, IRI).")
    ],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List what would go, and why; change nothing.")] = False,
) -> int:
    """Remove an entity or a memory for good, with what quotes it and what that was the cause of.

    The store is written anew without it, and reading its source again does not bring it back. Backups still hold it.
    """
    with common.project() as project:
        done = project.forget(ref, dry_run=dry_run)
    if common.json:
        print_json(done)
        return 0
    rows = [(going["what"], going["why"], going["says"] or going["node"]) for going in done["going"]]
    print_table(["what", "why", "says"], rows, fixed=1)
    print()
    print(f"{'would go' if dry_run else 'gone'}: {len(rows)}" + ("" if dry_run else f", by commit {done['commit']}"))
    for note in done["notes"]:
        print(f"note: {note}")
    return 0


def _form_of(file: Path | None) -> Form | None:
    from prism_rdf.maintenance.importing import SUFFIXES

    known = SUFFIXES.get(file.suffix.lower()) if file else None
    return Form(known) if known else None


def _tell(common: Common, done: Mapping[str, Any], line: str) -> None:
    if common.json:
        print_json(done)
        return
    print(line)
    print_pairs({"note": "; ".join(done.get("notes", ()))})
