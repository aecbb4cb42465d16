"""The commands of names and references: what a name means, what refers to what, what depends on it, and merges."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from prism_rdf.cli.completing import entities as entities_begun
from prism_rdf.cli.options import AsOf, Common, EntityArgument, KnownAt, command, known_at_of
from prism_rdf.cli.terminal import one_line, print_json, print_line, print_pairs, print_table, value_text
from prism_rdf.cli.writing import Said, saying, told

Affected = Mapping[str, Any]


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the application."""
    for name, function, examples in _COMMANDS:
        command(app, name, examples)(function)


def resolve(
    common: Common,
    name: Annotated[
        str, typer.Argument(metavar="NAME", autocompletion=entities_begun, help="A uuid, IRI, identifier or alias.")
    ],
    as_of: AsOf = None,
    known_at: KnownAt = None,
) -> int:
    """Say which entity a name means, and why.

    A name that was freed and is borne by another one since means whom it meant at --as-of. Merges are followed.
    """
    with common.project() as project:
        found = project.resolve_alias(name, as_of, known_at_of(known_at))
    if common.json:
        print_json(found)
        return 0
    print_line((found["identifier"] or found["uuid"], "bold"))
    steps = [name, *(step["to"] or step["entity"] for step in found["chain"])]
    chain = " → ".join(steps) if len(found["chain"]) > 1 else ""
    print_pairs({"why": found["why"], "chain": chain, "uuid": found["uuid"], "entity": found["entity"]})
    return 0


def references(
    common: Common,
    entity: Annotated[
        str | None, typer.Argument(metavar="ENTITY", autocompletion=entities_begun, help="From this one and to it.")
    ] = None,
    source: Annotated[
        str | None,
        typer.Option("--source", metavar="ENTITY", autocompletion=entities_begun, help="Only from this one."),
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", metavar="ENTITY", autocompletion=entities_begun, help="Only to this one.")
    ] = None,
    kind: Annotated[
        str | None, typer.Option("--kind", metavar="KIND", help="Only of this kind, such as SUPERSEDES.")
    ] = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
) -> int:
    """List the references that hold: of an entity both ways, or all."""
    with common.project() as project:
        found = project.list_references(source, target, kind, as_of, known_at_of(known_at), entity=entity)
    if common.json:
        print_json(found)
        return 0
    rows = [
        (
            _end(each, "source"),
            each["kind"],
            _end(each, "target"),
            each["valid_from"],
            each["valid_until"],
        )
        for each in found
    ]
    print_table(["source", "kind", "target", "from", "until"], rows, fixed=3)
    return 0


def _end(reference: Mapping[str, Any], end: str) -> str:
    """Return what an end is called, and of which merged entity it was said."""
    via = reference["via"].get(end)
    return value_text(reference[end]) + (f" (as {value_text(via)})" if via else "")


def impact(
    common: Common,
    entity: EntityArgument,
    kind: Annotated[
        list[str] | None, typer.Option("--kind", metavar="KIND", help="Only by this kind; may be repeated.")
    ] = None,
    depth: Annotated[int | None, typer.Option("--depth", metavar="N", min=1, help="At most so many steps.")] = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
) -> int:
    """Show what depends on an entity, directly and through others.

    Counted are DEPENDS_ON, IMPLEMENTS, EXTENDS, FORMALIZES and DOCUMENTS, whose source depends on the target, and
    SPECIFIES, RESOLVES and SUPERSEDES, whose target depends on the source. A mention (REFERENCES) counts where --kind
    names it.
    """
    with common.project() as project:
        found = project.impact(entity, as_of, known_at_of(known_at), kind or None, depth)
    if common.json:
        print_json(found)
        return 0
    count = len(found["affected"])
    print_line((value_text(found["entity"]), "bold"), (f"  as of {found['as_of']}", "dim"))
    below: dict[str, list[Affected]] = defaultdict(list)
    for each in found["affected"]:
        below[each["of"]["ref"]].append(each)
    _print_branches(below, found["entity"]["ref"], "")
    print_line((f"{count} depend on it" if count != 1 else "1 depends on it", "dim"))
    return 0


def _print_branches(below: Mapping[str, Sequence[Affected]], of: str, indent: str) -> None:
    branches = below.get(of, ())
    for number, each in enumerate(branches, start=1):
        last = number == len(branches)
        step = each["path"][-1]
        how = f"{step['kind']} it" if step["target"]["ref"] == of else f"it {step['kind']} this"
        name = value_text(each["entity"])
        print_line((f"{indent}{'└─' if last else '├─'} ", "dim"), (name, "bold"), (f"  {each['type']}, {how}", ""))
        _print_branches(below, each["entity"]["ref"], f"{indent}{'   ' if last else '│  '}")


