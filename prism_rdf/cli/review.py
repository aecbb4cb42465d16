"""The commands of review: work through the queue in the terminal, list it, rule on candidates by their ids."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prism_rdf.cli.completing import entities as entities_begun
from prism_rdf.cli.failure import report
from prism_rdf.cli.options import Common, HomeOption, JsonOption, KnownAt, PidOption, TenantOption, command, known_at_of
from prism_rdf.cli.pages import Contents
from prism_rdf.cli.terminal import print_json, print_line, print_table
from prism_rdf.cli.writing import props_of
from prism_rdf.errors import BadArgument, PrismError

if TYPE_CHECKING:
    from prism_rdf import Project

_PARTIAL = 3
_SHORT = 8  # characters of a uuid that a list shows: enough to name a candidate by

_EXAMPLES = """
Examples:

\b
  prism review
  prism review --kind alias --as ada
  prism review list --status rejected
"""


class Kind(StrEnum):
    """What is guessed."""

    fact = "fact"
    alias = "alias"
    reference = "reference"


class Status(StrEnum):
    """Where a candidate stands; withdrawn: no clue speaks for it any more."""

    pending = "pending"
    promoted = "promoted"
    rejected = "rejected"
    withdrawn = "withdrawn"
    all = "all"


Candidates = Annotated[
    list[str], typer.Argument(metavar="CANDIDATE", help="Their uuids, or the first characters of them.")
]
KindOption = Annotated[Kind | None, typer.Option("--kind", help="Only guesses of this kind.")]
EntityOption = Annotated[
    str | None, typer.Option("--entity", metavar="ENTITY", autocompletion=entities_begun, help="Only guesses about it.")
]
As = Annotated[str | None, typer.Option("--as", metavar="NAME", help="Who reviews; default the name of the user.")]
Note = Annotated[str, typer.Option("--note", metavar="TEXT", help="Why, in words.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the application, under ``prism review``."""
    group = typer.Typer(cls=Contents, invoke_without_command=True, rich_markup_mode=None)
    group.callback(epilog=_EXAMPLES)(_review)
    for name, function, examples in _COMMANDS:
        command(group, name, examples)(function)
    app.add_typer(group, name="review")


def _review(
    ctx: typer.Context,
    kind: KindOption = None,
    entity: EntityOption = None,
    reviewer: As = None,
    home: HomeOption = None,
    tenant: TenantOption = None,
    pid: PidOption = None,
    json_output: JsonOption = False,
) -> int:
    """Work through what was guessed, one candidate at a time.

    Nothing that was guessed (tier 3) is believed until it is accepted here. Each is shown with the words that speak
    for it and with what is believed now; keys accept, reject, skip, edit, undo and quit. Elsewhere than on a terminal
    use list, show, accept, reject and undo.
    """
    ctx.obj = ctx.obj.with_later(Common(home, tenant, pid, json_output))
    if ctx.invoked_subcommand is not None:
        return 0
    common: Common = ctx.obj
    if common.json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise BadArgument(
            "one works through the queue on a terminal",
            rule="without one, candidates are listed and ruled on by their ids",
            mend="prism review list, then prism review accept CANDIDATE or prism review reject CANDIDATE",
        )
    from prism_rdf.cli.review_session import Session

    with common.project() as project:
        return Session(project, reviewer_of(reviewer), kind and kind.value, entity).run()


def reviewer_of(name: str | None) -> str:
    """Return who reviews: as said, else the name of the user. Raises BadArgument where that is not known."""
    if name is not None and name.strip():
        return name.strip()
    try:
        return getpass.getuser()
    except (OSError, KeyError) as error:
        raise BadArgument(
            "this user has no name", rule="a ruling names its reviewer", mend="say it: --as NAME"
        ) from error


def list_candidates(
    common: Common,
    kind: KindOption = None,
    status: Annotated[Status, typer.Option("--status", help="Where they stand.")] = Status.pending,
    entity: EntityOption = None,
    known_at: KnownAt = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="At most so many.")] = 50,
    cursor: Annotated[
        str | None, typer.Option("--cursor", metavar="CANDIDATE", help="Only those after this one, for the next page.")
    ] = None,
) -> int:
    """List what was guessed, the longest waiting first."""
    wanted = None if status is Status.all else status.value
    with common.project() as project:
        found = project.list_candidates(
            kind and kind.value,  # type: ignore[arg-type]
            wanted,
            entity,
            known_at=known_at_of(known_at),
            limit=limit,
            cursor=cursor,
        )
    if common.json:
        print_json(found)
        return 0
    if not found["candidates"]:
        print("nothing was guessed" if wanted is None else f"no candidate is {wanted}")
        return 0
    headings = ["candidate", "kind", "conf", *(["status"] if wanted is None else []), "guessed", "proposal"]
    print_table(headings, [_row(each, wanted is None) for each in found["candidates"]], fixed=len(headings) - 1)
    if found["cursor"]:
        print(f"{len(found['candidates'])} of {found['total']}; more: --cursor {found['cursor']}", file=sys.stderr)
    return 0


