"""The command that tells an agent's program of ``prism mcp``: one entry in its settings, all else in them as it was."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from prism_rdf.cli.options import Common, command
from prism_rdf.cli.terminal import json_text, print_json
from prism_rdf.config import DEFAULT_TENANT
from prism_rdf.errors import RefusedError


class Client(StrEnum):
    """The programs whose settings are known."""

    claude_code = "claude-code"
    claude_desktop = "claude-desktop"
    cursor = "cursor"
    vscode = "vscode"


def register(group: typer.Typer) -> None:
    """Add the command of this module to ``prism mcp``."""
    command(
        group,
        "install",
        """
        prism mcp install --client claude-code --pid atlas --dry-run
        prism mcp install --client claude-desktop --pid atlas --read-only
        prism mcp install --client vscode --pid atlas --file ~/atlas/.vscode/mcp.json
        """,
    )(install)


def install(
    common: Common,
    client: Annotated[Client, typer.Option("--client", help="The program that is to work with the store.")],
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="What the server is called there.")] = "prism",
    agent: Annotated[str, typer.Option("--agent", metavar="NAME", help="Who works through it; see prism mcp.")] = "",
    tier: Annotated[
        int | None,
        typer.Option("--tier", metavar="N", min=1, max=3, help="Highest tier that it may claim; see prism mcp."),
    ] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Offer only what changes nothing.")] = False,
    file: Annotated[
        Path | None, typer.Option("--file", metavar="FILE", help="The settings, where they lie elsewhere.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the settings as they would be; write nothing.")
    ] = False,
) -> int:
    """Tell an agent's program of this store, by an entry in its settings.

    Those of claude-code, cursor and vscode lie in the folder where the command is run, those of claude-desktop in the
    home of the user. All else in them stays; the file before is kept beside it. Settings that are not JSON are left
    alone.
    """
    options = ["--agent", agent] if agent else []
    options += ["--tier", str(tier)] if tier is not None else []
    options += ["--read-only"] if read_only else []
    path = (file.expanduser() if file is not None else settings_file(client)).resolve()
    before = _read(path)
    key = "servers" if client is Client.vscode else "mcpServers"
    servers = _section(before, key, path)
    entry = {**({"type": "stdio"} if client is Client.vscode else {}), **server(common, options)}
    after = {**before, key: {**servers, name: entry}}
    told: dict[str, Any] = {"client": client.value, "file": str(path), "changed": after != before, "dry_run": dry_run}
    told |= {"backup": None, "settings": after}
    if after != before and not dry_run:
        backup = _write(path, after)
        told["backup"] = str(backup) if backup else None
    if common.json:
        print_json(told)
    elif dry_run:
        print(json_text(after))
        typer.echo(f"dry run: nothing is written; this would be {path}", err=True)
    else:
        kept = f"; as it was: {told['backup']}" if told["backup"] else ""
        done = f"{path} now names {name!r}{kept}" if told["changed"] else f"{path} names {name!r} so already"
        print(f"{done}\nstart {client.value} again to have it")
    return 0


def server(common: Common, options: list[str]) -> dict[str, Any]:
    """Return how the program starts ``prism mcp``: by whole paths, for it may know no PATH and have another folder."""
    settings = common.settings
    script = Path(sys.executable).with_name("prism")
    start = [str(script)] if script.exists() else [sys.executable, "-m", "prism_rdf.cli"]
    args = [*start[1:], "mcp", "--home", str(settings.home.resolve())]
    args += ["--tenant", settings.tenant] if settings.tenant != DEFAULT_TENANT else []
    args += ["--pid", settings.pid] if settings.pid else []
    return {"command": start[0], "args": [*args, *options]}


def settings_file(client: Client, platform: str = sys.platform, environ: Mapping[str, str] | None = None) -> Path:
    """Return where the settings of a program lie.

    >>> settings_file(Client.claude_desktop, "linux", {"HOME": "/home/ada"}).as_posix()
    '/home/ada/.config/Claude/claude_desktop_config.json'
    """
    if client is not Client.claude_desktop:
        where = {Client.claude_code: ".mcp.json", Client.cursor: ".cursor/mcp.json", Client.vscode: ".vscode/mcp.json"}
        return Path(where[client])
    env = os.environ if environ is None else environ
    home = Path(env.get("HOME") or Path.home())
    folders = {"darwin": home / "Library" / "Application Support", "win32": Path(env.get("APPDATA", ""))}
    folder = folders.get(platform) or Path(env.get("XDG_CONFIG_HOME") or home / ".config")
    return folder / "Claude" / "claude_desktop_config.json"


def _read(path: Path) -> dict[str, Any]:
    """Return the settings; empty where there are none. Raises RefusedError for what is not a JSON object."""
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return {}
    except (UnicodeDecodeError, IsADirectoryError) as error:
        raise _foreign(path, str(error)) from error
    try:
        found = json.loads(text) if text.strip() else {}
    except ValueError as error:
        raise _foreign(path, str(error)) from error
    if not isinstance(found, dict):
        raise _foreign(path, "it is not an object")
    return found


def _section(settings: Mapping[str, Any], key: str, path: Path) -> dict[str, Any]:
    found = settings.get(key, {})
    if not isinstance(found, dict):
        raise _foreign(path, f"{key} is not an object")
    return found


def _foreign(path: Path, why: str) -> RefusedError:
    return RefusedError(
        f"{path} cannot be read as settings: {why}",
        rule="what is not understood is not written over",
        mend="mend it (JSON has no comments and no last comma), or add by hand what --dry-run shows of a new --file",
    )


def _write(path: Path, settings: Mapping[str, Any]) -> Path | None:
    """Write the settings in one rename, and return the copy of what was there, if anything."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{os.getpid()}.fresh")
    fresh.write_text(json_text(settings) + "\n", "utf-8")
    backup = None
    if path.exists():
        numbers = (f".{number}" if number else "" for number in range(10_000))
        backup = next(each for suffix in numbers if not (each := path.with_name(f"{path.name}.bak{suffix}")).exists())
        backup.write_bytes(path.read_bytes())
        for copy in (backup, fresh):  # what is in it may be nobody else's business
            copy.chmod(path.stat().st_mode & 0o777)
    fresh.replace(path)
    return backup
