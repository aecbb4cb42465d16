"""What a saved query says of itself: its header, read into values; nothing is bound and nothing is asked here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from prism_rdf.errors import BadArgument
from prism_rdf.namespaces import LAYERS, TOLD
from prism_rdf.reach import TOKEN

TYPES = ("entity", "iri", "string", "integer", "date", "dateTime", "boolean", "property", "type", "kind")
GIVEN = frozenset({"now", *LAYERS})  # bound by the store itself
ANY = "any"  # the default that leaves a parameter open
_TAKEN = frozenset({"pid", "as_of", "known_at", "dataset", "timeout", "max_rows", "format", "output", "results"})
_TAKEN_TOO = frozenset({"name", "self", "param", "json", "home", "tenant", "help", "token", "idempotency_key"})
_HEADINGS = ("summary", "why", "parameters", "dataset", "columns")
_HEADING = re.compile(r"^#\+ (\w+): ?(.*)$")
_ITEM = re.compile(r"^#\+   (\S.*)$")
_PARAMETER = re.compile(r"([a-z][a-z0-9_]*) \((\w+)(?: = ([^,()]+))?(?:, such as ([^()]+))?\): (.+)")
_COLUMN = re.compile(r"(\w+): (.+)")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a query; without a ``default`` it has to be given, with the default ANY it may be left open."""

    name: str
    type: str
    description: str
    default: str | None = None
    example: str = ""

    @property
    def required(self) -> bool:
        return self.default is None

    def as_dict(self) -> dict[str, Any]:
        return {**vars(self), "required": self.required}

    def __str__(self) -> str:
        """Return how it is told in an error: ``days (integer = 30)``."""
        return f"{self.name} ({self.type}{'' if self.default is None else f' = {self.default}'})"


@dataclass(frozen=True)
class SavedQuery:
    """One saved query; ``origin`` is shipped or project, ``problem`` why it cannot be run, empty where it can."""

    name: str
    text: str
    summary: str
    why: str = ""
    dataset: Literal["current", "raw"] = "current"
    parameters: tuple[Parameter, ...] = ()
    columns: tuple[tuple[str, str], ...] = ()
    origin: str = "shipped"
    problem: str = ""

    @cached_property
    def mentioned(self) -> tuple[str, ...]:
        """Return the names of the parameters that the text has, each once."""
        tokens = (each[0] for each in TOKEN.finditer(self.text) if each.lastgroup == "variable")
        return tuple(dict.fromkeys(token[1:] for token in tokens if token.startswith("$")))

    def as_dict(self) -> dict[str, Any]:
        """Return what is told of it, without its text."""
        told = {name: value for name, value in vars(self).items() if name in _TOLD}
        parameters = [each.as_dict() for each in self.parameters]
        columns = [{"name": name, "description": said} for name, said in self.columns]
        return {**told, "parameters": parameters, "columns": columns}


_TOLD = ("name", "summary", "why", "dataset", "origin", "problem")


def check_query_name(name: str) -> str:
    """Return the name of a saved query unchanged. Raises BadArgument when it is not usable."""
    if not _NAME.fullmatch(name):
        raise BadArgument(
            f"{name!r} is not usable as the name of a query",
            rule="such a name starts with a letter or digit and has at most 64 of a-z 0-9 -",
            mend="choose one such as 'late-risks'",
        )
    return name


def read_query(name: str, text: str, origin: str) -> SavedQuery:
    """Return a saved query by its text. Raises BadArgument that says what is wrong with its header."""
    said, items = _headings(name, text)
    dataset = said.get("dataset", "current")
    if not said.get("summary"):
        raise _wrong(name, "says no summary", "#+ summary: what it finds, in one sentence")
    if dataset not in ("current", "raw"):
        raise _wrong(name, f"has the dataset {dataset!r}", "#+ dataset: current, or #+ dataset: raw")
    query = SavedQuery(
        name=name,
        text=text,
        summary=said["summary"],
        why=said.get("why", ""),
        dataset="raw" if dataset == "raw" else "current",
        parameters=tuple(_parameter(name, item) for item in items["parameters"]),
        columns=tuple(_column(name, item) for item in items["columns"]),
        origin=origin,
    )
    _check_parameters(query)
    return query


def _headings(name: str, text: str) -> tuple[dict[str, str], Mapping[str, list[str]]]:
    said: dict[str, str] = {}
    items: dict[str, list[str]] = {"parameters": [], "columns": []}
    heading = ""
    for line in text.splitlines():
        if (item := _ITEM.match(line)) and heading in items:
            items[heading].append(item[1])
        elif header := _HEADING.match(line):
            heading = header[1]
            if heading not in _HEADINGS or heading in said:
                raise _wrong(name, f"has the heading {heading!r}", f"each once: {', '.join(_HEADINGS)}")
            said[heading] = header[2].strip()
        elif line.startswith("#+"):
            raise _wrong(name, f"has the line {line!r}", "#+ heading: text, or an item of it after three spaces")
    return said, items


def _parameter(query: str, item: str) -> Parameter:
    read = _PARAMETER.fullmatch(item)
    if read is None or read[2] not in TYPES:
        form = "#+   days (integer = 30): what it means; the types are " + ", ".join(TYPES)
        raise _wrong(query, f"has the parameter {item!r}", form)
    if read[1] in _TAKEN | _TAKEN_TOO | GIVEN:
        raise _wrong(query, f"has a parameter named {read[1]!r}, which has a meaning already", "another name for it")
    return Parameter(read[1], read[2], read[5], (read[3] or "").strip() or None, (read[4] or "").strip())


def _column(query: str, item: str) -> tuple[str, str]:
    read = _COLUMN.fullmatch(item)
    if read is None:
        raise _wrong(query, f"has the column {item!r}", "#+   draft: what stands there")
    return read[1], read[2]


def _check_parameters(query: SavedQuery) -> None:
    """Raise BadArgument unless the parameters of the header are those of the text, each declared once."""
    declared = [each.name for each in query.parameters]
    unknown = [name for name in query.mentioned if name not in GIVEN and name not in declared]
    given = ", ".join(f"${each}" for each in sorted(GIVEN))
    if unknown:
        raise _wrong(
            query.name,
            f"uses ${unknown[0]}, which its header does not declare",
            f"#+   {unknown[0]} (string): what it means; declared without that are {given}",
        )
    unused = [name for name in declared if name not in query.mentioned]
    if unused or len(set(declared)) < len(declared):
        wrong = f"declares {unused[0]} and does not use it" if unused else "declares a parameter twice"
        raise _wrong(query.name, wrong, "one line for each $parameter of the text")
    layers = [name for name in query.mentioned if name in LAYERS and name not in ("current", *TOLD)]
    if query.dataset == "current" and layers:
        raise _wrong(query.name, f"uses ${layers[0]}, a graph as it is stored", "#+ dataset: raw")


def _wrong(name: str, what: str, form: str) -> BadArgument:
    return BadArgument(
        f"the query {name} {what}",
        rule="a saved query opens with a header of `#+` lines: summary, why, parameters, dataset, columns",
        mend=f"write {form}",
    )