def _row(found: Mapping[str, Any], with_status: bool) -> list[object]:
    confidence = "" if found["confidence"] is None else f"{found['confidence']:.2f}"
    status = [found["status"]] if with_status else []
    proposal = found["proposal"] + _valid(found)
    return [found["uuid"][:_SHORT], found["kind"], confidence, *status, found["recorded_at"][:10], proposal]


def _valid(found: Mapping[str, Any]) -> str:
    """Return over which time what is proposed would hold, by its days; nothing where that is not known."""
    ends = (("from", found["valid_from"]), ("until", found["valid_until"]))
    said = " ".join(f"{word} {at[:10]}" for word, at in ends if at)
    return f" {said}" if said else ""


def show(
    common: Common,
    candidate: Annotated[str, typer.Argument(metavar="CANDIDATE", help="Its uuid, or the first characters of it.")],
    known_at: KnownAt = None,
) -> int:
    """Show a candidate: what speaks for it, what is believed now, and what was decided about it."""
    with common.project() as project:
        found = project.candidate(candidate, known_at=known_at_of(known_at))
    if common.json:
        print_json(found)
        return 0
    from prism_rdf.cli.review_card import print_card

    print_card(found)
    return 0


def accept(
    common: Common,
    candidates: Candidates,
    edits: Annotated[
        list[str] | None,
        typer.Option("--edit", metavar="NAME=VALUE", help="Correct it first, as value=Accepted; NAME= takes it out."),
    ] = None,
    note: Note = "",
    reviewer: As = None,
) -> int:
    """Promote candidates: what they propose is believed, at its own valid time.

    What can be edited: of a fact entity, property and value; of an alias entity, surface_form and alias_kind; of a
    reference source, reference_kind and target; of each valid_from and valid_until.
    """
    given = props_of(edits or ())
    if given and len(candidates) > 1:
        raise BadArgument("an edit is of one candidate", rule="each guess is edited alone", mend="give one candidate")
    return _rule(
        common, candidates, lambda project, each, who: _told(project, each, "promote", who, note, given), reviewer
    )


def reject(common: Common, candidates: Candidates, note: Note = "", reviewer: As = None) -> int:
    """Reject candidates: the same guess does not come back."""
    return _rule(common, candidates, lambda project, each, who: _told(project, each, "reject", who, note), reviewer)


def undo(common: Common, candidates: Candidates, note: Note = "", reviewer: As = None) -> int:
    """Take the last ruling on candidates back.

    What a promotion wrote is no longer believed, and they are pending again.
    """
    return _rule(common, candidates, lambda project, each, who: _told(project, each, "undo", who, note), reviewer)


def _told(
    project: Project, candidate: str, decision: Any, reviewer: str, note: str, edits: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    told = project.review(candidate, decision, reviewer=reviewer, note=note, edits=edits or None)
    return {**told, "proposal": project.candidate(told["candidate"])["proposal"]}


def _rule(
    common: Common,
    candidates: Sequence[str],
    ruling: Callable[[Project, str, str], dict[str, Any]],
    reviewer: str | None,
) -> int:
    """Rule on each; one that is refused does not stop the others."""
    who = reviewer_of(reviewer)
    done: list[dict[str, Any]] = []
    failed: list[int] = []
    with common.project() as project:
        for candidate in candidates:
            try:
                done.append(ruling(project, candidate, who))
            except PrismError as error:
                if len(candidates) == 1:
                    raise
                if candidate not in error.message:  # of several, say which
                    error.message = f"{candidate}: {error.message}"
                failed.append(report(error, as_json=common.json))
                continue
            if not common.json:
                _print_ruling(done[-1])
    if common.json:
        print_json(done[0] if len(candidates) == 1 else done)
    return (_PARTIAL if done else failed[0]) if failed else 0


def _print_ruling(told: Mapping[str, Any]) -> None:
    uuid = str(told["candidate"]).rsplit("/", 1)[-1][:_SHORT]
    outcome = f"  {told['status']}, commit {told['commit']}"
    print_line((uuid, "dim"), (f"  {told['proposal']}", "bold"), (outcome, "dim"))


_COMMANDS = (
    (
        "list",
        list_candidates,
        """
        prism review list
        prism review list --kind fact --entity ADR-7
        prism review list --status all --json | jq -r '.candidates[].proposal'
        """,
    ),
    (
        "show",
        show,
        """
        prism review show 5d2f7c0a
        prism review show 5d2f7c0a --known-at 12
        """,
    ),
    (
        "accept",
        accept,
        """
        prism review accept 5d2f7c0a
        prism review accept 5d2f7c0a --edit value=Rejected --edit valid_from=2025-11-01
        prism review accept 5d2f7c0a 70fd2a1b --as ada --note 'the minutes say so'
        """,
    ),
    (
        "reject",
        reject,
        """
        prism review reject 5d2f7c0a
        prism review reject 5d2f7c0a 70fd2a1b --note hearsay
        """,
    ),
    (
        "undo",
        undo,
        """
        prism review undo 5d2f7c0a
        prism review undo 5d2f7c0a --note 'accepted by mistake' --as ada
        """,
    ),
)
