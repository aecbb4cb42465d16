"""The commands that record entities, changes, names, references and memories, and that take back what was recorded."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prism_rdf.cli.completing import entities as entities_begun
from prism_rdf.cli.options import Common, EntityArgument, KindArgument, SourceArgument, TargetArgument, command
from prism_rdf.cli.terminal import one_line
from prism_rdf.cli.writing import (
    BOUNDED_EVENT,
    EVENT,
    GUESS,
    Props,
    Said,
    founded,
    name_of,
    props_of,
    props_text,
    saying,
    told,
    when_text,
)
from prism_rdf.errors import BadArgument

if TYPE_CHECKING:
    from prism_rdf import Project

_SNIPPET = 60  # characters


class AliasKind(StrEnum):
    """Whether it was the name, or is another name."""

    former = "former"
    synonym = "synonym"


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the application."""
    for name, function, examples in _COMMANDS:
        command(app, name, examples)(function)


@saying(*EVENT)
def entity(
    common: Common,
    type_name: Annotated[str, typer.Argument(metavar="TYPE", help="What it is, such as ADR; see prism types.")],
    props: Props,
    said: Said,
) -> int:
    """Make an entity with its first state.

    A store or project that is not there yet is made.
    """
    given = props_of(props)
    with founded(common, lambda trial: trial.entity(type_name, given, **said)) as project:
        made = project.entity(type_name, given, **said)
        who = "" if common.json else name_of(project, made["uuid"])
    return told(common, made, who, f"new {type_name}, {props_text(given)}", when_text(said))


@saying("event_type", *BOUNDED_EVENT, *GUESS)
def fact(
    common: Common,
    entity: EntityArgument,
    values: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME=VALUE",
            help="One property. Repeat it for several values, which replace the old ones; NAME= takes them away.",
        ),
    ],
    said: Said,
) -> int:
    """Record one property of an entity.

    It holds from --valid-from (default now) until something later is said, or --valid-until.
    """
    given = props_of(values)
    if len(given) > 1:
        raise BadArgument(
            f"a fact is about one property, not {len(given)}",
            rule="what changes together is one transition",
            mend=f"use prism transition {entity} {' '.join(f'{name}=…' for name in given)}",
        )
    [(name, value)] = given.items()
    with common.project() as project:
        who = "" if common.json else name_of(project, entity)
        receipt = project.fact(entity, name, value, **said)
    return told(common, receipt, who, props_text(given), when_text(said))


@saying("event_type", *BOUNDED_EVENT, *GUESS)
def transition(common: Common, entity: EntityArgument, props: Props, said: Said) -> int:
    """Record that properties of an entity changed, as one event.

    They hold from --valid-from (default now) until something later is said, or --valid-until. A late word about the
    past changes the past only.
    """
    given = props_of(props)
    with common.project() as project:
        who = "" if common.json else name_of(project, entity)
        receipt = project.transition(entity, given, **said)
    return told(common, receipt, who, props_text(given), when_text(said))


@saying(*BOUNDED_EVENT)
def correct(common: Common, entity: EntityArgument, props: Props, said: Said) -> int:
    """Say that what was recorded is wrong.

    A correction outranks what it corrects, whenever that was said, over [--valid-from, --valid-until).
    """
    given = props_of(props)
    with common.project() as project:
        who = "" if common.json else name_of(project, entity)
        receipt = project.correct(entity, given, **said)
    return told(common, receipt, who, f"corrected, {props_text(given)}", when_text(said))


@saying(*EVENT)
def retire(common: Common, entity: EntityArgument, said: Said) -> int:
    """End an entity; only reopen ends that."""
    with common.project() as project:
        who = "" if common.json else name_of(project, entity)
        receipt = project.retire(entity, **said)
    return told(common, receipt, who, "retired", when_text(said))


@saying(*EVENT)
def reopen(common: Common, entity: EntityArgument, said: Said) -> int:
    """End a retirement: what still holds of the entity shows again."""
    with common.project() as project:
        who = "" if common.json else name_of(project, entity)
        receipt = project.reopen(entity, **said)
    return told(common, receipt, who, "open again", when_text(said))


@saying("idempotency_key")
def retract(
    common: Common,
    event: Annotated[str, typer.Argument(metavar="EVENT", help="Its IRI or uuid, as prism blame shows it.")],
    said: Said,
) -> int:
    """Stop believing one event: the history is told without it.

    What was believed until now can still be seen with --known-at.
    """
    with common.project() as project:
        receipt = project.retract(event, **said)
    return told(common, receipt, "event", f"{event} is no longer believed")


@saying("idempotency_key")
def revert(
    common: Common,
    commit: Annotated[int, typer.Argument(metavar="COMMIT", min=1, help="Its number, as prism log shows it.")],
    said: Said,
) -> int:
    """Stop believing all that a commit recorded.

    Its events, aliases, references and memories; the commit stays in the log.
    """
    with common.project() as project:
        receipt = project.revert(commit, **said)
    return told(common, receipt, f"commit {commit}", "no longer believed")


@saying("valid_from", "valid_until", "source", "cause_memory", "tier", *GUESS, "idempotency_key")
def alias(
    common: Common,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The other name, as it is written.")],
    entity: EntityArgument,
    said: Said,
    kind: Annotated[
        AliasKind, typer.Option("--kind", help="former: it was the name; synonym: it is another name.")
    ] = AliasKind.former,
) -> int:
    """Record another name of an entity.

    It was or is the name over [--valid-from, --valid-until); left out, since ever and for ever.
    """
    with common.project() as project:
        who = "" if common.json else name_of(project, entity)
        receipt = project.alias(name, entity, kind=kind.value, **said)
    called = "formerly called" if kind is AliasKind.former else "also called"
    return told(common, receipt, who, f"{called} {name}", when_text(said, "since ever"))


