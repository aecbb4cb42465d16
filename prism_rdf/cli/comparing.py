"""The commands that compare and explain: diff, blame, timeline, log."""

from __future__ import annotations

import select
import signal
import sys
import time
from collections.abc import Callable, Mapping
from itertools import takewhile
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prism_rdf.cli.completing import entities as entities_begun
from prism_rdf.cli.options import AsOf, Common, EntityArgument, KnownAt, command, known_at_of
from prism_rdf.cli.terminal import one_line, print_json, print_line, print_pairs, print_table, value_text
from prism_rdf.cli.writing import name_of
from prism_rdf.errors import NotFoundError

if TYPE_CHECKING:
    from prism_rdf import Prism

_SECONDS_BETWEEN_LOOKS = 0.5
_ONLY = {"appeared": "to", "vanished": "from"}  # what there is to say of an entity that was not, or is no more
_NAMED = 3  # entities of a commit; --json lists them all


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the application."""
    command(
        app,
        "diff",
        """
        prism diff 2025-10-01
        prism diff 2025-10-01 2025-11-01 --entity ADR-7
        prism diff 2025-10 2025-11 --json | jq '.[] | select(.change == "appeared") | .identifier'
        """,
    )(diff)
    command(
        app,
        "blame",
        """
        prism blame ADR-7 status
        prism blame ADR-7 status --as-of 2025-10-30
        prism blame ADR-7 status --json | jq -r '.events[0].cause_commit'
        """,
    )(blame)
    command(
        app,
        "timeline",
        """
        prism timeline ADR-7
        prism timeline ADR-7 --known-at 12 --json
        """,
    )(timeline)
    command(
        app,
        "log",
        """
        prism log
        prism log --since 120 --pid demo
        prism log --follow --json | jq .verb
        """,
    )(log)


def diff(
    common: Common,
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="A time; a day means its end.")],
    after: Annotated[str | None, typer.Argument(metavar="AFTER", help="A later time; default now.")] = None,
    entity: Annotated[
        str | None,
        typer.Option(
            "--entity",
            metavar="ENTITY",
            autocompletion=entities_begun,
            help="Only this one; default the whole project.",
        ),
    ] = None,
    known_at: KnownAt = None,
) -> int:
    """Say what differs between two times."""
    with common.project() as project:
        found = project.diff(before, after, entity, known_at_of(known_at))
    if common.json:
        print_json(found)
        return 0
    if not found:
        print("no difference")
    for number, each in enumerate(found):
        if number:
            print()
        print_line((each["identifier"] or each["uuid"], "bold"), (f"  {each['type']}  {each['change']}", ""))
        print_pairs(_differences(each), indent=4)
    return 0


def _differences(found: Mapping[str, Any]) -> dict[str, str]:
    lines = _changes(found["props"], _ONLY.get(found["change"]))
    for edge, references in found["references"].items():
        by_kind: dict[str, list[Any]] = {}
        for each in references:
            by_kind.setdefault(each["kind"], []).append(each["target"])
        lines.update((f"{kind} {edge}", value_text(targets)) for kind, targets in by_kind.items())
    return lines


def _changes(props: Mapping[str, Mapping[str, Any]], only: str | None = None) -> dict[str, str]:
    """Return each property as from → to, or only one of the two."""
    shown = {name: {end: _shown(change[end]) for end in ("from", "to")} for name, change in props.items()}
    return {name: both[only] if only else f"{both['from']} → {both['to']}" for name, both in shown.items()}


def _shown(value: Any) -> str:
    return "(none)" if value in (None, []) else one_line(value_text(value))


def blame(
    common: Common,
    entity: EntityArgument,
    name: Annotated[str, typer.Argument(metavar="PROPERTY", help="A property of its type, such as status.")],
    as_of: AsOf = None,
    known_at: KnownAt = None,
) -> int:
    """Say which events set a property.

    With the value, since when it holds, what caused each event, and the commit that recorded it.
    """
    with common.project() as project:
        found = project.blame(entity, name, as_of, known_at_of(known_at))
        who = "" if common.json else name_of(project, found["entity"])
    if common.json:
        print_json(found)
        return 0
    print_line((who, "bold"), (f"  {found['property']}", ""))
    print_pairs({"value": _shown(found["values"]), "since": (found["since"] or "ever") if found["values"] else ""})
    for event in found["events"]:
        print()
        print_pairs(_event_lines(event))
    return 0


def _event_lines(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return an event as names and values, with what identifies it last."""
    return {
        "event": f"{event['event_type']} at {event['at'] or 'an unknown time'}",
        "why": event["description"],
        "source": event["source"],
        "memory": event["cause_memory"],
        "cause": event["cause_commit"],
        "draft": "sealed with other values" if event["props_drift"] else "",
        "guess": _promoted(event["review"]),
        "commit": f"{event['commit']}, recorded at {event['recorded_at']}, tier {event['tier']}",
        "id": event["event"],
    }


def _promoted(review: Mapping[str, Any] | None) -> str:
    """Return who promoted the guess that an event was, and the words that it was read from."""
    if review is None:
        return ""
    quotes = "; ".join(f"“{each['quote']}”" for each in review["quotes"] if each["quote"])
    edited = f", edited {', '.join(review['edited'])}" if review["edited"] else ""
    return f"promoted by {review['reviewer'] or 'nobody known'}{edited}" + (f": {quotes}" if quotes else "")


