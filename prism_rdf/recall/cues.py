"""Who spoke and when, as a question says it: boosts for memories. Time that changes what is asked is in saying.py."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from prism_rdf.recall.fusion import Recipe
from prism_rdf.recall.memories import MONTHS, KnownMemory
from prism_rdf.recall.words import STOP_WORDS, fold, tokens

ASKERS = frozenset({"user", "human", "me", "i"})  # what the one who asks an agent is called in talk
_FIRST_PERSON = re.compile(r"\b(?:I|[Mm]y|[Mm]e|[Mm]ine|[Ww]e|[Oo]ur|us|myself)\b|\bI['’]")
_YEAR = re.compile(r"\b(1[5-9]\d\d|20\d\d)\b")
_MONTH = re.compile(
    r"\b(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b\.?(?=,?\s+(?:\d|of\b)|[\s?.!,]|$)",
    re.IGNORECASE,
)
_LEAD = 12  # characters before a word that say whether it is a month
_TELLING = 3  # letters that a name has at least


@lru_cache(maxsize=20_000)
def _words_of(name: str) -> frozenset[str]:
    told = (word for word, _, _ in tokens(fold(name)))
    return frozenset(word for word in told if len(word) >= _TELLING and word.isalpha())


@dataclass(frozen=True)
class Cues:
    """Who and when, as a question says it. Months are numbers from 1."""

    first_person: bool
    words: frozenset[str]
    years: frozenset[int]
    months: frozenset[int]

    @classmethod
    def of(cls, text: str) -> Cues:
        """Read the cues of a question; "may" and "march" count as months only behind in, of, since and the like."""
        months = set()
        for match in _MONTH.finditer(text):
            word = match.group(1).casefold()
            if word in ("may", "mar", "march") and not re.search(
                r"(?:\b(?:in|on|of|since|until|by|before|after|during|from|last|next|early|late|mid)|\d)\W*$",
                text[max(0, match.start() - _LEAD) : match.start()],
                re.IGNORECASE,
            ):
                continue
            months.add(next(n for n, name in enumerate(MONTHS, 1) if name.casefold().startswith(word[:3])))
        words = {word for word, _, _ in tokens(fold(text)) if len(word) >= _TELLING and word not in STOP_WORDS}
        years = frozenset(int(year) for year in _YEAR.findall(text))
        return cls(bool(_FIRST_PERSON.search(text)), frozenset(words), years, frozenset(months))

    def boosts(self, memory: KnownMemory, recipe: Recipe) -> dict[str, float]:
        """Return what a memory's score is multiplied by, by name; empty when the question says nothing about it."""
        found = {}
        speaker = fold(memory.speaker)
        if self.first_person and speaker in ASKERS:
            found["first_person"] = recipe.first_person
        if speaker not in ASKERS and (self._names(memory.speaker) or self._names(memory.series)):
            found["named"] = recipe.named
        if self._dates(memory):
            found["dated"] = recipe.dated
        return found

    def _names(self, name: str) -> bool:
        """Whether the question says a word of a name that is a word: of ``chats/ada-7`` it is ada."""
        return not self.words.isdisjoint(_words_of(name))

    def _dates(self, memory: KnownMemory) -> bool:
        if memory.start is None or memory.followed or not (self.years or self.months):
            return False
        year, month, _ = memory.start.iso()[:10].rsplit("-", 2)
        return (not self.years or int(year) in self.years) and (not self.months or int(month) in self.months)
