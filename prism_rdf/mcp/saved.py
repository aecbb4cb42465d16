"""The saved queries that ship, with what their headers say; they are run by SPARQL."""

from __future__ import annotations

import difflib
import re
from functools import cache
from pathlib import PurePosixPath

from prism_rdf import resources
from prism_rdf.errors import NotFoundError
from prism_rdf.mcp.budget import Answer

_FOLDER = "queries/analyst"
_HEADER = re.compile(r"^#\+ (\w+): ?(.*)$")
_ITEM = re.compile(r"^#\+   (\S.*)$")


@cache
def saved_queries() -> tuple[Answer, ...]:
    """Return every saved query: ``{"name", "summary", "why", "dataset", "parameters", "columns", "text"}``."""
    return tuple(_read(name) for name in resources.names(_FOLDER, ".rq"))


def saved_query(name: str) -> Answer:
    """Return one saved query. Raises NotFoundError, which suggests names that are spelt alike."""
    by_name = {each["name"]: each for each in saved_queries()}
    if name in by_name:
        return by_name[name]
    close = difflib.get_close_matches(name, by_name, n=1)
    meant = f"did you mean {close[0]!r}? " if close else ""
    raise NotFoundError(
        f"there is no saved query {name!r}",
        rule="a saved query is named by its file",
        mend=f"{meant}prism_queries lists them",
    )


def _read(file: str) -> Answer:
    text = resources.text(file)
    told: Answer = {"name": PurePosixPath(file).stem}
    heading = ""
    for line in text.splitlines():
        if item := _ITEM.match(line):
            told[heading] = [*(told[heading] or []), item[1]]
        elif header := _HEADER.match(line):
            heading = header[1]
            told[heading] = header[2]
    return {**told, "text": text}
