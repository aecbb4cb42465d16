"""The command that examines an installation and a store, and says what to do where something is not well."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from prism_rdf.cli.options import Common, command
from prism_rdf.cli.serving import version_of
from prism_rdf.cli.terminal import clean, console, on_terminal, print_json, print_line
from prism_rdf.errors import NotFoundError, PrismError

if TYPE_CHECKING:
    from prism_rdf import Prism
    from prism_rdf.storage.folder import StoreFolder

Status = Literal["ok", "note", "problem"]
FINDINGS = 8
_ROOM = 512 * 2**20  # bytes that a store wants to have free
_STYLES = {"ok": "black on green", "note": "black on cyan", "problem": "white on red"}
_VARIABLES = ("HOME", "TENANT", "PID", "TIER", "EMBEDDER", "MODEL", "OWNER", "OWNER_IDLE", "SERVICES", "DEBUG")
_LIMITS = "PRISM_QUERY_"


@dataclass(frozen=True)
class Finding:
    """One thing that was examined; ``problem`` keeps something from working, ``note`` is good to know."""

    part: str
    status: Status
    detail: str
    mend: str = ""


def register(app: typer.Typer) -> None:
    """Add the command of this module to the application."""
    command(
        app,
        "doctor",
        """
        prism doctor
        prism doctor --full --json | jq '.findings[] | select(.status != "ok")'
        """,
    )(doctor)


def doctor(
    common: Common,
    full: Annotated[
        bool, typer.Option("--full", help="Check the invariants of all projects too, as prism check does.")
    ] = False,
) -> int:
    """Examine the installation and the store, and say what to do.

    Exit code 8 when there is a problem; what is only missing for something optional is a note.
    """
    found: list[Finding] = []
    for part, examine in _EXAMINATIONS:
        found += _examined(part, lambda examine=examine: examine(common, full))  # type: ignore[misc]
    problems = sum(each.status == "problem" for each in found)
    if common.json:
        print_json({"well": not problems, "findings": [asdict(each) for each in found]})
    else:
        _print(found)
        told = "all is well" if not problems else f"{problems} problem{'s' if problems > 1 else ''}"
        print_line((told, "bold"))
    return FINDINGS if problems else 0


def _print(found: Sequence[Finding]) -> None:
    width = max(len(each.part) for each in found)
    if not on_terminal():
        for each in found:
            print(clean(f"{each.status:7}  {each.part:{width}}  {each.detail}"))
            if each.mend:
                print(clean(f"{'':7}  {'':{width}}  → {each.mend}"))
        return
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    for options in ({"no_wrap": True}, {"no_wrap": True, "style": "bold"}, {"overflow": "fold"}):
        grid.add_column(**options)
    for each in found:
        detail = Text(clean(each.detail))
        if each.mend:
            detail.append(f"\n→ {clean(each.mend)}", "dim")
        grid.add_row(Text(f" {each.status} ", _STYLES[each.status]), Text(clean(each.part)), detail)
    console().print(grid)


def _examined(part: str, examine: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    """Yield what is found; that it cannot be examined is a finding too."""
    try:
        yield from examine()
    except PrismError as error:
        yield Finding(part, "problem", error.message, error.mend)
    except OSError as error:
        mend = "mend the permissions, or choose another --home"
        yield Finding(part, "problem", f"{error.strerror}: {error.filename}", mend)


def _python(common: Common, full: bool) -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Finding("python", "ok", f"{version}, {sys.executable}")


def _packages(common: Common, full: bool) -> Iterator[Finding]:
    from importlib import metadata

    try:
        wanted = [text for text in metadata.requires("prism-rdf") or () if "extra ==" not in text]
    except metadata.PackageNotFoundError:
        yield Finding("packages", "problem", "prism-rdf is not installed", "pip install prism-rdf, or pip install -e .")
        return
    lacking = [text for text in wanted if not version_of(re.split(r"[^\w.-]", text)[0])[0].isdigit()]
    if lacking:
        mend = f"{sys.executable} -m pip install {' '.join(map(repr, lacking))}"
        yield Finding("packages", "problem", f"not installed: {', '.join(lacking)}", mend)
    else:
        yield Finding("packages", "ok", f"prism-rdf {version_of('prism-rdf')} and the {len(wanted)} that it needs")
    if version_of("whoosh")[0].isdigit():
        mend = f"{sys.executable} -m pip uninstall whoosh; {sys.executable} -m pip install --force-reinstall"
        yield Finding("packages", "problem", "whoosh and whoosh-reloaded share one name", f"{mend} whoosh-reloaded")


def _shipped(common: Common, full: bool) -> Iterator[Finding]:
    from prism_rdf.resources import FOLDERS, names

    counts = [f"{len(names(folder, '.rq' if folder == 'queries' else '.ttl'))} in {folder}" for folder in FOLDERS]
    yield Finding("files", "ok", f"the files that ship: {', '.join(counts)}")


def _environment(common: Common, full: bool) -> Iterator[Finding]:
    known = {f"PRISM_{name}" for name in _VARIABLES}
    given = sorted(name for name in os.environ if name.startswith("PRISM_"))
    strange = [name for name in given if name not in known and not name.startswith(_LIMITS)]
    if strange:
        mend = f"known are {', '.join(sorted(known))} and {_LIMITS}…"
        yield Finding("environment", "note", f"nobody reads {', '.join(strange)}", mend)
    from prism_rdf.config import query_limits

    query_limits()
    said = [f"{name}={os.environ[name]}" for name in given if name not in strange]
    yield Finding("environment", "ok", ", ".join(said) or "no PRISM_ variable is set")


def _model(common: Common, full: bool) -> Iterator[Finding]:
    from prism_rdf.config import embedder_setting
    from prism_rdf.recall import models

    setting = embedder_setting()
    if setting == "none":
        yield Finding("model", "note", "the vector leg of recall is switched off", "unset PRISM_EMBEDDER to have it")
    elif setting != "minilm":
        status, detail = _optional("sentence-transformers", "models of one's own")
        yield Finding("model", "ok" if status == "ok" else "problem", f"{setting}: {detail}", _EXTRA["transformers"])
    else:
        try:
            yield Finding("model", "ok", str(models.find()["model.onnx"]))
        except NotFoundError as error:
            yield Finding("model", "note", error.message, error.mend)


_EXTRA = {name: f"pip install 'prism-rdf[{name}]'" for name in ("postgres", "transformers", "langgraph")}


def _optional(distribution: str, what: str) -> tuple[Status, str]:
    version = version_of(distribution)
    there = version[0].isdigit()
    return ("ok", f"{distribution} {version}") if there else ("note", f"{distribution} is not installed: no {what}")


def _extras(common: Common, full: bool) -> Iterator[Finding]:
    java = shutil.which("java")
    if java:
        yield Finding("java", "ok", java)
    else:
        mend = "install a Java runtime, such as the package default-jre-headless"
        yield Finding("java", "note", "not found: the reasoner HermiT is not asked of a project's own types", mend)
    for extra, distribution, what in (
        ("postgres", "psycopg", "prism migrate from PostgreSQL"),
        ("transformers", "sentence-transformers", "embedding models of one's own"),
        ("langgraph", "langgraph", "adapter for LangGraph"),
    ):
        status, detail = _optional(distribution, what)
        yield Finding(extra, status, detail, "" if status == "ok" else _EXTRA[extra])


def _folder(common: Common, full: bool) -> Iterator[Finding]:
    settings = common.settings
    try:
        folder = common.folder()
    except NotFoundError as error:
        yield Finding("store", "note", error.message, error.mend)
        return
    if not os.access(folder.path, os.R_OK | os.W_OK | os.X_OK):
        mend = f"sudo chown -R {os.environ.get('USER', '$USER')} {folder.path}, or choose another --home"
        yield Finding("store", "problem", f"{folder.path} cannot be written by this user", mend)
    else:
        yield Finding("store", "ok", f"{folder.path}, tenant {settings.tenant}, {_size(_bytes(folder.path))}")
    open_to_all = folder.path.stat().st_mode & 0o002
    if open_to_all:
        yield Finding("store", "problem", f"anybody may write to {folder.path}", f"chmod -R o-w {folder.path}")
    free = shutil.disk_usage(folder.path).free
    needed = max(_ROOM, _bytes(folder.path))  # forgetting and restoring build a second store beside the first
    if free < needed:
        mend = "free some, or move the store to a larger disk"
        yield Finding(
            "disk", "problem" if free < _ROOM else "note", f"{_size(free)} free, {_size(needed)} wanted", mend
        )
    else:
        yield Finding("disk", "ok", f"{_size(free)} free")


def _owner(common: Common, full: bool) -> Iterator[Finding]:
    from prism_rdf import owner

    folder = _present(common)
    found = owner.status(folder) if folder is not None else None
    if found is not None:
        yield Finding("owner", "ok", f"{found.get('door', 'process')}, pid {found.get('pid')}")
    elif folder is not None:
        yield Finding("owner", "ok", "no process owns the store; the next command starts one")


def _present(common: Common) -> StoreFolder | None:
    try:
        return common.folder()
    except NotFoundError:
        return None


def _content(common: Common, full: bool) -> Iterator[Finding]:
    if _present(common) is None:
        return
    with common.store() as prism:
        projects = prism.projects()
        answers = f"it answers: commit {prism.commit_number}, {len(projects)} project{'s' * (len(projects) != 1)}"
        yield Finding("content", "ok", answers)
        for pid in projects:
            yield from _legs(prism, pid)
            if full:
                yield from _invariants(prism, pid)


def _legs(prism: Prism, pid: str) -> Iterator[Finding]:
    for name, leg in prism.project(pid).legs().items():
        detail = f"{name} leg is {leg['status']}{': ' * bool(leg['detail'])}{leg['detail']}"
        detail += "; it catches up with the next recall" if leg["behind"] and leg["status"] == "lagging" else ""
        status: Status = {"ok": "ok", "failed": "problem"}.get(leg["status"], "note")  # type: ignore[assignment]
        mend = "prism reindex" if status == "problem" else ""
        yield Finding(f"recall {pid}", status, detail, mend)


def _invariants(prism: Prism, pid: str) -> Iterator[Finding]:
    broken = prism.project(pid).check()
    if broken:
        first = ", ".join(dict.fromkeys(each["check"] for each in broken))
        yield Finding(f"check {pid}", "problem", f"{len(broken)} broken: {first}", f"prism check --pid {pid}")
    else:
        yield Finding(f"check {pid}", "ok", "every invariant holds")


def _bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def _size(size: float) -> str:
    """Return a number of bytes for eyes.

    >>> _size(1_600_000), _size(3)
    ('1.5 MiB', '3.0 B')
    """
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} GiB"


_Examine = Callable[[Common, bool], Iterator[Finding]]
_EXAMINATIONS: tuple[tuple[str, _Examine], ...] = (
    ("python", _python),
    ("packages", _packages),
    ("files", _shipped),
    ("environment", _environment),
    ("model", _model),
    ("extras", _extras),
    ("store", _folder),
    ("owner", _owner),
    ("content", _content),
)