@saying("valid_from", "valid_until", "tier", "cause_commit", *GUESS, "idempotency_key")
def reference(
    common: Common,
    source: SourceArgument,
    kind: KindArgument,
    target: TargetArgument,
    said: Said,
    source_document: Annotated[
        str, typer.Option("--source-document", metavar="TEXT", help="The document that says so.")
    ] = "",
) -> int:
    """Record that an entity refers to another.

    It holds from --valid-from (default now). Which types may refer to which, and how: prism types TYPE.
    """
    with common.project() as project:
        ends = ["", ""] if common.json else [name_of(project, end) for end in (source, target)]
        receipt = project.reference(source, target, kind, source_document=source_document, **said)
    return told(common, receipt, ends[0], f"{kind} {ends[1]}", when_text(said))


@saying("source", "tier", "idempotency_key")
def remember(
    common: Common,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to remember, or - to read it from stdin.")],
    said: Said,
    kind: Annotated[str, typer.Option("--kind", metavar="NAME", help="What kind of text it is.")] = "note",
    created_at: Annotated[
        str | None, typer.Option("--created-at", metavar="TIME", help="When it was said; default now.")
    ] = None,
    about: Annotated[
        list[str] | None,
        typer.Option(
            "--about", metavar="ENTITY", autocompletion=entities_begun, help="What it is about; may be repeated."
        ),
    ] = None,
    speaker: Annotated[str, typer.Option("--speaker", metavar="NAME", help="Who said it, as in user or Ada.")] = "",
) -> int:
    """Keep a text for recall.

    A store or project that is not there yet is made.
    """
    content, named = _content(text), tuple(about or ())

    def write(project: Project) -> Any:
        return project.remember(content, kind, created_at, about=named, speaker=speaker, **said)

    with founded(common, write) as project:
        whom = "" if common.json else ", ".join(name_of(project, each) for each in named)
        receipt = write(project)
    short = one_line(content)
    short = short if len(short) <= _SNIPPET else f"{short[: _SNIPPET - 1]}…"
    return told(common, receipt, f"{kind} about {whom}" if whom else kind, short)


def _content(text: str) -> str:
    try:
        return sys.stdin.read() if text == "-" else text
    except UnicodeDecodeError as error:
        raise BadArgument("stdin is not UTF-8 text", rule="a memory is UTF-8", mend="save it as UTF-8") from error


_COMMANDS = (
    (
        "entity",
        entity,
        """
        prism entity ADR number=ADR-7 'title=Use a graph' status=Proposed --pid demo
        prism entity ADR number=ADR-8 'title=Keep drafts' tags=wip tags=time --valid-from 2025-10-01
        prism entity Location name=server1 port=8080 --json | jq -r .uuid
        """,
    ),
    (
        "fact",
        fact,
        """
        prism fact ADR-7 status=Accepted
        prism fact ADR-7 status=Frozen --valid-from 2025-12-20 --valid-until 2026-01-06
        prism fact ADR-7 tags=rdf tags=time --description 'tagged in review'
        """,
    ),
    (
        "transition",
        transition,
        """
        prism transition ADR-7 number=ADR-107 'title=Use a graph store' --event-type rename
        prism transition ADR-7 status=Accepted deciders=Ada deciders=Grace --valid-from 2025-11-01
        prism transition ADR-7 status=Accepted --cause-commit 9f2c1e7 --idempotency-key release-12
        """,
    ),
    (
        "correct",
        correct,
        """
        prism correct ADR-7 status=Rejected --valid-from 2025-11-01
        prism correct ADR-7 status= --valid-from 2025-11-01 --description 'it was never decided'
        """,
    ),
    (
        "retire",
        retire,
        """
        prism retire ADR-7
        prism retire ADR-7 --valid-from 2025-12-31 --description 'the service is gone'
        """,
    ),
    (
        "reopen",
        reopen,
        """
        prism reopen ADR-7
        prism reopen ADR-7 --valid-from 2026-02-01 --json
        """,
    ),
    (
        "retract",
        retract,
        """
        prism retract 7e792054-b136-5048-b1c0-7f82f0ab7194
        prism retract urn:prism:default/demo/event/7e792054-b136-5048-b1c0-7f82f0ab7194 --json
        """,
    ),
    (
        "revert",
        revert,
        """
        prism revert 12
        prism revert 12 --pid demo --json
        """,
    ),
    (
        "alias",
        alias,
        """
        prism alias 'the graph decision' ADR-7 --kind synonym
        prism alias PrismGR Prism --valid-until 2025-06-30 --source 'release notes'
        """,
    ),
    (
        "reference",
        reference,
        """
        prism reference ADR-7 SUPERSEDES ADR-3
        prism reference ADR-7 DEPENDS_ON ADR-5 --valid-from 2025-11-01 --source-document docs/adr/0007.md
        """,
    ),
    (
        "remember",
        remember,
        """
        prism remember 'We chose a graph because joins hurt' --about ADR-7 --pid demo
        prism remember 'The vote was 5 to 2' --kind minutes --created-at 2025-10-30 --source minutes.txt
        cat minutes.txt | prism remember - --kind minutes --created-at 2025-10-30
        """,
    ),
)
