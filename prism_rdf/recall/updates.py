"""What was said later of the same: a question for a present value wants the last one; by rules of words, no store.

People do not say that a sentence supersedes another: they say "the meeting is at three", and a week later "at four".
Neither the distance of the two texts nor their age tells (measured: BEAM, time-blind order .35 to .44). The form of the
question does: present tense, asks for a value, says nothing of the past.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from prism_rdf.recall.fusion import Fused, Recipe, ranked
from prism_rdf.recall.memories import KnownMemory
from prism_rdf.recall.words import query_terms, term_counts

_ASKS = re.compile(r"^\W*(?:\w+ ){0,3}?(?:what|how many|how much|when|which|who|where|how long|how often)\b", re.I)
_PRESENT = re.compile(r"\b(?:is|are|am|do|does|have|has|should|can|will)\b", re.I)
_PAST = re.compile(
    r"\b(?:did|was|were|had|before|initially|originally|previously|earlier|used to|history|order|sequence|over time"
    r"|changed|between|until|ago|summar\w*|compared?|contradict\w*|ever|how (?:has|have)|at first)\b",
    re.I,
)
_FOR_A_NUMBER = re.compile(
    r"\b(?:how (?:many|much|long|often|old|far)|when|what (?:time|date|day|year|percentage|number)"
    r"|which (?:day|date|version|year)|deadline|count|rate|quota|target|price|cost|percentage|average|total|score"
    r"|time|date|version|budget)\b",
    re.I,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n")
_CHANGE = re.compile(
    r"\b(?:now|new|newly|recently|updated?|changed?|(?:in|de)creased|adjusted|rescheduled|moved|extended|reached"
    r"|improved|instead|no longer|anymore|switched|became|become|latest|raised|lowered|reduced|postponed|replaced)\b",
    re.I,
)
_CHANGE_COUNTS = 1.25


@dataclass(frozen=True)
class Wanted:
    """What a text has to hold to answer a question: terms with their weights, and whether a number."""

    terms: Mapping[str, float]
    number: bool

    def cover(self, text: str) -> float:
        """Return the share of the terms that the best sentence has, a little more where it tells of a change.

        >>> value_wanted("When is my call with Ada?").cover("We met. My call with Ada moved to May 4.") > 1
        True
        """
        total = sum(self.terms.values())
        best = 0.0
        for sentence in _SENTENCE.split(text):
            if self.number and not any(map(str.isdigit, sentence)):
                continue
            known = term_counts(sentence)
            share = sum(weight for term, weight in self.terms.items() if term in known) / total
            best = max(best, share * _CHANGE_COUNTS if _CHANGE.search(sentence) else share)
        return best


def value_wanted(question: str) -> Wanted | None:
    """Return what answers a question for a present value; None for any other question.

    >>> value_wanted("How many sources are in my library?").number
    True
    >>> value_wanted("How did my library change?"), value_wanted("grounding")
    (None, None)
    """
    if not (_ASKS.search(question) and _PRESENT.search(question)) or _PAST.search(question):
        return None
    terms = query_terms(question)
    return Wanted(terms, bool(_FOR_A_NUMBER.search(question))) if terms else None


def latest_first(
    fused: Sequence[Fused],
    memories: Mapping[str, KnownMemory],
    texts: Mapping[str, str],
    wanted: Wanted,
    recipe: Recipe,
) -> list[Fused]:
    """Return the same hits; those of the best that speak of what is wanted, by one speaker, the last said first.

    ``texts`` are the contents of the first ``recipe.updates`` hits. They share their scores out anew; each that rose
    says in ``newer_than`` above which earlier one. Parts of documents stay: their source says when they end.
    """
    top = [hit for hit in fused[: recipe.updates] if hit.iri in texts and not memories[hit.iri].followed]
    if not top:
        return list(fused)
    lead = top[0]
    speaker = memories[lead.iri].speaker
    covers = {hit.iri: wanted.cover(texts[hit.iri]) for hit in top if memories[hit.iri].speaker == speaker}
    least = recipe.update_cover * max(covers.values())
    group = [
        hit
        for hit in top
        if covers.get(hit.iri, 0.0) >= max(least, 1e-9) and hit.score >= recipe.update_near * lead.score
    ]
    by_time = sorted(group, key=lambda hit: memories[hit.iri].order, reverse=True)
    moved = {}
    for place, (was, comes) in enumerate(zip(group, by_time, strict=True)):
        rose = next((hit.iri for hit in group[place:] if memories[hit.iri].order < memories[comes.iri].order), "")
        newer_than = rose if comes.score < was.score else ""
        moved[comes.iri] = replace(comes, score=was.score, newer_than=newer_than)
    return ranked(moved.get(hit.iri, hit) for hit in fused)
