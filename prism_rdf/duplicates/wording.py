"""What speaks for and against two records being of one thing, in plain words; nothing is weighed here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from prism_rdf.duplicates.collection import Record
from prism_rdf.duplicates.tokens import tokens
from prism_rdf.duplicates.weighing import Evidence

_ALIKE, _UNLIKE = 0.5, 0.2
_SHOWN = 4  # words or properties of a kind
_LONGEST = 30  # characters of a value


def reasons(found: Evidence, left: Record, right: Record) -> tuple[str, ...]:
    """Return the reasons, what tells the two apart first; the left record's side is always named first."""
    return (*_against(found, left, right), *_names(found), *_properties(found, left, right))


def _against(found: Evidence, left: Record, right: Record) -> Iterator[str]:
    mine, yours = _written(found.left_marks, left), _written(found.right_marks, right)
    if mine and yours:
        yield f"number or code differs: {mine} / {yours}"
    elif mine or yours:
        yield f"only one has the number or code {mine or yours}"
    if found.years[0]:
        yield f"years differ: {', '.join(found.years[0])} / {', '.join(found.years[1])}"
    if found.namesakes:
        yield f"{found.namesakes} more {'has' if found.namesakes == 1 else 'have'} the same name"
    if not found.elsewhere:
        yield "little or nothing but the name agrees"


def _names(found: Evidence) -> Iterator[str]:
    names, (mine, yours) = found.names, found.called
    called = mine if mine == yours else f"{mine} and {yours}"
    if not names.shared:
        yield "names do not agree"
    elif names.agreement == 1.0 and not names.respelled:
        yield f"same {called}" if mine == yours else f"{called} are the same"
    else:
        yield f"{called} {'agrees' if mine == yours else 'agree'} {names.agreement:.0%}"
    for one, other in names.respelled[:_SHOWN]:
        yield f"spelled {one} / {other}"
    extra = [_some(found) for found in (names.left, names.right)]
    if all(extra):
        yield f"words differ: {extra[0]} / {extra[1]}"
    elif any(extra):
        yield f"only one says: {extra[0] or extra[1]}"


def _properties(found: Evidence, left: Record, right: Record) -> Iterator[str]:
    same = [prop for prop, value in found.properties.items() if value == 1.0]
    if same:
        yield f"same {_some(same)}"
    for prop, value in list(found.properties.items()):
        if _ALIKE <= value < 1.0:
            yield f"{prop} agrees {value:.0%}"
    apart = [prop for prop, value in found.properties.items() if value < _UNLIKE]
    for prop in apart[:_SHOWN]:
        yield f"{prop} differs: {_value(left[prop])} / {_value(right[prop])}"


def _written(marks: Iterable[str], record: Record) -> str:
    """Return marks as they are written in the record."""
    chunks = [chunk for values in record.values() for value in values for chunk in value.split()]
    found = {mark: next((c for c in chunks if mark in tokens(c)), mark) for mark in marks}
    return _some([chunk.strip(".,;:()[]") for chunk in found.values()])


def _value(values: Sequence[str]) -> str:
    text = ", ".join(values)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1].rstrip()}…"


def _some(found: Sequence[str]) -> str:
    return ", ".join(found[:_SHOWN]) + (", …" if len(found) > _SHOWN else "")
