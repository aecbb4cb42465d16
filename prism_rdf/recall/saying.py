"""Time that a question says ("as of 2025-10-30", "in March 2025", "before the renaming") and the instant it means."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from prism_rdf.clock import Instant, as_of_instant, start_of
from prism_rdf.errors import BadTime
from prism_rdf.recall.anchors import Anchor
from prism_rdf.recall.memories import MONTHS

_NAMES = "|".join(f"{name}|{name[:3]}" for name in MONTHS)
_DATE = (
    r"(?P<iso>\d{4}-\d\d(?:-\d\d)?)"
    rf"|(?P<month>{_NAMES})\.?\s+(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+)?(?P<year>\d{{4}})"
    rf"|(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\s+(?P<month2>{_NAMES})\.?,?\s+(?P<year2>\d{{4}})"
    r"|(?P<only>(?:1[5-9]|20)\d\d)(?![\d-])"
)
_SAID = re.compile(
    rf"\b(?P<how>as of|as at|back in|during|in|on|at|by|until|till|before)\s+(?:{_DATE})\b", re.IGNORECASE
)
_RENAMING = re.compile(
    r"\bbefore\s+(?:(?:the|its|their|that)\s+)?(?:(?:it|they)\s+(?:was|were|got)\s+)?re(?:nam|number)(?:ing|ed|e)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class SaidTime:
    """What was said, and the instant it means. ``sure``: it asks for a time, whatever is known of then."""

    text: str
    at: Instant
    sure: bool = False

    def as_dict(self) -> dict[str, str]:
        return {"said": self.text, "as_of": self.at.iso()}


def time_said(question: str, anchors: Sequence[Anchor]) -> SaidTime | None:
    """Return the time that a question says; None where it says none, or one that does not exist.

    A period means its last instant; ``before`` one, the last instant before it. ``before the renaming`` is the last
    instant at which an anchor bore the name before its present one.

    >>> time_said("Who led it in March 2025?", ()).at.iso()
    '2025-03-31T23:59:59.999999Z'
    >>> time_said("What held before 2025-03-02?", ()).at.iso()
    '2025-03-01T23:59:59.999999Z'
    """
    if (match := _RENAMING.search(question)) is not None:
        ends = [until for anchor in anchors for until in _given_up(anchor)]
        return SaidTime(match.group(), max(ends).plus(micros=-1)) if ends else None
    if (match := _SAID.search(question)) is None:
        return None
    how = match.group("how").casefold()
    try:
        date = _partial(match.groupdict())
        first = start_of(date).instant if how == "before" else None
        at = first.plus(micros=-1) if first is not None else as_of_instant(date)
    except BadTime:
        return None
    return SaidTime(match.group(), at, how in ("as of", "as at"))


def _given_up(anchor: Anchor) -> list[Instant]:
    """Return when an anchor ceased to bear its former names."""
    return [until for form in anchor.forms if form.standing == "former" for _, until in form.borne if until is not None]


def _partial(said: dict[str, str | None]) -> str:
    """Return the date as ISO 8601 writes it, as precise as it was said."""
    if said["iso"] or said["only"]:
        return str(said["iso"] or said["only"])
    month = str(said["month"] or said["month2"]).casefold()[:3]
    number = next(n for n, name in enumerate(MONTHS, 1) if name.casefold().startswith(month))
    day = said["day"] or said["day2"]
    date = f"{said['year'] or said['year2']}-{number:02d}"
    return f"{date}-{int(day):02d}" if day else date