def timeline(common: Common, entity: EntityArgument, known_at: KnownAt = None) -> int:
    """List what happened to an entity.

    Its changes, names and references in valid time, oldest first, each change with its cause.
    """
    with common.project() as project:
        found = project.timeline(entity, known_at_of(known_at))
        who = "" if common.json else name_of(project, entity)
    if common.json:
        print_json(found)
        return 0
    print_line((who, "bold"))
    absent = True
    for entry in found:
        what, lines = _happened(entry, appeared=absent)
        absent = entry.get("void", absent)
        print_line((f"\n{entry['at'] or 'unknown'}  ", ""), (what, "bold"))
        print_pairs(lines, indent=4)
        for event in entry.get("events", ()):
            print_line((_by(event), "dim"), indent=4)
    return 0


def _happened(entry: Mapping[str, Any], *, appeared: bool) -> tuple[str, dict[str, str]]:
    """Return what an entry of a timeline is, and what it says."""
    via = {"said of": value_text(entry["via"])} if "via" in entry else {}
    if entry["kind"] == "alias":
        return f"{entry['alias_kind']} name {entry['edge']}", {"name": entry["surface_form"], **via}
    if entry["kind"] == "reference":
        return f"reference {entry['edge']}", {entry["reference_kind"]: value_text(entry["target"]), **via}
    if entry["kind"] == "merge":
        said = f"commit {entry['commit']}, recorded at {entry['recorded_at']}"
        ends = f"{value_text(entry['merged'])} → {value_text(entry['into'])}"
        return "merged, for all time", {"merge": ends, "why": entry["description"] or "", "source": said}
    events = entry["events"]
    what = ", ".join(dict.fromkeys(event["event_type"] for event in events)) or "what was said ends"
    return what, {} if entry["void"] else _changes(entry["changes"], "to" if appeared else None)


def _by(event: Mapping[str, Any]) -> str:
    said = (event["description"], event["source"], event["cause_commit"], event["cause_memory"])
    return ", ".join((f"commit {event['commit']}", *(one_line(each) for each in said if each)))


def log(
    common: Common,
    since: Annotated[int, typer.Option("--since", metavar="N", min=0, help="Only commits after number N.")] = 0,
    follow: Annotated[
        bool, typer.Option("--follow", help="Go on with each new commit as it is made, until Ctrl-C.")
    ] = False,
) -> int:
    """List the commits of the store, oldest first.

    With --pid only those of one project. With --follow each commit is one line, and with --json too one line of JSON.
    """
    with common.store() as prism:
        pid = common.named_pid(prism)
        if follow:
            return _follow(prism, since, pid, as_json=common.json)
        found = list(prism.log(since, pid))
        if common.json:
            print_json(found)
            return 0
        names = _Naming(prism)
        rows = [_row(entry, names) for entry in found]
    print_table(["commit", "recorded", "project", "verb", "entities"], rows, fixed=2)
    return 0


def _follow(prism: Prism, since: int, pid: str | None, *, as_json: bool) -> int:
    names, wait = _Naming(prism), _waiting()
    told: list[int] = []  # an interrupt as an exception could be lost in whatever it happens to meet
    before = signal.signal(signal.SIGINT, lambda number, frame: told.append(number))
    try:
        while not told:
            for entry in takewhile(lambda entry: not told, prism.log(since, pid)):
                since = int(str(entry["commit"]))
                _print_entry(entry, names, as_json=as_json)
            wait()
    except KeyboardInterrupt:
        pass  # it came before the handler, or from within this process
    finally:
        signal.signal(signal.SIGINT, before)
    return 0


def _print_entry(entry: Mapping[str, Any], names: _Naming, *, as_json: bool) -> None:
    if as_json:
        import json

        print(json.dumps(entry, ensure_ascii=False), flush=True)
        return
    commit, recorded, pid, verb, entities = _row(entry, names)
    print_line((f"{commit:>6}  ", "bold"), (f"{recorded}  ", "dim"), (f"{pid}  {verb}  {entities}", ""))
    sys.stdout.flush()


def _waiting() -> Callable[[], None]:
    """Return how to wait for the next look; it raises BrokenPipeError as soon as the reader of stdout went away."""
    try:
        poller = select.poll()
        poller.register(sys.stdout.fileno(), 0)
    except (OSError, ValueError):  # stdout is no file
        return lambda: time.sleep(_SECONDS_BETWEEN_LOOKS)

    def wait() -> None:
        if poller.poll(_SECONDS_BETWEEN_LOOKS * 1000):
            raise BrokenPipeError

    return wait


class _Naming:
    """What entities are called themselves, whatever they are merged into, each asked for once."""

    def __init__(self, prism: Prism) -> None:
        self._prism = prism
        self._known: dict[str, str] = {}

    def __call__(self, pid: str, entity: str) -> str:
        if entity not in self._known:
            try:
                found = self._prism.project(pid).resolve_alias(entity)
                self._known[entity] = str(found["chain"][0]["to"] or entity.rsplit("/", 1)[-1])
            except NotFoundError:  # forgotten since
                self._known[entity] = entity
        return self._known[entity]


def _row(entry: Mapping[str, Any], names: _Naming) -> tuple[int, str, str, str, str]:
    listed = [names(entry["pid"], each) for each in entry["entities"][:_NAMED]]
    more = len(entry["entities"]) - len(listed)
    shown = ", ".join(listed) + (f" and {more} more" if more else "")
    shown = shown or f"none; {entry['added']:,} quads added, {entry['removed']:,} removed"
    return entry["commit"], entry["recorded_at"], entry["pid"], entry["verb"], shown
