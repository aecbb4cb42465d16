"""Real facts with intervals, as their files say them, and what held when by asking each of them: no engine in here."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from pathlib import Path

from naive_history import micros

DAY = 86_400_000_000
_OFFICE = re.compile(r"(.+?) \|")
_EDGE = {mark: re.compile(rf"\|{mark}:? \+(\d{{4}})-(\d\d)-(\d\d)T") for mark in "SE"}
_PARTIAL = re.compile(r"(-?)(\d+)(#*)-(\d\d|##)-(\d\d|##)")


@dataclass(frozen=True)
class Fact:
    """``value`` held of ``subject`` over [start, until), as partial dates; None is unknown, or open."""

    subject: str
    value: str
    start: str | None
    until: str | None

    @property
    def interval(self):
        """Return the first instant and the one after the last, in microseconds; None where a date is none."""
        start = (-inf, -inf) if self.start is None else _bounds(self.start)
        until = (inf, inf) if self.until is None else _bounds(self.until)
        return None if start is None or until is None else (start[0], until[1])

    @property
    def fault(self):
        """Return what is wrong with the interval: unreadable, reversed, or nothing."""
        interval = self.interval
        return "unreadable" if interval is None else "reversed" if interval[1] <= interval[0] else ""


def _bounds(partial):
    """Return the first instant of a year, month or day, and the first one after it; None for no date."""
    found = re.fullmatch(r"(-?\d{4})(?:-(0\d|1[012]))?(?:-([012]\d|3[01]))?", partial)
    if found is None:
        return None
    year, month, day = int(found[1]), found[2], found[3]
    if day:
        start = micros(year, int(month), int(day))
        return start, start + DAY
    if month:
        return micros(year, int(month)), micros(year + int(month) // 12, int(month) % 12 + 1)
    return micros(year), micros(year + 1)


def office_holders(folder: Path):
    """Return the facts of qa_generated.json; month or day 00 is unknown, and no end means still in office."""
    facts = []

    def read(chain, said):
        for text in said["answers"]:
            edges = {mark: found.groups() if (found := edge.search(text)) else None for mark, edge in _EDGE.items()}
            start, until = (_without_zeros(edges[mark]) for mark in "SE")
            facts.append(Fact(chain, _OFFICE.match(text)[1], start, until))

    for group, subjects in json.loads((folder / "qa_generated.json").read_text()).items():
        for subject, said in subjects.items():
            roles = {"": said} if "answers" in said else said
            for role, answers in roles.items():
                read(f"{group}/{subject}/{role}", answers)
    return facts


def _without_zeros(parts):
    if parts is None:
        return None
    return "-".join(parts).replace("-00-00", "").removesuffix("-00")


def interval_rows(folder: Path):
    """Return the facts of train, valid and test: ## is unknown, #### open, a short year lacks zeros.

    A year such as 19## stands for its whole century. What is no date at all is left as it is written.
    """
    facts = []
    for name in ("train", "valid", "test"):
        for line in (folder / f"{name}.txt").read_text().splitlines():
            subject, relation, target, start, until = line.split("\t")
            facts.append(Fact(subject, f"{relation} {target}", _partial(start, "0"), _partial(until, "9")))
    return facts


def _partial(text, fill):
    if text == "####-##-##":
        return None
    found = _PARTIAL.fullmatch(text)
    if found is None:
        return text
    sign, digits, unknown, month, day = found.groups()
    year = (digits + fill * len(unknown)).zfill(4)
    return "-".join([sign + year, *(part for part in (month, day) if part != "##")])


def by_subject(facts):
    """Return (value, start, until) of each fact, by subject."""
    found = defaultdict(list)
    for fact in facts:
        found[fact.subject].append((fact.value, *fact.interval))
    return found


def holding(facts, when):
    """Return the values that hold at an instant."""
    return {value for value, start, until in facts if start <= when < until}


def edges(facts):
    return sorted({edge for _, *interval in facts for edge in interval} - {inf, -inf})


def spans(facts):
    """Return [(start, until, values)], oldest first: where the same values hold, and not none."""
    found = []
    for start, until in pairwise([-inf, *edges(facts), inf]):
        held = holding(facts, start)
        if found and found[-1][1] == start and found[-1][2] == held:
            found[-1] = (found[-1][0], until, held)
        elif held:
            found.append((start, until, held))
    return found


def before(told, when):
    """Return the values of the last span before the one that covers an instant, or before the instant itself."""
    limit = next((start for start, until, _ in told if start <= when < until), when)
    return next((values for _, until, values in reversed(told) if until <= limit), set())
