"""Time over HTTP as RFC 7089 (Memento) has it: Accept-Datetime in, Memento-Datetime and links out, and TimeMaps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import format_datetime, parsedate_to_datetime
from typing import Any
from urllib.parse import quote, urlencode

from flask import Response, json, request

from prism_rdf.clock import Instant
from prism_rdf.errors import BadTime

LINK_FORMAT = "application/link-format"
_SECOND = 1_000_000  # µs


def accepted_datetime() -> str | None:
    """Return the instant of the Accept-Datetime header as ISO text, None without it. Raises BadTime."""
    text = request.headers.get("Accept-Datetime")
    if text is None:
        return None
    try:
        moment = parsedate_to_datetime(text)
    except ValueError as error:
        raise BadTime(
            f"cannot read Accept-Datetime {text!r}",
            rule="it is a date of HTTP, in GMT",
            mend="write it like this: Thu, 30 Oct 2025 12:00:00 GMT",
        ) from error
    return Instant.of(moment.replace(tzinfo=moment.tzinfo or UTC)).iso()


def http_date(instant: Instant) -> str | None:
    """Return an instant as a date of HTTP, to the second; None where that has no form for its year.

    >>> http_date(Instant.parse("2025-10-30T23:59:59.999999Z"))
    'Thu, 30 Oct 2025 23:59:59 GMT'
    """
    try:
        moment = instant.as_datetime().replace(microsecond=0)
    except BadTime:
        return None
    return format_datetime(moment, usegmt=True)


def say_time(response: Response, instant: Instant | None, asked: str | None, timemap: str = "") -> None:
    """Add what RFC 7089 asks for: the URL is its own timegate; with an instant it is the memento of that instant.

    ``asked`` is the as-of that was answered, as text; ``timemap`` the URL of the list of all mementos.
    """
    original = _url_with(None)
    links = [f'<{original}>; rel="original timegate"']
    date = http_date(instant) if instant is not None else None
    if date is not None:
        memento = _url_with(asked)
        response.headers["Memento-Datetime"] = date
        response.headers["Content-Location"] = memento
        links.append(f'<{memento}>; rel="memento"; datetime="{date}"')
    if timemap:
        links.append(f'<{timemap}>; rel="timemap"; type="{LINK_FORMAT}"')
    response.headers["Link"] = ", ".join(links)


def _url_with(as_of: str | None) -> str:
    """Return the URL of this request at another time; None: without one."""
    others = [(name, value) for name, value in request.args.items(multi=True) if name != "as-of"]
    query = urlencode(others + ([("as-of", as_of)] if as_of else []), quote_via=quote)
    return f"{request.base_url}?{query}" if query else request.base_url


@dataclass(frozen=True)
class Memento:
    """One state of an entity: the address that shows it, and an instant at which it held."""

    url: str
    instant: Instant


def mementos(states: Iterable[Mapping[str, Any]], resource: str) -> list[Memento]:
    """Return one memento for each sealed state, oldest first: at its start, or the second before its end.

    A state of which neither is known, or whose year a date of HTTP cannot say, has none.
    """
    found = []
    for state in states:
        instant = _instant_of(state)
        if state["commit_status"] == "committed" and instant is not None and http_date(instant) is not None:
            found.append(Memento(f"{resource}?{urlencode({'as-of': instant.iso()}, quote_via=quote)}", instant))
    return sorted(found, key=lambda memento: memento.instant)


def _instant_of(state: Mapping[str, Any]) -> Instant | None:
    if state["valid_from"] is not None:
        return Instant.parse(state["valid_from"])
    if state["valid_until"] is not None:
        return Instant.parse(state["valid_until"]).plus(micros=-_SECOND)
    return None


def timemap_link_format(resource: str, timemap: str, found: list[Memento]) -> str:
    """Return the TimeMap in the format of RFC 7089, section 5."""
    lines = [
        f'<{resource}>; rel="original timegate"',
        f'<{timemap}>; rel="self"; type="{LINK_FORMAT}"' + _span(found),
    ]
    for index, memento in enumerate(found):
        ends = ("first ", index == 0), ("last ", index == len(found) - 1)
        rel = "".join(word for word, holds in ends if holds)
        lines.append(f'<{memento.url}>; rel="{rel}memento"; datetime="{http_date(memento.instant)}"')
    return ",\n".join(lines) + "\n"


def _span(found: list[Memento]) -> str:
    if not found:
        return ""
    return f'; from="{http_date(found[0].instant)}"; until="{http_date(found[-1].instant)}"'


def timemap_json(resource: str, timemap: str, found: list[Memento]) -> str:
    """Return the TimeMap in the JSON that Memento services use; its datetimes are ISO 8601."""
    listed = [{"datetime": memento.instant.iso(), "uri": memento.url} for memento in found]
    ends = {"first": listed[0], "last": listed[-1]} if listed else {}
    whole = {
        "original_uri": resource,
        "timegate_uri": resource,
        "timemap_uri": {"link_format": timemap, "json_format": f"{timemap}?format=json"},
        "mementos": {**ends, "list": listed},
    }
    return json.dumps(whole, ensure_ascii=False) + "\n"
