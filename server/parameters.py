"""Parameters of a request, of the URL and of a form alike: each known, given once unless it may repeat, and typed."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

from flask import request

from prism_rdf.errors import BadArgument

from .asking import Scope
from .memento import accepted_datetime

OF_TIME = frozenset({"as-of", "known-at", "prefer-wip"})
OF_SCOPE = OF_TIME | {"pid", "dataset", "timeout", "max-rows"}
OF_FORMAT = frozenset({"format", "output", "results"})  # the last two are how SPARQLWrapper says it
_MOST_SECONDS = 86_400


def refuse_unknown(known: Collection[str]) -> None:
    """Raise BadArgument for a parameter that is not known here, so that a slip never widens a question."""
    for name in request.values:
        if name not in known:
            near = get_close_matches(name, known, 1)
            raise BadArgument(
                f"unknown parameter {name!r}" + (f"; did you mean {near[0]}?" if near else ""),
                rule=f"parameters are {', '.join(sorted(known))}",
                mend="check its spelling",
            )


def single(name: str) -> str | None:
    """Return a parameter, None where it is absent or blank. Raises BadArgument when it is given twice."""
    values = request.values.getlist(name)
    if len(values) > 1:
        raise BadArgument(f"parameter {name} is given {len(values)} times", rule="it is given once", mend="drop one")
    return values[0] if values and values[0].strip() else None


def many(name: str) -> tuple[str, ...]:
    return tuple(request.values.getlist(name))


def wanted_format() -> str | None:
    return next((found for name in ("format", "output", "results") if (found := single(name))), None)


def scope_of_request() -> Scope:
    """Return what the parameters and Accept-Datetime say; a parameter goes before the header. Raises BadArgument."""
    dataset = single("dataset") or "current"
    as_of = single("as-of")
    if as_of is None and dataset == "current":
        as_of = accepted_datetime()
    return Scope(
        pid=single("pid"),
        as_of=as_of,
        known_at=single("known-at"),
        prefer_wip=flag("prefer-wip"),
        dataset=dataset,
        default_graphs=many("default-graph-uri"),
        named_graphs=many("named-graph-uri"),
        timeout=_seconds("timeout"),
        max_rows=_count("max-rows"),
    )


def flag(name: str) -> bool:
    """Return whether a parameter says true; absent means false. Raises BadArgument."""
    text = single(name) or "false"
    if text not in ("true", "false"):
        raise BadArgument(f"{name} is {text!r}", rule=f"{name} is true or false", mend="write one of them")
    return text == "true"


def _seconds(name: str) -> float | None:
    text = single(name)
    try:
        value = None if text is None else float(text)
    except ValueError:
        value = -1.0
    if value is not None and not 0 < value <= _MOST_SECONDS:
        raise BadArgument(
            f"{name} is {text!r}", rule=f"{name} is in seconds, above 0, at most {_MOST_SECONDS}", mend="such as 30"
        )
    return value


def _count(name: str) -> int | None:
    text = single(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal()) or not 0 < len(text) < 13:
        raise BadArgument(f"{name} is {text!r}", rule=f"{name} is a whole number", mend="such as 1000")
    return int(text)
