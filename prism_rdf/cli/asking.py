"""The commands that answer from the store: recall, state, history, entities."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from prism_rdf.cli.completing import entities as entities_begun
from prism_rdf.cli.options import AsOf, Common, EntityArgument, KnownAt, Limit, command, known_at_of
from prism_rdf.cli.terminal import (
    flag_part,
    interval,
    one_line,
    print_json,
    print_line,
    print_pairs,
    print_table,
    value_text,
)

Sealed = Annotated[bool, typer.Option("--sealed", help="Prefer sealed states to drafts (work in progress).")]

_SNIPPET = 240  # characters


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the application."""
    command(
        app,
        "recall",
        """
        prism recall "which database do we use"
        prism recall "grounding before the renumbering of ADR-808" --current
        prism recall grounding --explain --json | jq '.hits[].state_flag'
        """,
    )(recall)
    command(
        app,
        "state",
        """
        prism state ADR-808
        prism state ADR-808 --as-of 2025-10-30T00:00:00Z
        prism state ADR-808 --as-of 2025-10 --known-at 2026-01-01 --json
        """,
    )(state)
    command(
        app,
        "history",
        """
        prism history ADR-808
        prism history ADR-808 --json | jq '.[].props.status'
        """,
    )(history)
    command(
        app,
        "entities",
        """
        prism entities
        prism entities --type ADR --limit 20
        prism entities --type ADR --as-of 2025-10-30 --json
        """,
    )(entities)


def recall(
    common: Common,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="A question, or words to look for.")],
    as_of: AsOf = None,
    limit: Limit = 10,
    sealed: Sealed = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show which leg found each hit, and how the legs are.")
    ] = False,
    current: Annotated[bool, typer.Option("--current", help="Leave out what is historical.")] = False,
    kind: Annotated[str, typer.Option("--kind", metavar="NAME", help="Only memories of this kind.")] = "",
    type_name: Annotated[str, typer.Option("--type", metavar="TYPE", help="Only about entities of this type.")] = "",
    entity: Annotated[
        str, typer.Option("--entity", metavar="ENTITY", autocompletion=entities_begun, help="Only about this entity.")
    ] = "",
    source: Annotated[str, typer.Option("--source", metavar="TEXT", help="Only from sources that begin so.")] = "",
    flag: Annotated[
        str, typer.Option("--flag", metavar="FLAG", help="Only current, historical, wip, or none of these.")
    ] = "",
    cursor: Annotated[str, typer.Option("--cursor", metavar="TEXT", help="Go on behind an earlier answer.")] = "",
    no_times: Annotated[
        bool, typer.Option("--no-times", help="Do not take a time that the question says for --as-of.")
    ] = False,
    known_at: KnownAt = None,
    recipe: Annotated[
        str, typer.Option("--recipe", metavar="NAME", help="How rankings are fused: scores or rrf.")
    ] = "",
) -> int:
    """Find what was said: current, historical or wip."""
    wanted = {"recipe": recipe, "kind": kind, "type_name": type_name, "entity": entity, "source": source, "flag": flag}
    with common.project() as project:
        answer = project.recall(
            text,
            as_of=as_of,
            limit=limit,
            prefer_wip=not sealed,
            explain=explain,
            known_at=known_at_of(known_at),
            mode="current" if current else "all",
            cursor=cursor,
            times=not no_times,
            **wanted,
        )
    if common.json:
        print_json(answer)
        return 0
    said = f", since the question says {answer['time']['said']!r} (--no-times: now)" if answer["time"] else ""
    print_line((f"as of {answer['as_of']}{said}", "dim"))
    if not answer["hits"]:
        print("nothing found: try fewer or other words")
    for number, hit in enumerate(answer["hits"], start=1):
        _print_hit(number, hit, text, explain=explain)
    if answer["cursor"]:
        print_line((f"\nthere is more: --cursor {answer['cursor']}", "dim"))
    _print_legs(answer["legs"], everything=explain)
    return 0


def _print_hit(number: int, hit: Mapping[str, Any], query: str, *, explain: bool) -> None:
    from prism_rdf.recall import snippet

    print()
    print_line(
        (f"{number:>2}  ", ""),
        flag_part(hit["state_flag"]),
        (f"  {hit['score']:.4f}  {interval(hit['valid_from'], hit['valid_until'])}", "dim"),
    )
    lines = [
        (_title(hit["content"]), "bold"),
        (hit["state_summary"], ""),
        (snippet(hit["content"], query, _SNIPPET), ""),
        (hit["source"], "dim"),
    ]
    if explain:
        lines.append((", ".join(f"{leg} #{rank}" for leg, rank in hit["legs"].items()) + f"  {hit['id']}", "dim"))
        told = hit["explain"]
        boosts = ", ".join(f"{name} × {factor:.2f}" for name, factor in told["boosts"].items())
        lines.append((boosts, "dim"))
        lines.append((f"said after {told['newer_than']}, which it passed" if told["newer_than"] else "", "dim"))
    for line, style in lines:
        if line:
            print_line((one_line(line), style), indent=4)