@saying("tier", "source", "description", "cause_memory", "idempotency_key")
def merge(
    common: Common,
    duplicate: Annotated[
        str,
        typer.Argument(metavar="DUPLICATE", autocompletion=entities_begun, help="The entity that was entered twice."),
    ],
    into: Annotated[str, typer.Argument(metavar="ENTITY", autocompletion=entities_begun, help="The one that it is.")],
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would mean the other one.")] = False,
    said: Said,
) -> int:
    """Say that two entities are one thing, entered twice.

    Whatever names the first means the second from then on, for all valid time. Nothing of either is changed, and
    `prism unmerge` makes them two again. Entities of one name are told apart by uuid.
    """
    with common.project() as project:
        done = project.merge(duplicate, into, dry_run=dry_run, **said)
    name, other = _called(done["duplicate"]), _called(done["preferred"])
    if common.json or not dry_run:
        return told(common, done, name, f"is {other}, with {_counted(done['counts'])}")
    print_line((f"{name} → {other}", "bold"), ("  dry run: nothing is written", "dim"))
    print_pairs({what: _listed(what, done) for what in done["counts"]}, indent=2)
    print_line(("what differs", "bold"))
    values = done["differs"].items()
    rows = [(prop, _text(both["duplicate"]), _text(both["into"])) for prop, both in values]
    print_table(["property", f"{name} says", f"{other} says"], rows, fixed=1)
    for note in done["notes"]:
        print_line((f"note: {one_line(note)}", ""))
    return 0


@saying("idempotency_key")
def unmerge(
    common: Common,
    duplicate: Annotated[
        str,
        typer.Argument(
            metavar="DUPLICATE", autocompletion=entities_begun, help="The entity that is merged into another one."
        ),
    ],
    *,
    said: Said,
) -> int:
    """Make a merged entity one of its own again.

    What names it means it again, as before the merge; what was recorded of the other one meanwhile stays there.
    """
    with common.project() as project:
        receipt = project.unmerge(duplicate, **said)
    return told(common, receipt, duplicate, "is an entity of its own again")


def _called(entity: Mapping[str, Any]) -> str:
    return str(entity["identifier"] or entity["ref"])


def _text(value: Any) -> str:
    return "(none)" if value in (None, []) else one_line(value_text(value))


def _counted(counts: Mapping[str, int]) -> str:
    """Return how many there are of each, for eyes.

    >>> _counted({"names": 2, "memories": 1, "drafts": 0})
    '2 names, 1 memory'
    """
    words = {"names": "name", "references": "reference", "memories": "memory", "drafts": "draft"}
    words |= {"candidates": "candidate", "merged": "earlier merge"}
    said = [
        f"{n} {words[what] if n == 1 else what.replace('merged', 'earlier merges')}" for what, n in counts.items() if n
    ]
    return ", ".join(said) or "nothing else"


def _listed(what: str, done: Mapping[str, Any]) -> str:
    """Return how many of something would move, and the first of them."""
    shown = [_shown(what, each) for each in done["moves"][what]]
    more = done["counts"][what] - len(shown)
    return "; ".join([*shown, *([f"and {more} more"] if more > 0 else [])])


def _shown(what: str, each: Mapping[str, Any]) -> str:
    if what == "names":
        return f"{each['name']} ({each['kind']})"
    if what == "references":
        return f"{_end(each, 'source')} {each['kind']} {_end(each, 'target')}"
    if what == "memories":
        return f"“{one_line(each['content'])}”"
    if what == "candidates":
        return f"{each['kind']} {each['candidate'].rsplit('/', 1)[-1][:8]}"
    return value_text(each) if what == "merged" else str(each["wip"])


_COMMANDS = (
    (
        "resolve",
        resolve,
        """
        prism resolve ADR-7
        prism resolve 'the graph decision' --as-of 2025-10-30 --json
        """,
    ),
    (
        "references",
        references,
        """
        prism references ADR-7
        prism references --source ADR-7
        prism references --target ADR-3 --kind SUPERSEDES --as-of 2025-10-30
        """,
    ),
    (
        "impact",
        impact,
        """
        prism impact SPEC-20
        prism impact SPEC-20 --depth 2 --as-of 2025-10-30
        prism impact SPEC-20 --kind DEPENDS_ON --kind REFERENCES --json
        """,
    ),
    (
        "merge",
        merge,
        """
        prism merge 'Prism RDF' Prism --dry-run
        prism merge 'Prism RDF' Prism --description 'the same project, entered twice'
        """,
    ),
    (
        "unmerge",
        unmerge,
        """
        prism unmerge 'Prism RDF'
        prism unmerge 7e792054-b136-4048-b1c0-7f82f0ab7194 --json
        """,
    ),
)
