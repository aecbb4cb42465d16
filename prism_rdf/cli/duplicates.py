"""The command that proposes entities that may be one thing, merges those that a rule allows, and keeps others apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from prism_rdf.cli.options import AsOf, Common, Limit, command
from prism_rdf.cli.progress import progress
from prism_rdf.cli.terminal import print_json, print_line
from prism_rdf.errors import BadArgument

_INDENT = 8


def register(app: typer.Typer) -> None:
    """Add the command of this module to the application."""
    command(
        app,
        "duplicates",
        """
        prism duplicates --type ADR
        prism duplicates --merge --at-least 0.98 --dry-run
        prism duplicates --different ADR-7 ADR-8 --description 'two decisions of one title'
        """,
    )(duplicates)


def duplicates(
    common: Common,
    type_name: Annotated[
        str | None, typer.Option("--type", metavar="TYPE", help="Only of this type, such as ADR.")
    ] = None,
    as_of: AsOf = None,
    at_least: Annotated[
        float | None,
        typer.Option(
            "--at-least", metavar="SCORE", help="How likely two must be one: 0.5 to propose them, 0.97 to --merge them."
        ),
    ] = None,
    limit: Limit = 50,
    merge: Annotated[bool, typer.Option("--merge", help="Merge those that nothing tells apart.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what --merge would do, and do nothing.")] = False,
    different: Annotated[
        tuple[str, str] | None,
        typer.Option("--different", metavar="A B", help="Say that these two are two; they are not proposed again."),
    ] = None,
    description: Annotated[str, typer.Option("--description", metavar="TEXT", help="Why they are two.")] = "",
) -> int:
    """Propose entities that may be one thing, with the reasons.

    Names that differ by a number, a code or a year are never merged, and nothing is merged but by --merge.
    """
    _check(merge, dry_run, as_of, different, description)
    options: dict[str, Any] = {} if at_least is None else {"at_least": at_least}
    with common.project() as project:
        if different is not None:
            receipt = project.different(*different, description=description)
            _tell(common, receipt.as_dict(), f"{different[0]} and {different[1]} are two")
            return 0
        with progress("comparing", "compared") as told:
            if merge:
                answer = project.merge_duplicates(type_name, dry_run=dry_run, progress=told, **options)
            else:
                answer = project.duplicates(type_name, as_of, limit=limit, progress=told, **options)
    if common.json:
        print_json(answer)
    elif merge:
        _print_merged(answer)
    else:
        _print_proposed(answer)
    return 0


def _check(merge: bool, dry_run: bool, as_of: str | None, different: object, description: str) -> None:
    wrong = {
        "--merge and --different": merge and different is not None,
        "--dry-run without --merge": dry_run and not merge,
        "--as-of with --merge": merge and as_of is not None,
        "--description without --different": bool(description) and different is None,
    }
    for what, is_so in wrong.items():
        if is_so:
            raise BadArgument(
                f"{what} do not go together",
                rule="one looks at duplicates (--as-of), merges them as they are now (--merge, --dry-run), or says of "
                "two that they are two (--different, --description)",
                mend="leave one out",
            )


def _tell(common: Common, receipt: Mapping[str, Any], done: str) -> None:
    if common.json:
        print_json(receipt)
    else:
        print_line((done, "bold"), (_commit(receipt) or "  known already", "dim"))


def _commit(receipt: Mapping[str, Any]) -> str:
    return f"  commit {receipt['commit']}" if receipt["commit"] else ""


def _print_proposed(answer: Mapping[str, Any]) -> None:
    pairs, blocked = answer["pairs"], answer["blocked"]
    _print_pairs(pairs)
    compared = f"{blocked['entities']:,} entities, {blocked['compared']:,} of {blocked['possible']:,} pairs compared"
    if not pairs:
        print_line((f"no duplicates found: {compared}", ""))
        return
    total = f"{answer['total']:,} pair{'' if answer['total'] == 1 else 's'}"
    shown = total if len(pairs) == answer["total"] else f"{len(pairs)} of {total}"
    print_line((f"\n{shown}; {compared}", "dim"))
    print_line(("merge: a rule may (prism duplicates --merge); review: yours to judge", "dim"))
    print_line(("prism merge B A, or prism duplicates --different A B", "dim"))


def _print_merged(answer: Mapping[str, Any]) -> None:
    merged = answer["merged"]
    _print_pairs(merged)
    what = "would be merged" if answer["dry_run"] else "merged"
    print_line((f"{len(merged)} {what}, the second into the first", "bold"), (_commit(answer), "dim"))
    if answer["commit"]:
        undo = f"prism unmerge B takes one back, prism revert {answer['commit']} all of them"
        print_line((undo, "dim"))


def _print_pairs(pairs: Sequence[Mapping[str, Any]]) -> None:
    for pair in pairs:
        style = "green" if pair["decision"] == "merge" else "yellow"
        print_line(
            (f"{pair['score']:.3f}  ", ""),
            (f"{pair['decision']:6}  ", style),
            (f"{_name(pair, 'a')}  =  {_name(pair, 'b')}", "bold"),
            (f"  {pair['type']}", "dim"),
        )
        print_line(("; ".join(pair["reasons"]), ""), indent=_INDENT)


def _name(pair: Mapping[str, Any], side: str) -> str:
    """Return what an entity of a pair is called: its uuid where the two are called the same."""
    same = pair["a"]["identifier"] == pair["b"]["identifier"]
    called, uuid = pair[side]["identifier"], pair[side]["uuid"]
    return f"{called} ({uuid})" if same and called else called or uuid
