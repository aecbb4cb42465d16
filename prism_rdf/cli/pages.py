"""How the pages of ``--help`` look: commands by what one does with them, options apart; no command lives here.

The parser names the Python type of everything; what a person needs to know of it stands in the help text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from typer.core import TyperCommand, TyperGroup

_COMMON = re.compile(r"--(home|tenant|pid|json|help)\b")
_TYPE = re.compile(r" <[\w ]+(\[\w+\])?>$")  # not <former|synonym>, which are the words to choose from

SECTIONS: Mapping[str, Sequence[str]] = {
    "Start": ("start", "recall", "state", "entities"),
    "Look into time": ("history", "diff", "blame", "timeline", "explain", "log"),
    "Names and references": ("resolve", "references", "impact"),
    "Record": ("remember", "entity", "fact", "transition", "alias", "reference", "retire", "reopen"),
    "Evidence": ("claim", "evidence", "claims"),
    "Draft": ("wip", "seal", "discard", "drafts"),
    "Take back": ("correct", "unalias", "unreference", "retract", "revert", "forget"),
    "Review": ("review", "duplicates", "merge", "unmerge"),
    "Take in": ("ingest", "watch", "migrate"),
    "Ask": ("query", "add-query", "remove-query", "sparql", "running", "stop-query"),
    "Load and teach": ("update", "load", "graphs", "types", "check", "validate"),
    "Connect": ("mcp", "serve", "token"),
    "Keep": ("doctor", "backup", "restore", "export", "import", "rebuild", "reindex", "model", "owner", "version"),
}
_OTHERS = "Others"


class Page(TyperCommand):
    """The help of one command: its arguments, its own options, then those that every command has."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the usage line: an argument by its name, in brackets where it can be left out."""
        return [re.sub(r"^\{(.*)\}", r"\1", piece) for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the three lists."""
        write_options(self.get_params(ctx), ctx, formatter)


class Contents(TyperGroup):
    """The help of a command that has commands of its own; those of ``prism`` itself stand under SECTIONS."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options, then the commands."""
        write_options(self.get_params(ctx), ctx, formatter)
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write each command with the first sentence of its help, whole."""
        commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        told = {name: _sentence(found.help) for name, found in commands.items() if found and not found.hidden}
        if ctx.parent is not None:
            sections: dict[str, list[str]] = {"Commands": list(told)}
        else:
            placed = {name for names in SECTIONS.values() for name in names}
            sections = {title: [name for name in names if name in told] for title, names in SECTIONS.items()}
            sections[_OTHERS] = [name for name in told if name not in placed]
        width = max(map(len, told), default=0)
        for title, names in sections.items():
            if names:
                with formatter.section(title):
                    formatter.write_dl([(name.ljust(width), told[name]) for name in names])


def write_options(params: Iterable[Any], ctx: Any, formatter: Any) -> None:
    """Write arguments, options, and the options of every command, each under a heading of its own."""
    lists: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": [], "Options of every command": []}
    for param in params:
        record = param.get_help_record(ctx)
        if record is not None:
            name, text = record
            title = "Arguments" if param.param_type_name == "argument" else "Options"
            if title == "Options" and _COMMON.match(name):
                title = "Options of every command"
            lists[title].append(
                (
                    _TYPE.sub("", name) if title == "Arguments" else name,
                    text.removesuffix("  [required]").replace("; required]", "]"),
                )
            )
    for title, records in lists.items():
        if records:
            with formatter.section(title):
                formatter.write_dl(records)


def _sentence(text: str | None) -> str:
    """Return the first sentence of a help text, on one line.

    >>> _sentence("List what is there.  And more.")
    'List what is there.'
    """
    first = " ".join((text or "").split("\n\n")[0].split())
    return re.split(r"(?<=\.) ", first)[0]
