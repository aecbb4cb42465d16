"""Records of one kind of thing in, pairs that may be one thing out: blocking, weighing and wording put together."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from prism_rdf.duplicates.blocking import Progress, candidate_pairs
from prism_rdf.duplicates.collection import Record, Vocabulary, cut
from prism_rdf.duplicates.weighing import Evidence, weigh
from prism_rdf.duplicates.wording import reasons


@dataclass(frozen=True)
class Comparison:
    """How likely two records are of one thing, from 0 to 1, and why.

    ``mergeable`` is False where something tells them apart that no likeness makes up for: a number, a code, a year.
    """

    score: float
    mergeable: bool
    reasons: tuple[str, ...]


class Matcher:
    """Compares the records of one collection, whose words it learns from the collection itself.

    >>> mail = ["office@example.org"]
    >>> people = [{"name": ["Jonh Smith"], "mail": mail}, {"name": ["John Smith"], "mail": mail}]
    >>> Matcher(people, naming=["name"]).compare(0, 1).reasons
    ('name agrees 85%', 'spelled jonh / john', 'same mail')
    """

    def __init__(self, records: Sequence[Record], naming: Collection[str]) -> None:
        self._records = records
        self._cut = [cut(record, naming) for record in records]
        self._words = Vocabulary(self._cut)
        self.compared = 0  # pairs, by ``pairs``

    def weigh(self, left: int, right: int) -> Evidence:
        """Return the evidence on the records at two positions."""
        return weigh(self._cut[left], self._cut[right], self._words)

    def compare(self, left: int, right: int) -> Comparison:
        """Compare the records at two positions. The score is the same from both sides, and 1 for what is identical."""
        found = self.weigh(left, right)
        return Comparison(found.score, found.mergeable, reasons(found, self._records[left], self._records[right]))

    def candidates(self, progress: Progress | None = None) -> Iterator[tuple[int, int]]:
        """Yield the pairs worth comparing, as positions."""
        return candidate_pairs(self._cut, progress)

    def pairs(self, at_least: float, progress: Progress | None = None) -> Iterator[tuple[int, int, Comparison]]:
        """Yield the pairs that score at least so much, as positions, each once."""
        for one, other in self.candidates(progress):
            left, right = (one, other) if self._cut[one].order <= self._cut[other].order else (other, one)
            found = self.weigh(left, right)
            self.compared += 1
            if found.score >= at_least:
                told = reasons(found, self._records[left], self._records[right])
                yield left, right, Comparison(found.score, found.mergeable, told)
