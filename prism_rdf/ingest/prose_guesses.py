"""What documents state in prose, through their history, as candidates: who is meant, since when, and until when.

A reference is proposed from the version in which its sentence first stands to the one that drops it; a second document
that says the same adds a clue. A status is proposed from the time that the sentence says, else from that version on.
What a document says directly, or is so already, is not guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from pyoxigraph import Literal

from prism_rdf.clock import Edge, start_of
from prism_rdf.ingest.chronicle import Moment
from prism_rdf.ingest.identifiers import spans_in_text
from prism_rdf.ingest.passages import Passage
from prism_rdf.ingest.prose import EXTRACTOR, Called, Changed, Finding, Quote, Related, findings
from prism_rdf.ingest.prose_sentences import Named
from prism_rdf.ingest.references import Link, ReferenceBook
from prism_rdf.ingest.statements import REFERENCES, Mention
from prism_rdf.ingest.tracks import Track
from prism_rdf.ingest.values import declared_by
from prism_rdf.model import Alias, Candidate, Clue, Fact, Reference
from prism_rdf.namespaces import prism
from prism_rdf.review.candidates import entities_of

# A status is guessed only where it comes after the one that is known: nobody is accepted who is superseded by now.
_COURSE: Mapping[str, int] = {
    **dict.fromkeys(("draft", "proposed"), 0),
    **dict.fromkeys(("accepted", "approved", "provisional"), 1),
    **dict.fromkeys(("implemented", "active", "final"), 2),
    **dict.fromkeys(("superseded", "replaced", "deprecated", "withdrawn", "rejected", "obsolete", "retired"), 3),
}
_LONGEST = 200_000  # characters of a passage that is read for prose


@dataclass(frozen=True)
class _Place:
    """A finding, and where its passage begins."""

    finding: Finding
    offset: int


@dataclass
class _Open:
    first: Candidate
    witnesses: dict[str, Candidate]
    told: bool = False


class Guesses:
    """Candidates as they are stated, dropped and stated again, in the order of history."""

    def __init__(self, book: ReferenceBook) -> None:
        self._book = book
        self._read: dict[str, dict[str, tuple[Passage, tuple[Finding, ...]]]] = {}
        self._open: dict[Link, _Open] = {}
        self._links: dict[str, set[Link]] = {}
        self._waiting: set[str] = set()
        self._told: dict[tuple[str, ...], Candidate] = {}
        self._witnessed: set[tuple[str, ...]] = set()
        self._ready: list[Candidate] = []

    @property
    def pending(self) -> int:
        """Return about how many candidates there are to hand over."""
        return len(self._ready)

    def say(self, track: Track, moment: Moment) -> None:
        """Take in what the prose of a new version states."""
        before = self._read.get(track.uuid, {})
        now: dict[str, tuple[Passage, tuple[Finding, ...]]] = {}
        for passage in track.document.passages:
            known = before.get(passage.key)
            same = known is not None and known[0].content == passage.content
            now[passage.key] = passage, known[1] if known is not None and same else _findings(track, passage)
        self._read[track.uuid] = now
        self._take(track, moment)

    def wait(self, live: Mapping[str, Track], moment: Callable[[Track], Moment]) -> None:
        """Look again for documents that nobody was when they were named; ``live`` is by uuid."""
        for uuid in sorted(self._waiting & live.keys(), key=lambda uuid: live[uuid].path):
            self._take(live[uuid], moment(live[uuid]))

    def end(self, track: Track, moment: Moment) -> None:
        """Close whatever a deleted document states."""
        self._read.pop(track.uuid, None)
        self._waiting.discard(track.uuid)
        self._set_links(track.uuid, {}, moment)

    def drain(self) -> list[Candidate]:
        """Return what was not yet handed over."""
        for opened in self._open.values():
            if not opened.told:
                opened.told = True
                self._ready += opened.witnesses.values()
        ready, self._ready = self._ready, []
        return ready

    def _take(self, track: Track, moment: Moment) -> None:
        links: dict[Link, Candidate] = {}
        self._waiting.discard(track.uuid)
        read = self._read.get(track.uuid, {}).values()
        for place in (_Place(finding, passage.start) for passage, found in read for finding in found):
            finding = place.finding
            if isinstance(finding, Related):
                source, target = self._meant(track, finding.source), self._meant(track, finding.target)
                link = (source.uuid, target.uuid, finding.kind) if source and target else None
                if link is not None and source is not target and not self._book.holds(link):
                    links.setdefault(link, _reference(link, moment, _clue(place, finding.quote, moment)))
            elif isinstance(finding, Changed):
                self._change(track, finding, _clue(place, finding.quote, moment), moment)
            else:
                self._call(track, finding, _clue(place, finding.quote, moment), moment)
        self._set_links(track.uuid, links, moment)

    def _meant(self, track: Track, named: Named) -> Track | None:
        if named == Named():
            return track
        found, unknown = self._book.meant(track, Mention(REFERENCES, named.identifier, named.href))
        if found is None and not unknown:
            return track
        if found is None:
            self._waiting.add(track.uuid)
        return found

    def _change(self, track: Track, finding: Changed, clue: Clue, moment: Moment) -> None:
        meant = self._meant(track, finding.document)
        prop = declared_by(meant.type).get("status") if meant is not None else None
        if meant is None or prop is None or not _comes_next(meant, finding):
            return
        at = start_of(finding.when) if finding.when else moment.at
        fact = Fact(meant.uuid, prop.iri, (Literal(finding.status),), "set", at, None, "status_transition")
        self._tell(("fact", meant.uuid, finding.status, finding.when), track, Candidate(fact, clue), moment)

    def _call(self, track: Track, finding: Called, clue: Clue, moment: Moment) -> None:
        meant = self._named_so(track, finding)
        form = finding.form.strip()
        if meant is None or not form or form.casefold() in {meant.document.title.casefold(), finding.name.casefold()}:
            return
        if self._book.meant(track, Mention(REFERENCES, form))[0] is not None or form == meant.claim[0]:
            return  # a number: its bearers are known
        alias = Alias(meant.uuid, form, "former", 3, source=moment.source, until=moment.at.instant)
        self._tell(("alias", meant.uuid, form.casefold()), track, Candidate(alias, clue), moment)

    def _named_so(self, track: Track, finding: Called) -> Track | None:
        if not finding.name:
            return self._meant(track, finding.document)
        title = track.document.title.casefold()
        name = finding.name.casefold()
        return track if title == name or title.startswith((f"{name}:", f"{name} ")) else None

    def _tell(self, key: tuple[str, ...], track: Track, candidate: Candidate, moment: Moment) -> None:
        """Hand over what is stated once and for all; what other documents state of it are clues of the same."""
        first = self._told.setdefault(key, _undated(candidate, moment))
        if (*key, track.uuid) not in self._witnessed:
            self._witnessed.add((*key, track.uuid))
            self._ready.append(replace(first, clue=candidate.clue))

    def _set_links(self, uuid: str, links: Mapping[Link, Candidate], moment: Moment) -> None:
        before = self._links.get(uuid, set())
        for link in sorted(before - links.keys()):
            self._close(link, self._open[link], uuid, moment)
        for link in sorted(links.keys() - before):
            opened_now = self._open.get(link)
            if opened_now is None:
                self._open[link] = _Open(links[link], {uuid: links[link]})
            else:
                joined = replace(opened_now.first, clue=links[link].clue)
                opened_now.witnesses[uuid] = joined
                if opened_now.told:
                    self._ready.append(joined)
        self._links[uuid] = set(links)

    def _close(self, link: Link, opened: _Open, uuid: str, moment: Moment) -> None:
        """End what a document states; what nobody states any more is proposed up to now."""
        gone = opened.witnesses.pop(uuid)
        if opened.witnesses:
            self._ready += [] if opened.told else [gone]  # its words were there
            return
        del self._open[link]
        assert isinstance(gone.proposal, Reference)
        start, until = gone.proposal.start, moment.at.instant
        if start is not None and start < until:
            self._ready.append(replace(gone, proposal=replace(gone.proposal, until=until), dropped=True))


def _findings(track: Track, passage: Passage) -> tuple[Finding, ...]:
    rule = track.document.rule
    if len(passage.content) > _LONGEST:
        return ()
    identify = rule.identifier.spans if rule is not None and rule.identifier.text else spans_in_text
    is_markdown = rule.body == "markdown" if rule is not None else not track.path.lower().endswith(".rst")
    return findings(passage.content, "markdown" if is_markdown else "text", identify)


def _clue(place: _Place, quote: Quote, moment: Moment) -> Clue:
    return Clue(
        quote=quote.words,
        source=moment.passage,
        start_offset=place.offset + quote.start,
        end_offset=place.offset + quote.end,
        extractor=EXTRACTOR,
        confidence=quote.confidence,
        cause_commit=moment.commit,
    )


def _reference(link: Link, moment: Moment, clue: Clue) -> Candidate:
    source, target, kind = link
    start = moment.at.instant
    reference = Reference(source, target, prism(kind), start, None, 3, moment.passage, moment.commit)
    return _undated(Candidate(reference, clue), moment)


def _undated(candidate: Candidate, moment: Moment) -> Candidate:
    """Return the candidate without a time where only that of a file is known: the next run may find another one."""
    if moment.commit or moment.at != Edge(moment.at.instant) or moment.at.instant.micros != moment.sequence:
        return candidate
    proposal = candidate.proposal
    if isinstance(proposal, Fact):
        return (
            replace(candidate, proposal=replace(proposal, at=None), undated=True)
            if proposal.at == moment.at
            else candidate
        )
    if isinstance(proposal, Alias):
        return replace(candidate, proposal=replace(proposal, until=None))
    return replace(candidate, proposal=replace(proposal, start=None), undated=True)


def _comes_next(meant: Track, finding: Changed) -> bool:
    """Return whether a status may follow the one that is known of a document now."""
    held = meant.props.get("status", ())
    now = held[0].value.casefold() if held else ""
    if now.startswith(finding.status.casefold()):
        return False
    words = now.split(" ")[0].strip(".,;:") if now else ""
    return bool(finding.when) or _COURSE.get(words, 0) < _COURSE.get(finding.status.casefold(), 1)


def without(candidates: Iterable[Candidate], unwanted: Collection[str]) -> list[Candidate]:
    """Return the candidates that are about none of the unwanted entities."""
    return [each for each in candidates if not set(entities_of(each.proposal)) & set(unwanted)]
