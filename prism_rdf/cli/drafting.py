"""The commands for work in progress: wip, seal, discard, drafts."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from prism_rdf.cli.options import Common, EntityArgument, command
from prism_rdf.cli.terminal import on_terminal, print_json, print_table
from prism_rdf.cli.writing import Props, Said, name_of, props_of, props_text, saying, told, when_text

if TYPE_CHECKING:
    from prism_rdf import Project

DraftArgument = Annotated[
    str, typer.Argument(metavar="DRAFT", help="The entity whose draft it is, or the uuid of the draft.")
]


class Origin(StrEnum):
    """Where a draft comes from."""

    session_intent = "session_intent"
    working_tree = "working_tree"
    explicit = "explicit"


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the application."""
    command(
        app,
        "wip",
        """
        prism wip ADR-7 status=Accepted
        prism wip ADR-7 'title=Use a graph store' --source session_intent
        prism wip ADR-7 status= --json | jq -r .wip
        """,
    )(wip)
    command(
        app,
        "seal",
        """
        prism seal ADR-7
        prism seal ADR-7 status=Accepted --valid-from 2025-11-01 --description 'as decided on Friday'
        """,
    )(seal)
    command(
        app,
        "discard",
        """
        prism discard ADR-7
        prism discard 5d2f7c0a-43ce-4f4b-9a52-2b8f4f0b8f5e
        """,
    )(discard)
    command(
        app,
        "drafts",
        """
        prism drafts
        prism drafts --stale-after-days 30
        prism drafts --json | jq -r '.[].wip'
        """,
    )(drafts)


@saying("idempotency_key")
def wip(
    common: Common,
    entity: EntityArgument,
    props: Props,
    said: Said,
    source: Annotated[Origin, typer.Option("--source", help="Where it comes from.")] = Origin.explicit,
    at: Annotated[str | None, typer.Option("--at", metavar="TIME", help="When it was worked on; default now.")] = None,
) -> int:
    """Begin the draft of an entity, or go on with it.

    An entity has at most one open draft, beside its sealed state. What is not given stays as it is in the draft.
    """
    given = props_of(props)
    with common.project() as project:
        who = "" if common.json else name_of(project, entity)
        receipt = project.wip(entity, given, source.value, at=at, **said)
    return told(common, receipt, who, f"draft {receipt['wip']}, {props_text(given)}")


@saying("event_type", "valid_from", "description", "cause_memory", "cause_commit", "tier", "idempotency_key")
def seal(
    common: Common,
    draft: DraftArgument,
    said: Said,
    props: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME=VALUE", help="What differs from the draft; NAME= leaves it out."),
    ] = None,
) -> int:
    """Seal a draft into the history.

    What it says holds from --valid-from (default now). The event says whether it differs from the draft.
    """
    given = props_of(props or ())
    with common.project() as project:
        who = "" if common.json else _name_of_draft(project, draft)
        receipt = project.seal(draft, given, **said)
    return told(common, receipt, who, ", ".join(filter(None, ("draft sealed", props_text(given)))), when_text(said))


@saying("idempotency_key")
def discard(common: Common, draft: DraftArgument, said: Said) -> int:
    """Close a draft without making history of it."""
    with common.project() as project:
        who = "" if common.json else _name_of_draft(project, draft)
        receipt = project.discard(draft, **said)
    return told(common, receipt, who, "draft discarded")


def _name_of_draft(project: Project, draft: str) -> str:
    """Return what the entity of an open draft is called; whatever else it may be, as it was given."""
    found = next((each for each in project.drafts() if each["wip"] == draft), None)
    return str(found["identifier"] or draft) if found else draft


def drafts(
    common: Common,
    stale_after_days: Annotated[
        int | None,
        typer.Option("--stale-after-days", metavar="N", min=0, help="Only those untouched for so many days."),
    ] = None,
) -> int:
    """List the open drafts, the longest untouched first."""
    with common.project() as project:
        found = project.drafts(stale_after_days)
    if common.json:
        print_json(found)
        return 0
    shown = len("2025-10-30") if on_terminal() else None  # so that the uuid stays whole in 80 columns
    rows = [(e["identifier"] or e["entity"], e["touched_at"][:shown], e["source"], e["wip"]) for e in found]
    print_table(["entity", "touched", "source", "draft"], rows, fixed=2)
    return 0
