"""The commands of evidence: file what a source says for or against a claim, show both sides, list what is contested."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

import typer

from prism_rdf.cli.options import AsOf, Common, EntityArgument, KnownAt, command, known_at_of
from prism_rdf.cli.terminal import one_line, print_json, print_line, print_table, value_text
from prism_rdf.cli.writing import Said, name_of, props_of, props_text, saying, told, when_text
from prism_rdf.errors import BadArgument

_STATUS_STYLES = {"AFFIRMATIVE": "green", "CONTESTED": "yellow", "CONTRADICTORY": "red"}
StatusOption = Annotated[
    str | None, typer.Option("--status", metavar="NAME", help="Only claims that stand so, such as contested.")
]


class Side(StrEnum):
    """Which side evidence takes."""

    supports = "supports"
    contradicts = "contradicts"


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the application."""
    for name, function, examples in _COMMANDS:
        command(app, name, examples)(function)


@saying("valid_from", "valid_until", "source", "tier", "quote", "confidence", "offsets")
def claim(
    common: Common,
    entity: EntityArgument,
    value: Annotated[str, typer.Argument(metavar="NAME=VALUE", help="The property and the value that is claimed.")],
    said: Said,
    stance: Annotated[Side, typer.Option("--stance", help="Which side the source takes.")] = Side.supports,
    memory: Annotated[
        str | None, typer.Option("--memory", metavar="MEMORY", help="The memory that it is read in: its IRI or uuid.")
    ] = None,
) -> int:
    """File what a source says for or against a claim.

    No state changes: prism evidence shows how the claim stands, with both sides.
    """
    given = props_of([value])
    [(name, text)] = given.items()
    if text is None:
        raise BadArgument("a claim has a value", rule="NAME= claims nothing", mend="say NAME=VALUE")
    said = {**said, "memory": memory} if memory else said
    with common.project() as project:
        who = "" if common.json else name_of(project, entity)
        receipt = project.claim(entity, name, text, stance=stance.value, **said)
    return told(common, receipt, who, f"evidence {stance.value} {props_text(given)}", when_text(said))


def evidence(
    common: Common,
    entity: EntityArgument,
    property: Annotated[str | None, typer.Argument(metavar="PROPERTY", help="Only about this property.")] = None,
    status: StatusOption = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
) -> int:
    """Show how claims about an entity stand, and who says what on both sides."""
    with common.project() as project:
        found = project.evidence(entity, property, as_of, known_at_of(known_at), status)
    if common.json:
        print_json(found)
        return 0
    print_line((str(found["identifier"] or found["uuid"]), "bold"), (f"  as of {found['as_of']}", "dim"))
    if not found["claims"]:
        print_line(("nothing is claimed of it here: prism claim files what a source says", "dim"))
    for each in found["claims"]:
        flag = f", {each['flag']}" if each["flag"] else ""
        print_line((f"\n{each['property']} {value_text(each['value'])}  ", ""), *_standing(each), (flag, "dim"))
        rows = [(side, *_statement(said)) for side in ("for", "against") for said in each[side]]
        print_table(["side", "tier", "source", "says", "from", "until"], rows, fixed=2)
    return 0


def _standing(claim: Mapping[str, Any]) -> list[tuple[str, str]]:
    sides = f" {claim['support']:.2f} for, {claim['contradiction']:.2f} against"
    return [(claim["status"], _STATUS_STYLES.get(claim["status"], "")), (sides, "dim")]


def _statement(said: Mapping[str, Any]) -> tuple[object, ...]:
    words = f"“{one_line(said['quote'])}”" if said["quote"] else ("the state" if said["kind"] == "state" else "")
    other = f"{said['says']}: {words}" if said.get("says") else words
    return said["tier"], said["source"] or said["memory"], other, said["valid_from"], said["valid_until"]


def claims(common: Common, status: StatusOption = None, as_of: AsOf = None, known_at: KnownAt = None) -> int:
    """List all claims that evidence was filed about, the worst first."""
    with common.project() as project:
        found = project.list_claims(status, as_of, known_at_of(known_at))
    if common.json:
        print_json(found)
        return 0
    rows = [
        (
            each["status"],
            each["identifier"] or each["uuid"],
            each["property"],
            value_text(each["value"]),
            f"{each['support']:.2f}",
            f"{each['contradiction']:.2f}",
            each["flag"],
        )
        for each in found
    ]
    print_table(["status", "entity", "property", "value", "for", "against", "flag"], rows, fixed=2)
    return 0


_COMMANDS = (
    (
        "claim",
        claim,
        """
        prism claim ADR-7 status=Accepted --source minutes-2026-02.md --quote 'we accepted it' --tier 2
        prism claim ADR-7 status=Accepted --stance contradicts --source audit.md --quote 'it never passed'
        prism claim ADR-7 owner=Ada --source 'talk with Ada' --valid-from 2026-01 --valid-until 2026-03
        """,
    ),
    (
        "evidence",
        evidence,
        """
        prism evidence ADR-7
        prism evidence ADR-7 status --as-of 2026-02-01
        prism evidence ADR-7 --status contested --json
        """,
    ),
    (
        "claims",
        claims,
        """
        prism claims
        prism claims --status contested --as-of 2026-02-01
        """,
    ),
)
