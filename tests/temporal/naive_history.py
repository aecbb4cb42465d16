"""The naive model of history: at each instant ask every assertion; slow, obvious, and shares no code with the fold."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Said:
    event: str
    prop: str
    value: str | None
    op: str
    start: float
    until: float
    level: int = 0
    sequence: int = 0

    def rank(self):
        return (self.level, self.start, self.sequence, self.event, self.op != "clear", str(self.value))


def at(said, when, multi, retired="retired"):
    """Return {prop: set of values} at ``when``; None where there is nothing."""
    covering = [a for a in said if a.start <= when < a.until]
    held: dict[str, set[str]] = {}
    for prop in {a.prop for a in covering}:
        mine = [a for a in covering if a.prop == prop]
        if prop in multi:
            cleared = max((a.rank() for a in mine if a.op == "clear"), default=None)
            values = set()
            for value in {a.value for a in mine if a.op != "clear"}:
                best = max((a for a in mine if a.value == value and a.op != "clear"), key=Said.rank)
                if best.op != "remove" and (cleared is None or best.rank() > cleared):
                    values.add(value)
        else:
            best = max(mine, key=Said.rank)
            values = set() if best.op == "clear" else {best.value}
        if values:
            held[prop] = values
    if held.pop(retired, None) == {"true"}:
        return None
    return held or None
