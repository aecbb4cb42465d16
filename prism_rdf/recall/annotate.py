"""Phase 3 of recall: whether a memory speaks of now or of the past, by rules that can be read; pure, no store.

The rules, in order; the first that applies decides, and doubt is historical, never current:

1. The memory's own interval ended by as_of: historical.
2. A name means what it meant when the memory was said: a name that was another entity's then, and not the anchor's, is
   not counted; nor is one that the anchor comes to bear only after as_of, nor one inside of a longer name.
3. A part of a document about the anchor, whose source still says so: wip or current when it calls the anchor by a name
   of its state at as_of; current when it calls it nothing; historical when it only knows former names, or knows a
   former name of a property (its number) and not the present one.
4. Any other memory: the longest name of any anchor in its text decides: of the state at as_of, current or wip; a
   former name, historical. Names of the same length that disagree: historical. A former name of a property whose
   present value is not there: historical.
5. A note about the anchor that names none: current when the anchor's state has held since before the note was made,
   else historical.
6. Otherwise nothing is known: no flag.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from prism_rdf.clock import Instant
from prism_rdf.model import Flag
from prism_rdf.recall.anchors import Anchor, Form
from prism_rdf.recall.memories import KnownMemory
from prism_rdf.recall.surfaces import find_all
from prism_rdf.recall.words import fold, key_of

_NOT_IN_FORCE = re.compile(
    r"\W*(?:superseded|deprecated|rejected|withdrawn|retired|obsolete|abandoned)\b", re.IGNORECASE
)


@dataclass(frozen=True)
class Annotation:
    """What a hit is told apart by; ``entity`` is what the memory is about, else the anchor that decided."""

    flag: Flag | None = None
    summary: str | None = None
    entity: str | None = None


@dataclass(frozen=True)
class _Match:
    anchor: Anchor
    form: Form

    @property
    def length(self) -> int:
        return len(self.form.key)


def annotate(memory: KnownMemory, anchors: Sequence[Anchor], as_of: Instant) -> Annotation:
    """Return flag, summary and entity of a memory that was said by ``as_of``, by the rules above."""
    matches = _matches(memory, anchors)
    about = [anchor for anchor in anchors if anchor.entity in memory.about]
    found = _decide(memory, matches, about, as_of)
    if memory.about and found.entity not in memory.about:
        return replace(found, entity=memory.about[0])
    return found


def _decide(memory: KnownMemory, matches: Sequence[_Match], about: Sequence[Anchor], as_of: Instant) -> Annotation:
    if memory.ended_by(as_of):
        return _ended(memory, matches, about)
    if memory.followed and about:
        return _followed(matches, about)
    if matches:
        return _named(matches)
    if about:
        return _unnamed(memory, about[0])
    return Annotation()


def _matches(memory: KnownMemory, anchors: Sequence[Anchor]) -> list[_Match]:
    """Return the names of anchors in the text, the longest first; a place in the text counts for one name."""
    text = fold(f"{memory.heading}\n{memory.content}")
    candidates = [_Match(anchor, form) for anchor in anchors for form in anchor.forms if form.standing != "future"]
    found: list[_Match] = []
    taken: list[tuple[int, int, str]] = []
    for match in sorted(candidates, key=lambda match: -match.length):
        key = match.form.key
        places = find_all(key, text)
        free = [
            place
            for place in places
            if all(place[1] <= start or end <= place[0] or key == other for start, end, other in taken)
        ]
        if free and not match.form.meant_another(memory.start):
            found.append(match)
        taken += [(start, end, key) for start, end in free]
    return found


def _ended(memory: KnownMemory, matches: Sequence[_Match], about: Sequence[Anchor]) -> Annotation:
    own = [match for match in matches if match.anchor in about] or list(matches)
    former = next((match for match in own if match.form.standing == "former"), None)
    if former is not None and former.anchor.state is not None:
        return _former(former)
    anchor = own[0].anchor if own else about[0] if about else None
    until = memory.until.iso().partition("T")[0] if memory.until else ""
    of_what = f"{_title(anchor)}, " if anchor else ""
    return Annotation(
        "historical", f"[historical: {of_what}said until {until}, superseded since]", anchor.entity if anchor else None
    )


def _followed(matches: Sequence[_Match], about: Sequence[Anchor]) -> Annotation:
    own = [match for match in matches if match.anchor in about]
    if not own:
        return _present(about[0], None)
    present = [match for match in own if match.form.standing != "former"]
    outdated = _outdated(own)
    if not present or outdated is not None:
        return _former(outdated or own[0])
    best = next((match for match in present if match.form.standing == "wip"), present[0])
    return _present(best.anchor, best.form)


def _named(matches: Sequence[_Match]) -> Annotation:
    longest = [match for match in matches if match.length == matches[0].length]
    former = next((match for match in longest if match.form.standing == "former"), None)
    if former is None:
        former = _outdated([match for match in matches if match.anchor == longest[0].anchor])
    if former is not None:
        return _former(former)
    best = next((match for match in longest if match.form.standing == "wip"), longest[0])
    return _present(best.anchor, best.form)


def _outdated(own: Sequence[_Match]) -> _Match | None:
    """Return the match of a former name where the text does not also know what replaced it."""
    known = [match.form.key for match in own if match.form.standing != "former"]

    def is_known(name: str) -> bool:
        key = key_of(name)
        return any(other == key or other.endswith(f" {key}") for other in known)

    return next((m for m in own if m.form.standing == "former" and m.form.now and not is_known(m.form.now)), None)


def _unnamed(memory: KnownMemory, anchor: Anchor) -> Annotation:
    if anchor.state is None:
        return Annotation(entity=anchor.entity)
    if memory.start is not None and (anchor.since is None or anchor.since <= memory.start):
        return _present(anchor, None)
    since = anchor.since.iso().partition("T")[0] if anchor.since else ""
    return Annotation(
        "historical", f"[historical: said before {_title(anchor)} came to its present state on {since}]", anchor.entity
    )


def _former(match: _Match) -> Annotation:
    anchor, form = match.anchor, match.form
    if anchor.state is None:
        summary = f"[historical: {_title(anchor)} has no state at this time]"
    else:
        now = form.now or anchor.identifier
        summary = f"[historical: current {anchor.type or 'name'} is {now}, this reflects {form.text}]"
    return Annotation("historical", summary, anchor.entity)


def _present(anchor: Anchor, form: Form | None) -> Annotation:
    flag: Flag = "wip" if form is not None and form.standing == "wip" else "current"
    is_draft = anchor.state is not None and anchor.state.get("commit_status") == "wip"
    other_name = form.text if form is not None and is_draft != (flag == "wip") else ""
    return Annotation(flag, f"[{flag}: {_title(anchor, other_name)}{_out_of_force(anchor)}]", anchor.entity)


def _out_of_force(anchor: Anchor) -> str:
    """Return what the state itself says of not counting any more: the text is current, the decision is not in force."""
    props = anchor.state.get("props", {}) if anchor.state is not None else {}
    status = str(props.get("status") or "")
    return f", its status is {status}" if _NOT_IN_FORCE.match(status) else ""


def _title(anchor: Anchor, other_name: str = "") -> str:
    return f"{anchor.type} {other_name or anchor.identifier}".strip()
