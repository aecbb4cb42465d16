"""How an error looks on stderr, for eyes and as JSON; which errors there are is in ``prism_rdf.errors``."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from typing import Any

from prism_rdf.errors import AmbiguousError, PrismError, RefusedError, UsageError, ValidationError


def report(error: Exception, *, as_json: bool) -> int:
    """Print the error to stderr and return the exit status it stands for."""
    if os.environ.get("PRISM_DEBUG"):
        traceback.print_exception(error)
    known = _as_prism_error(error)
    if as_json:
        from prism_rdf.cli.terminal import json_text

        print(json_text(known.as_dict()), file=sys.stderr)
    else:
        _print_lines(known)
    return known.exit_status


def _as_prism_error(error: Exception) -> PrismError:
    if isinstance(error, PrismError):
        return error
    explain = getattr(error, "format_message", None)
    if explain is not None:  # the command line could not be parsed
        option, context = getattr(error, "option_name", None), getattr(error, "ctx", None)
        if option is not None and context is None:  # the parser read no further, and knows not for which command
            rule = f"{option} is followed by as many values as it takes"
            return UsageError(explain(), rule=rule, mend="give them all: `prism COMMAND --help` shows how, by examples")
        command = context.command_path if context is not None else "prism"
        usage = context.get_usage().removeprefix("Usage: ") if context is not None else ""
        return UsageError(explain(), rule=usage, mend=f"see `{command} --help`")
    if isinstance(error, OSError) and error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return RefusedError(
            f"{error.strerror or 'no permission'}: {error.filename or 'the store'}",
            rule="a store's folder is read and written by the one who uses it",
            mend="mend the permissions, or choose another --home",
        )
    return PrismError(
        f"{type(error).__name__}: {error}",
        rule="this should not happen: it is a defect of prism, or of the machine it runs on",
        mend="run it again with PRISM_DEBUG=1 to see the details, and report them",
    )


def _print_lines(error: PrismError) -> None:
    from rich.console import Console
    from rich.text import Text

    from prism_rdf.cli.terminal import clean

    console = Console(stderr=True, soft_wrap=not sys.stderr.isatty(), highlight=False)
    console.print(Text.assemble(("error", "bold red"), ": ", clean(error.message)))
    for label, text in (("node", error.node), ("value", _value(error)), ("rule", error.rule), ("mend", error.mend)):
        if text and not (label == "node" and text in error.message):
            console.print(Text.assemble("  ", (label, "bold"), ": ", clean(text)))
    for line in _particulars(error):
        console.print(Text("    " + clean(line)))


def _value(error: PrismError) -> str:
    """Return the value that the one violation of a refused write is about."""
    return error.report[0].value if isinstance(error, ValidationError) and len(error.report) == 1 else ""


def _particulars(error: PrismError) -> list[str]:
    if isinstance(error, AmbiguousError):
        shown = [[candidate.get(key) for key in ("identifier", "uuid", "why")] for candidate in error.candidates]
        return ["  ".join(str(value) for value in candidate if value) for candidate in shown]
    if isinstance(error, ValidationError) and len(error.report) > 1:
        return [_violation_line(violation, error.node) for violation in error.report]
    return []


def _violation_line(violation: Any, told: str) -> str:
    """Return a violation as a line; the node that is ``told`` above it is left out, and its property is named."""
    node = "" if violation.node == told else violation.node
    where = " ".join(part for part in (node, _name_of(violation.path), violation.value) if part)
    text = f"{violation.message} ({violation.mend})" if violation.mend else str(violation.message)
    return f"{where}: {text}" if where else text


def _name_of(path: str) -> str:
    from prism_rdf.namespaces import local_name

    return local_name(path.strip("<>")) or path
