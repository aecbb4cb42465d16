"""The commands about who may reach the store over HTTP: token create, list, revoke."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from prism_rdf.cli.options import Common, command
from prism_rdf.cli.pages import Contents
from prism_rdf.cli.terminal import print_json, print_pairs, print_table

if TYPE_CHECKING:
    from prism_rdf.tokens.keeping import Tokens


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the application, under ``prism token``."""
    what = "Let others reach the store over HTTP: create, list, revoke tokens."
    group = typer.Typer(cls=Contents, help=what, no_args_is_help=True)
    command(
        group,
        "create",
        """
        prism token create ada
        prism token create ci --scope read --scope write --namespace demo --expires 2027-06-30
        prism token create backup --scope admin --json | jq -r .secret
        """,
    )(create)
    command(
        group,
        "list",
        """
        prism token list
        prism token list --all --json
        """,
    )(list_tokens)
    command(
        group,
        "revoke",
        """
        prism token revoke ci
        """,
    )(revoke)
    app.add_typer(group, name="token")


def create(
    common: Common,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Who or what carries it; the audit log says it.")],
    scope: Annotated[
        list[str] | None, typer.Option("--scope", metavar="SCOPE", help="read, write, review or admin. [default: read]")
    ] = None,
    namespace: Annotated[
        list[str] | None, typer.Option("--namespace", metavar="PID", help="A project it reaches. [default: all]")
    ] = None,
    tier: Annotated[int, typer.Option("--tier", metavar="N", help="The highest tier it may claim, 1 to 3.")] = 2,
    expires: Annotated[
        str | None, typer.Option("--expires", metavar="TIME", help="Its last day, or the instant at which it ends.")
    ] = None,
    rate: Annotated[int, typer.Option("--rate", metavar="N", help="How many requests a minute it may make.")] = 1200,
) -> int:
    """Make a token, and show its secret: this once, for only a hash of it is kept.

    It is sent as "Authorization: Bearer SECRET". --scope and --namespace may be given several times; admin includes the
    other scopes.
    """
    token, secret = _tokens(common).create(
        name, scopes=scope or ["read"], namespaces=namespace or None, tier=tier, expires=expires, rate=rate
    )
    shown = token.as_dict(token.created_at)
    if common.json:
        print_json({**shown, "secret": secret})
    else:
        print_pairs({key: _words(shown, key) for key in ("name", "scopes", "namespaces", "tier", "expires_at")})
        print(f"\n{secret}\n\nKeep it now: it is not shown again. Send it as Authorization: Bearer {secret[:10]}…")
    return 0


def list_tokens(
    common: Common,
    all_of_them: Annotated[bool, typer.Option("--all", help="Also those that are revoked or have expired.")] = False,
) -> int:
    """List the tokens, never their secrets."""
    from prism_rdf.clock import SystemClock

    now = SystemClock().now()
    found = [each.as_dict(now) for each in _tokens(common).all()]
    shown = [each for each in found if all_of_them or each["status"] == "active"]
    if common.json:
        print_json(shown)
    elif not shown:
        print("there is no active token: `prism token create NAME` makes one")
    else:
        columns = ("name", "status", "scopes", "namespaces", "tier", "expires_at")
        print_table(list(columns), [[_words(each, column) for column in columns] for each in shown])
    return 0


def revoke(common: Common, token: Annotated[str, typer.Argument(metavar="TOKEN", help="Its name or its id.")]) -> int:
    """End a token, from the next request on."""
    from prism_rdf.clock import SystemClock

    revoked = _tokens(common).revoke(token)
    if common.json:
        print_json(revoked.as_dict(SystemClock().now()))
    else:
        print(f"revoked {revoked.name} ({revoked.id})")
    return 0


def _tokens(common: Common) -> Tokens:
    from prism_rdf.clock import SystemClock
    from prism_rdf.tokens.keeping import Tokens

    return Tokens(common.folder().path, SystemClock())


_NOTHING = {"namespaces": "all", "expires_at": "never"}


def _words(token: dict[str, Any], column: str) -> str:
    value = token[column]
    if value is None:
        return _NOTHING[column]
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
