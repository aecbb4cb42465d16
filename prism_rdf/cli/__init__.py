"""The command line door: parse, call one verb, render; what a verb does lives in ``prism_rdf.prism``.

``main`` is the entry point of the ``prism`` command. Nothing heavy is imported here: help must answer at once.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

_INTERRUPTED = 130  # 128 + SIGINT, as shells count


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status; every failure is one clear message on stderr, never a traceback."""
    args = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    from prism_rdf.cli.app import run
    from prism_rdf.cli.failure import report

    try:
        return run(args)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except Exception as error:
        return report(error, as_json="--json" in args)
