"""Who said a memory, in which series, and where in it: read from what the graph holds of it; nothing is ranked here.

A series is what was said one after the other in one place: a chat session, a document. Its name is the ``source`` up to
``#``, and up to ``@`` unless the memory is part of a document, whose versions are series of their own. What was said
by a speaker without a source belongs to the talk of its day. Within a series memories are ordered by when they were
said, then by the numbers behind ``#`` in the source, then by when they were recorded.
"""

from __future__ import annotations

import re

from prism_rdf.clock import Instant

# Kinds of memory that are part of a document: when their source stops saying so, their interval is ended.
FOLLOWED_KINDS = frozenset({"document", "section", "passage"})

_NUMBER = re.compile(r"\d+")
_SPEAKER = re.compile(
    r"\s*(?:\[[^\]\n]{1,40}\]\s*)?([^\W\d_][\w.'-]{0,30}(?: [^\W\d_][\w.'-]{0,30})?)(?: \([^)\n]{1,40}\))?: "
)
_FIRST, _MOST = 2**31, 2**31 - 1


def series_of(source: str, kind: str, speaker: str = "", said: Instant | None = None) -> str:
    """Return the name of the series of a memory; empty when it stands alone.

    >>> series_of("chat-7/monday#12", "turn"), series_of("docs/a.md@9b82#char=0,40", "passage")
    ('chat-7/monday', 'docs/a.md@9b82')
    >>> series_of("chat-7@12", "turn"), series_of("", "note")
    ('chat-7', '')
    """
    name = source.partition("#")[0]
    if kind not in FOLLOWED_KINDS:
        name = name.partition("@")[0] or name
    if not name and speaker and said is not None:
        return f"{kind} {said.iso()[:10]}"
    return name


def place_of(source: str) -> int:
    """Return a number that orders what was said at one time in one series: by the numbers behind ``#``, else ``@``.

    >>> place_of("chat-7#9") < place_of("chat-7#10") < place_of("chat-7#10.2")
    True
    """
    _, sign, place = source.partition("#")
    if not sign:
        place = source.partition("@")[2]
    numbers = [min(int(digits[:10]), _MOST) for digits in _NUMBER.findall(place)[:2]] + [0, 0]
    return numbers[0] * _FIRST + numbers[1]


def speaker_of(speaker: str, content: str, kind: str) -> str:
    """Return who said a memory: what the graph says, else the name that a line of talk begins with.

    >>> speaker_of("", "Ada (2025-03-01): I moved to Berlin", "note"), speaker_of("", "Run: make test", "passage")
    ('Ada', '')
    """
    if speaker or kind in FOLLOWED_KINDS:
        return speaker
    match = _SPEAKER.match(content)
    return match.group(1) if match else ""
