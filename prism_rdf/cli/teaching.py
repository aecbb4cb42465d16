"""The commands of types: list what there is, teach a project its own, take them away, check files of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prism_rdf.cli.options import Common, command
from prism_rdf.cli.pages import Contents
from prism_rdf.cli.terminal import print_json, print_line, print_pairs, print_table
from prism_rdf.errors import BadArgument, NotFoundError, UnknownType, ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prism_rdf import Project

FINDINGS = 8
MOST_SHOWN = 20
_LIST = "list"
_Answer = Mapping[str, Any]

DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what it would do, and write nothing.")]
Accept = Annotated[
    bool,
    typer.Option(
        "--accept-misfits", help="Change the types although some of what holds now would be refused: it stays as it is."
    ),
]
Files = Annotated[list[Path], typer.Argument(metavar="FILE", help="Turtle files of types, properties and shapes.")]


class _Types(Contents):
    """``prism types`` and ``prism types TYPE`` list; ``prism types add``, … are commands of their own."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or args[0] not in (*self.commands, "--help"):
            args = [_LIST, *args]
        return super().parse_args(ctx, args)


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the application, under ``prism types``."""
    group = typer.Typer(cls=_Types, help=_HELP, epilog=_EPILOG)
    for function, name, examples in (
        (list_, _LIST, _EXAMPLES),
        (files, "files", _FILES),
        (add, "add", _ADD),
        (check, "check", _CHECK),
        (remove, "remove", _REMOVE),
    ):
        command(group, name, examples)(function)
    app.add_typer(group, name="types")


_HELP = "List the types, or one of them: prism types [TYPE]. Teach a project its own by files of Turtle."
_EPILOG = """
Examples:

\b
  prism types
  prism types ADR
  prism types add risks.ttl --pid atlas