def _title(content: str) -> str:
    """Return the first heading of a document, when it begins with one."""
    first = content.lstrip().partition("\n")[0]
    return first.lstrip("# ") if first.startswith("# ") else ""


def _print_legs(legs: Mapping[str, Mapping[str, Any]], *, everything: bool) -> None:
    """Say which legs are not well; with ``everything`` how each is, and why one is absent."""
    if everything:
        print()
        columns = ("status", "found", "behind", "detail")
        rows = [(name, *(leg.get(column) for column in columns)) for name, leg in legs.items()]
        print_table(["leg", *columns], rows, fixed=4)
        return
    for name, leg in legs.items():
        if leg["status"] not in ("ok", "absent"):
            print(one_line(f"note: {name} is {leg['status']}: {leg.get('detail', '')}"), file=sys.stderr)


def state(
    common: Common, entity: EntityArgument, as_of: AsOf = None, known_at: KnownAt = None, sealed: Sealed = False
) -> int:
    """Show an entity as it is, or as it was at a time."""
    with common.project() as project:
        found = project.state_as_of(entity, as_of, known_at_of(known_at), prefer_wip=not sealed)
    if common.json:
        print_json(found)
        return 0
    if found["state"] is None:
        print_line((found["reason"], ""))
        return 0
    _print_heading(found)
    print_pairs(
        {
            **{name: value_text(value) for name, value in found["props"].items()},
            "as of": found["as_of"] if as_of else "",
            "valid": interval(found["valid_from"], found["valid_until"]),
            "recorded": found["recorded_at"],
            "merged into": value_text(found.get("merged_into", "")),
            "uuid": found["uuid"],
            "state": found["state"],
        }
    )
    return 0


def _print_heading(found: Mapping[str, Any]) -> None:
    print_line((found["identifier"] or found["uuid"], "bold"), (f"  {found['type']}  ", ""), flag_part(found["flag"]))


def history(
    common: Common,
    entity: EntityArgument,
    known_at: KnownAt = None,
    merged: Annotated[bool, typer.Option("--merged", help="Also the states of what is merged into it.")] = False,
) -> int:
    """List an entity's states, and what each changed."""
    with common.project() as project:
        states = project.history(entity, known_at_of(known_at), include_merged=merged)
    if common.json:
        print_json(states)
        return 0
    before: dict[str, Mapping[str, Any]] = {}
    if states:
        _print_heading(next((each for each in reversed(states) if "merged_into" not in each), states[-1]))
    for found in states:
        of = f"  of {found['identifier']}, merged" if "merged_into" in found else ""
        when = f"\n{interval(found['valid_from'], found['valid_until'])}  "
        print_line((when, ""), flag_part(found["flag"]), (of, "dim"))
        print_pairs(_changes(before.get(found["entity"], {}), found["props"]), indent=4)
        before[found["entity"]] = found["props"]
    return 0


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, str]:
    """Return the properties whose value changed, with the new one; what is gone has none."""
    names = [*after, *(name for name in before if name not in after)]
    return {
        name: value_text(after[name]) if name in after else "(none)"
        for name in names
        if before.get(name) != after.get(name)
    }


def entities(
    common: Common,
    type_name: Annotated[
        str | None, typer.Option("--type", metavar="TYPE", help="Only of this type, such as ADR.")
    ] = None,
    limit: Limit = 100,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    merged: Annotated[bool, typer.Option("--merged", help="Also those that are merged into another one.")] = False,
) -> int:
    """List the entities with their current state."""
    with common.project() as project:
        found = project.list_entities(type_name, limit, as_of, known_at_of(known_at), include_merged=merged)
    if common.json:
        print_json(found)
        return 0
    rows = []
    for entity in found:
        props = entity.get("props") or {}
        title, status = (value_text(props.get(name, "")) for name in ("title", "status"))
        if "merged_into" in entity:
            status = f"merged into {value_text(entity['merged_into'])}"
        rows.append((entity["identifier"] or entity["uuid"], entity["type"], status, title or props.get("name", "")))
    print_table(["identifier", "type", "status", "title"], rows, fixed=2)
    if len(found) == limit:
        typer.echo(f"the first {limit}; there may be more: raise --limit", err=True)
    return 0
