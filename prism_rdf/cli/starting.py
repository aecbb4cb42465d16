"""The command with which work starts: where the project stands, what is new, what wants attention."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from prism_rdf.cli.options import AsOf, Common, command, known_at_of
from prism_rdf.cli.terminal import flag_part, one_line, print_json, print_line, print_pairs, value_text


def register(app: typer.Typer) -> None:
    """Add the command of this module to the application."""
    command(
        app,
        "start",
        """
        prism start --agent claude
        prism start --since 2025-10-30 --json
        """,
    )(start)


def start(
    common: Common,
    agent: Annotated[
        str, typer.Option("--agent", metavar="NAME", help="Who starts: next time, what is new is what came after.")
    ] = "",
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="TIME", help="What is new since this system time; digits are a commit number."),
    ] = None,
    as_of: AsOf = None,
    budget: Annotated[
        int, typer.Option("--budget", metavar="N", help="Tokens that the answer may take, as JSON: 4 characters each.")
    ] = 1500,
) -> int:
    """Show where the project stands, what is new, and what wants attention."""
    with common.project() as project:
        found = project.start(agent, known_at_of(since), as_of, budget)
    if common.json:
        print_json(found)
        return 0
    _print_project(found, as_of)
    _print_changed(found)
    if found["open_wip"]:
        _heading("work in progress", _left(found, "open_wip"))
        for draft in found["open_wip"]:
            says = ", ".join(f"{name} = {value_text(value)}" for name, value in draft["says"].items())
            _item(draft["identifier"] or draft["wip"], f"{says}  touched {_day(draft['touched_at'])}")
    for reminder in found["rules_reminders"]:
        _heading(f"{reminder['category']}: {reminder['count']}", reminder["message"])
        for each in reminder["items"]:
            print_line((one_line(each), ""), indent=2)
    counts = found["counts"]
    types = [f"{number} {name}" for name, number in counts["entities"].items()]
    rest = counts["entities_total"] - sum(counts["entities"].values())
    types += [f"{rest} of other types"] if rest else []
    _heading("here are", "")
    print_pairs(
        {
            "entities": ", ".join(types) or "none",
            "memories": counts["memories"],
            "to review": counts["candidates"],
            "drafts": counts["open_wip"],
        },
        indent=2,
    )
    _heading("how to proceed", "")
    for step in found["how_to_proceed"]:
        print_line((f"- {step}", ""), indent=2)
    return 0


def _print_project(found: Mapping[str, Any], as_of: str | None) -> None:
    state = found["project"]
    said = f"  as of {found['as_of']}" if as_of else ""
    if state is None:
        print_line((found["pid"], "bold"), (f"  commit {found['commit']}{said}", "dim"))
        return
    at = (f"  commit {found['commit']}{said}", "dim")
    print_line((state["identifier"] or found["pid"], "bold"), ("  ", ""), flag_part(state["flag"]), at)
    print_pairs({name: value_text(value) for name, value in state["props"].items()}, indent=2)
    if state["wip"]:
        print_line(("draft of it", "bold"), indent=2)
        print_pairs({name: value_text(value) for name, value in state["wip"].items()}, indent=4)


def _print_changed(found: Mapping[str, Any]) -> None:
    since, changed = found["since"], found["changed"]
    after = (
        f"after commit {since['commit']} ({_day(since['recorded_at'])})" if since["commit"] else "from the beginning"
    )
    what = f"new {after}" if since["known"] else f"recently, {after}"
    least = "at least " if changed["at_least"] else ""
    total = f"{changed['commits']} commits, {least}{changed['entities_total']} entities"
    _heading(what, f"{total}, {changed['memories_total']} memories")
    for each in changed["entities"]:
        _item(each["identifier"] or each["uuid"], "; ".join(each["what"]))
    for memory in changed["memories"]:
        _item(memory["kind"], f"“{memory['content']}”")
    left = [name for name in ("changed", "memories") if found["left_out"].get(name)]
    if left:
        told = [f"{found['left_out'][name]} more {'entities' if name == 'changed' else name}" for name in left]
        print_line((f"… {' and '.join(told)}: prism log --since {since['commit']}", "dim"), indent=2)


def _left(found: Mapping[str, Any], name: str) -> str:
    left = found["left_out"].get(name)
    return f"{left} more: prism drafts" if left else ""


def _heading(what: str, more: str) -> None:
    print()
    print_line((what, "bold"), (f"  {more}" if more else "", "dim"))


def _item(name: str, said: str) -> None:
    print_line((one_line(name), "bold"), (f"  {one_line(said)}", ""), indent=2)


def _day(instant: str | None) -> str:
    return (instant or "")[:10]