"""
_EXAMPLES = """
prism types
prism types ADR
prism types --json | jq '.[] | {name, origin, properties}'
"""


def list_(
    common: Common,
    type_name: Annotated[
        str | None, typer.Argument(metavar="TYPE", help="Only this one, with all it declares.")
    ] = None,
) -> int:
    """List the types: where they are declared, their properties, and of one what it may refer to.

    Where there is no store or project yet, these are the types that a new one has.
    """
    with _somewhere(common) as project:
        found, held = project.list_types(), project.list_type_files()
    if type_name is not None:
        found = [_one_of(found, type_name)]
    if common.json:
        print_json(found)
    elif type_name is not None:
        _print_type(found[0])
    else:
        rows = [(each["name"], each["zone"], each["origin"], _properties(each)) for each in found]
        print_table(["type", "zone", "from", "properties"], rows, fixed=3)
        for file in held:
            if file["kinds"]:
                print_line((f"\nkinds of reference of {file['file']}", "bold"), (f": {', '.join(file['kinds'])}", ""))
        _print_problems(held)
    return 0


_FILES = """
prism types files
prism types files --json | jq '.[] | select(.problem)'
"""


def files(common: Common) -> int:
    """List the files of types of a project, and those in the folder of the store that were not taken in."""
    with _somewhere(common) as project:
        held = project.list_type_files()
    if common.json:
        print_json(held)
        return 0
    declared = ((each, ", ".join([*each["types"], *each["kinds"]])) for each in held)
    rows = [(e["file"], e["version"] or "-", e["commit"] or "-", e["recorded_at"] or "-", what) for e, what in declared]
    print_table(["file", "version", "commit", "since", "declares"], rows, fixed=4)
    _print_problems(held)
    return 0


_ADD = """
prism types add risks.ttl --pid atlas --dry-run
prism types add risks.ttl services.ttl --pid atlas
prism types add risks.ttl --accept-misfits
"""


def add(common: Common, paths: Files, dry_run: DryRun = False, accept_misfits: Accept = False) -> int:
    """Teach a project the types, properties, kinds of reference and shapes of some files, in one commit.

    A file replaces the one of its name. Files that are wrong, or that no longer allow what holds now, are refused;
    --dry-run shows what would be refused, with exit code 8. What is recorded stays as it is in any case.
    """
    from prism_rdf.cli.writing import founded

    texts = _texts(paths)
    if dry_run:
        with _somewhere(common) as project:
            return _tell(common, project.add_types(texts, dry_run=True))
    with founded(common, lambda project: project.add_types(texts, dry_run=True)) as project:
        return _tell(common, project.add_types(texts, accept_misfits=accept_misfits))


_REMOVE = """
prism types remove risks.ttl --dry-run
prism types remove risks.ttl
"""


def remove(
    common: Common,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The file, as `prism types files` lists it.")],
    dry_run: DryRun = False,
    accept_misfits: Accept = False,
) -> int:
    """Take a file of types away from a project.

    A type that entities have, and a kind that references have, cannot go. What was recorded is not touched.
    """
    with common.project() as project:
        done = project.remove_types(name, dry_run=dry_run, accept_misfits=accept_misfits)
    return _tell(common, done)


_CHECK = """
prism types check risks.ttl
prism types check types/*.ttl --pid atlas --json | jq '.findings[].message'
"""


def check(common: Common, paths: Files) -> int:
    """Check files of types without a write: what is wrong with them, and what holds now that they would refuse.

    They are checked together, with what the project has already. Exit code 8 on findings.
    """
    texts = _texts(paths)
    try:
        with _somewhere(common) as project:
            done = project.add_types(texts, dry_run=True)
    except ValidationError as error:
        findings = [{**vars(violation), "what": "declaration"} for violation in error.report]
        reasoner: _Answer = {"status": "not-asked", "message": ""}
    else:
        findings = [_finding(misfit) for misfit in done["misfits"]]
        reasoner = done["reasoner"]
    if common.json:
        print_json({"files": sorted(texts), "findings": findings, "reasoner": reasoner})
        return FINDINGS if findings else 0
    for finding in findings:
        print_line((finding["message"], "bold"))
        print_pairs({"at": finding["node"], "rule": finding["shape"], "mend": finding["mend"]}, indent=2)
    print(f"{_count(len(findings), 'finding')} in {_count(len(texts), 'file')}")
    if reasoner["message"]:
        print_line((f"{reasoner['message']}", "dim"))
    return FINDINGS if findings else 0


@contextmanager
def _somewhere(common: Common) -> Iterator[Project]:
    """Open the project, or where there is none yet one in memory, which knows what ships."""
    from prism_rdf.prism import Prism

    with suppress(NotFoundError), common.project() as project:
        yield project
        return
    with Prism.in_memory() as empty:
        yield empty.project("new")


def _texts(paths: Sequence[Path]) -> dict[str, str]:
    found: dict[str, str] = {}
    for path in paths:
        if path.name in found:
            raise BadArgument(
                f"two files are named {path.name}",
                rule="a file of types is known by its name, and replaces the one of that name",
                mend="rename one of them",
            )
        try:
            found[path.name] = path.read_text("utf-8")
        except FileNotFoundError as error:
            raise NotFoundError(
                f"there is no file {path}", rule="each FILE is Turtle", mend="check the path"
            ) from error
        except IsADirectoryError as error:
            raise BadArgument(f"{path} is a folder", rule="each FILE is Turtle", mend="name the files in it") from error
        except UnicodeDecodeError as error:
            raise BadArgument(f"{path} is not UTF-8", rule="Turtle is UTF-8", mend="save it as UTF-8") from error
    return found


def _tell(common: Common, done: _Answer) -> int:
    """Print what a change of types did or would do, and return the exit status."""
    would = bool(done["dry_run"])
    status = FINDINGS if would and done["misfit_count"] else 0
    if common.json:
        print_json(done)
        return status
    said = [
        f"{what}{'s' if len(names) > 1 else ''} {', '.join(names)} {how}"
        for what, changes in (("type", done["types"]), ("kind", done["kinds"]))
        for how, names in changes.items()
        if names
    ]
    if not would and done["commit"] is None:
        said, end = ["nothing changed, it was so already"], ""
    else:
        end = "nothing was written" if would else f"commit {done['commit']}"
    what = "; ".join(said) or "declares what it did"
    print_line((", ".join(done["files"]), "bold"), (f": {what}", ""), (f"  {end}".rstrip(), "dim"))
    if done["reasoner"]["status"] != "not-asked":
        print_line((done["reasoner"]["message"], "dim"))
    if done["misfit_count"]:
        verb = "would be refused from then on" if would else "would be refused now, and stay as they are"
        print_line((f"\n{_count(done['misfit_count'], 'misfit')}: what holds now and {verb}", "bold"))
        shown = done["misfits"][:MOST_SHOWN]
        rows = [(m["identifier"] or m["uuid"], m["property"] or "", m["value"], m["message"]) for m in shown]
        print_table(["entity", "property", "value", "why"], rows, fixed=2)
        if done["misfit_count"] > len(shown):
            print(f"… and {done['misfit_count'] - len(shown)} more")
    return status


def _finding(misfit: _Answer) -> dict[str, Any]:
    message = f"{misfit['identifier'] or misfit['uuid']} would be refused: {misfit['message']}"
    said = {name: misfit[name] for name in ("shape", "value", "mend", "what")}
    return {"node": misfit["entity"], "path": misfit["property"] or "", "message": message, **said}


def _one_of(found: Sequence[dict[str, Any]], name: str) -> dict[str, Any]:
    for each in found:
        if name in (each["name"], each["iri"]):
            return each
    raise UnknownType(
        f"there is no type {name!r}",
        rule="an entity has one of the types that the ontology of its project declares",
        mend=f"the types are: {', '.join(each['name'] for each in found)}",
        node=name,
    )


def _properties(found: _Answer) -> str:
    return ", ".join(sorted([*found["immutable"], *found["mutable"]]))


def _print_type(found: _Answer) -> None:
    print_line((found["name"], "bold"), (f"  {found['iri']}", "dim"))
    origin = f"{found['origin']}, version {found['version']}"
    print_pairs(
        {"zone": found["zone"], "ptype": found["ptype"], "from": origin, "below": ", ".join(found["superclasses"])}
    )
    print()
    rows = [(each["name"], _values(each), _says(each)) for each in found["properties"]]
    print_table(["property", "values", "notes"], rows, fixed=2)
    print_line(("\nmay refer to", "bold"))
    print_pairs({kind: ", ".join(targets) for kind, targets in found["can_reference"].items()}, indent=4)


def _values(prop: _Answer) -> str:
    from prism_rdf.namespaces import local_name

    return local_name(prop["class"].partition(":")[2]) if prop["class"] else prop["datatype"] or "any literal"


def _says(prop: _Answer) -> str:
    """Return in words what is special about a property."""
    words = (
        ("multi", "several values"),
        ("immutable", "never changes"),
        ("identifying", "names the entity"),
    )
    return ", ".join(word for key, word in words if prop[key])


def _print_problems(held: Sequence[_Answer]) -> None:
    for file in held:
        if file["problem"]:
            still = f"version {file['version']} still holds" if file["version"] else "nothing of it holds"
            print_line((f"\n{file['file']} was not taken in", "bold yellow"), (f" ({still}): {file['problem']}", ""))


def _count(number: int, thing: str) -> str:
    return f"{number or 'no'} {thing}{'' if number == 1 else 's'}"
