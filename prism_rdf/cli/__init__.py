"""The command line door: parse, call one verb, render; what a verb does lives in ``prism_rdf.prism``.

``main`` is the entry point of the ``prism`` command. Nothing heavy is imported here: help must answer at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

_INTERRUPTED = 130  # 128 + SIGINT, as shells count
_BROKEN_PIPE = 141  # 128 + SIGPIPE


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status; every failure is one clear message on stderr, never a traceback."""
    args = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        status = _run(args)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        _silence_stdout()
        return _BROKEN_PIPE
    except KeyboardInterrupt:
        return _INTERRUPTED


def _run(args: Sequence[str]) -> int:
    from prism_rdf.cli.app import run
    from prism_rdf.cli.failure import report

    try:
        return run(args)
    except BrokenPipeError:
        raise
    except Exception as error:
        return report(error, as_json="--json" in args)


def _silence_stdout() -> None:
    """Point stdout nowhere, so that the interpreter's own flush at exit does not complain of the closed pipe."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
