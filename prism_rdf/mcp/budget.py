"""How an answer is kept to a size that an agent can read: pages with a cursor, and texts cut short; no verb is called.

A token is counted as four characters of the JSON of the answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from prism_rdf.errors import BadArgument

Answer = dict[str, Any]

DEFAULT_TOKENS = 4_000
CHARACTERS_PER_TOKEN = 4
_FRAME = 400  # characters of the names around a page
_STEPS = ((4_000, 100), (1_500, 40), (600, 20), (240, 10), (100, 5), (40, 2))  # longest text, longest list


def text_of(answer: Any) -> str:
    """Return the JSON that an agent reads."""
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":"), default=str)


def tokens_of(answer: Any) -> int:
    """Return how many tokens an answer, or a text, takes."""
    return -(-len(answer if isinstance(answer, str) else text_of(answer)) // CHARACTERS_PER_TOKEN)


def page(
    answer: Mapping[str, Any], name: str, items: Sequence[Any], ident: str, cursor: str, max_tokens: int
) -> Answer:
    """Return the answer with as many of the items behind ``cursor`` as fit, how many are left out, and the next cursor.

    A cursor names the last item that was shown, by its place and by what it has under ``ident``, so that a page begins
    behind it even where items came or went meanwhile. Raises BadArgument for a text that is none.
    """
    begin = _begin(items, ident, cursor)
    room = max_tokens * CHARACTERS_PER_TOKEN - len(text_of(answer)) - _FRAME
    shown: list[Any] = []
    for item in items[begin:]:
        fitting = shortened(item, max(room, 200)) if not shown else item
        room -= len(text_of(fitting)) + 1
        if shown and room < 0:
            break
        shown.append(fitting)
    left = len(items) - begin - len(shown)
    last = begin + len(shown) - 1
    following = f"{last}:{_named(items[last], ident)}" if left else None
    return {**answer, name: shown, "left_out": left, "cursor": following}


def _begin(items: Sequence[Any], ident: str, cursor: str) -> int:
    if not cursor:
        return 0
    place, colon, named = cursor.partition(":")
    if not colon or not place.isdecimal():
        raise BadArgument(
            f"{cursor!r} is no cursor", rule="a cursor comes with an answer", mend="leave it out to begin anew"
        )
    for index, item in enumerate(items):
        if named and _named(item, ident) == named:
            return index + 1
    return min(int(place) + 1, len(items))


def _named(item: Any, ident: str) -> str:
    return str(item.get(ident) or "") if ident and isinstance(item, Mapping) else ""


def fitted(answer: Answer, max_tokens: int) -> Answer:
    """Return the answer, with texts and lists cut short where it is too large, which it then says under ``shortened``.

    What a cursor says is never cut.
    """
    room = max_tokens * CHARACTERS_PER_TOKEN
    if len(text_of(answer)) <= room:
        return answer
    cursor = {"cursor": answer["cursor"]} if "cursor" in answer else {}
    note = {"shortened": "texts and lists are cut short; max_tokens shows more of them"}
    return {**shortened(answer, room - _FRAME), **cursor, **note}


def shortened(value: Any, most: int) -> Any:
    """Return a value whose JSON has at most so many characters, as far as cutting its texts and lists can do it."""
    found = value
    for longest, many in _STEPS:
        if len(text_of(found)) <= most:
            break
        found = _cut(value, longest, many)
    return found


def _cut(value: Any, longest: int, many: int) -> Any:
    if isinstance(value, str) and len(value) > longest:
        return f"{value[:longest]}… ({len(value) - longest} more characters)"
    if isinstance(value, Mapping):
        return {name: _cut(each, longest, many) for name, each in value.items()}
    if isinstance(value, list | tuple):
        kept = [_cut(each, longest, many) for each in value[:many]]
        whole_texts = all(isinstance(each, str) for each in value)
        return [*kept, f"… ({len(value) - many} more)"] if len(value) > many and whole_texts else kept
    return value
