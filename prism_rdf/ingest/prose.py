"""What the prose of a text states: how documents relate, what became of them, what they were called.

It is a pure function of the text, and nothing is believed. Headings and code are no prose. Who is meant and since when
is found out in ``prose_guesses``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from prism_rdf.ingest.identifiers import spans_in_text
from prism_rdf.ingest.markup import Markup
from prism_rdf.ingest.prose_changes import changes, former_names
from prism_rdf.ingest.prose_phrases import relations
from prism_rdf.ingest.prose_sentences import ITSELF, Identify, Named, Sentence, sentences

EXTRACTOR = "prose/2"
_MOST_QUOTED = 500


@dataclass(frozen=True)
class Quote:
    """Words that state something: [start, end) of the text, and how sure it is that they do, from 0 to 1."""

    start: int
    end: int
    words: str
    confidence: float


@dataclass(frozen=True)
class Related:
    """``source`` stands in a kind to ``target``; a document without identifier and link is the one that speaks."""

    quote: Quote
    kind: str
    source: Named
    target: Named


@dataclass(frozen=True)
class Changed:
    """A document came to have a status, ``when`` a date as ISO 8601 or empty."""

    quote: Quote
    document: Named
    status: str
    when: str


@dataclass(frozen=True)
class Called:
    """Something was called ``form`` once. It is a ``document``, or what is called ``name`` now."""

    quote: Quote
    document: Named
    name: str
    form: str


Finding = Related | Changed | Called


def findings(text: str, markup: Markup, identify: Identify = spans_in_text) -> tuple[Finding, ...]:
    """Return what the prose of a text states, in order; each thing that a sentence states once.

    >>> [found] = findings("This ADR extends ADR-2.", "markdown")
    >>> found.kind, found.source.identifier, found.target.identifier, found.quote.start, found.quote.end
    ('EXTENDS', '', 'ADR-2', 0, 23)
    """
    return tuple(dict.fromkeys(_found(text, markup, identify)))


def _found(text: str, markup: Markup, identify: Identify) -> Iterator[Finding]:
    it: tuple[Named, ...] = ()
    heading = ""
    for sentence in sentences(text, markup, identify):
        it, heading = (it if sentence.heading == heading else ()), sentence.heading
        named = (*sentence.named, *it)
        meant = tuple(ITSELF if each == Named() else str(n) for n, each in enumerate(it, len(sentence.named)))
        said: set[tuple[str, str, str]] = set()
        for each in sorted(relations(sentence, meant), key=lambda relation: -relation.confidence):
            if (each.kind, each.source, each.target) not in said:
                said.add((each.kind, each.source, each.target))
                quote = _quote(text, sentence, each.confidence)
                yield Related(quote, each.kind, _named(each.source, named), _named(each.target, named))
        for change in changes(sentence, meant):
            quote = _quote(text, sentence, change.confidence)
            if change.document == ITSELF and not change.when and "his proposal" in quote.words:
                continue  # as likely one of the options that a document weighs
            yield Changed(quote, _named(change.document, named), change.status, change.when)
        for name in former_names(sentence):
            document = _named(name.document, named) if name.document else Named()
            form = named[int(name.form_mark)].identifier if name.form_mark else name.form
            yield Called(_quote(text, sentence, name.confidence), document, name.name, form)
        it = _subject(sentence, it)


def _named(mark: str, named: tuple[Named, ...]) -> Named:
    return Named() if mark == ITSELF else named[int(mark)]


def _quote(text: str, sentence: Sentence, confidence: float) -> Quote:
    end = min(sentence.end, sentence.start + _MOST_QUOTED)
    return Quote(sentence.start, end, text[sentence.start : end], confidence)


def _subject(sentence: Sentence, before: tuple[Named, ...]) -> tuple[Named, ...]:
    """Return whom *It* means in the next sentence: the document with which this one begins."""
    if sentence.plain.startswith(f"‹{ITSELF}›"):
        return (Named(),)
    if sentence.plain.startswith("‹0›"):
        return (sentence.named[0],)
    return before if sentence.plain.startswith(("It ", "Its ")) else ()
