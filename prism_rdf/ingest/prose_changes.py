"""What a sentence says became of a document, and what something was called once; patterns over its plain form."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from prism_rdf.ingest.prose_phrases import GOVERNED, OPTIONS
from prism_rdf.ingest.prose_sentences import ITSELF, Sentence
from prism_rdf.ingest.prose_words import SUPPOSED_CHANGE

_STATUSES = {
    "accepted": "Accepted",
    "approved": "Accepted",
    "rejected": "Rejected",
    "declined": "Rejected",
    "withdrawn": "Withdrawn",
    "superseded": "Superseded",
    "obsoleted": "Superseded",
    "deprecated": "Deprecated",
    "deferred": "Deferred",
}
_DONE = {"withdrew": "withdrawn"} | {word: word for word in _STATUSES}
_STATUS = "|".join(_STATUSES)
_ANY = r"‹(?:\d+|s)›"
_LIST = rf"{_ANY}(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+){_ANY})*"
_MONTH_NAMES = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october")
_MONTHS = {
    name: n
    for n, month in enumerate((*_MONTH_NAMES, "november", "december"), start=1)
    for name in (month, month[:3], month[:4])
}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DATE = (
    r"(?P<iso>\d{4}-\d{2}(?:-\d{2})?)"
    rf"|(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<m1>{_MONTH})\.?,?\s+(?P<y1>\d{{4}})"
    rf"|(?P<m2>{_MONTH})\.?\s+(?:(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?,?\s+)?(?P<y2>\d{{4}})"
    r"|(?P<year>(?:19|20)\d{2})(?!\d|[.-]\d)"
)
_BE = r"(?:is|are|was|were|has\s+(?:now\s+|since\s+)?been|have\s+been|got|became)"
_ADVERB = r"(?:(?:also|now|already|formally|officially|recently|finally|since|itself|unanimously|provisionally)\s+)*"
_WHO = r"(?:,?\s+(?:which|that)\b)?"
_PASSIVE = re.compile(rf"(?P<subject>{_LIST}|^It){_WHO}\s+{_BE}\s+{_ADVERB}(?P<status>{_STATUS})\b", re.IGNORECASE)
_MARKED = re.compile(rf"(?P<subject>{_ANY})\s*\((?:now\s+|since\s+)?(?P<status>{_STATUS})\b[^()]*\)", re.IGNORECASE)
_ACTIVE = re.compile(
    r"\b(?:we|(?:the\s+)?(?:BDFL|council|steering council|team|board|committee|Guido|architects|group))"
    rf"\s+(?:(?:have|has)\s+)?{_ADVERB}(?P<status>{'|'.join(_DONE)})\s+(?P<subject>{_LIST})(?!\s*(?:'s|’s|'s|-))",
    re.IGNORECASE,
)
_STATE = re.compile(
    rf"\bstatus\s+of\s+(?P<subject>{_ANY})\s+(?:is|was|has|became|changed|moved)[^‹›.;]{{0,24}}?\b(?P<status>{_STATUS})\b",
    re.IGNORECASE,
)
_FORMS = ((_PASSIVE, 0.8), (_MARKED, 0.6), (_ACTIVE, 0.8), (_STATE, 0.85))
_WHEN = re.compile(rf"(?:\s+by\s+[^.;]{{1,60}}?)?[\s,(]+(?:on|in|since|as of)?\s*(?:{_DATE})\b", re.IGNORECASE)

_WORD = r"[A-Z]\w*(?:[.-]\w+)*"
_WORDS = rf"{_WORD}(?:\s+{_WORD}){{0,3}}"
_FORM = rf"(?:‹(?P<mark>\d+)›|⦃(?P<code>\d+)⦄|[\"“'‘](?P<quoted>[^\"”“'’]{{2,60}})[\"”'’]|(?P<words>{_WORDS}))"
_ONCE = r"(?:formerly|previously|originally)(?:\s+(?:known\s+as|called|named|titled|numbered))?"
_NOW = rf"(?P<subject>‹(?:\d+|s)›|⦃(?P<now_code>\d+)⦄|(?P<now>{_WORDS}))"
_NAMES = (
    (re.compile(rf"{_NOW}\s*,?\s*\(?(?:(?:was|were|is|are)\s+)?{_ONCE}\s+{_FORM}"), 0.8),
    (re.compile(rf"\b[Rr]enamed\s+from\s+{_FORM}\s+to\s+{_NOW}"), 0.85),
    (re.compile(rf"{_FORM}\s+(?:was|is now|has been)\s+renamed\s+(?:to|as)\s+{_NOW}"), 0.8),
    (re.compile(rf"{_NOW}\s+(?:was|has been)\s+renamed\s+from\s+{_FORM}"), 0.85),
)
_NO_NAME = frozenset(("The", "This", "It", "In", "That", "These", "Those", "A", "An", "We", "Python"))


@dataclass(frozen=True)
class Change:
    """A document (a mark) came to have a status; ``when`` is a date as ISO 8601, or empty."""

    document: str
    status: str
    when: str
    confidence: float


@dataclass(frozen=True)
class FormerName:
    """What was called ``form`` (or is named by ``form_mark``): a document (a mark), or what ``name`` means."""

    document: str
    name: str
    form: str
    form_mark: str
    confidence: float


def changes(sentence: Sentence, it: tuple[str, ...]) -> Iterator[Change]:
    """Yield what became of documents by a sentence; ``it``: whom *it* means, if anyone is known."""
    plain = sentence.plain
    lowered = plain.lower()
    if not any(word in lowered for word in _DONE):
        return
    seen: set[tuple[str, str]] = set()
    for form, sure in _FORMS:
        for match in form.finditer(plain):
            said = match["subject"]
            marks = it if said == "It" else tuple(re.findall(r"(?<=‹)(?:\d+|s)(?=›)", said))
            governed = form is not _STATE and GOVERNED.search(plain[: match.start("subject")])
            if governed or SUPPOSED_CHANGE.search(plain[: match.end("status")]):
                continue
            if ITSELF in marks and OPTIONS.search(sentence.heading):
                continue  # what is rejected there is an option
            when = date_in(plain[match.end("status") :])
            for mark in marks:
                status = _STATUSES[_DONE[match["status"].lower()]]
                if (mark, status) not in seen:
                    seen.add((mark, status))
                    yield Change(mark, status, when, round(sure + (0.1 if when else 0.0), 2))


def date_in(text: str) -> str:
    """Return the date with which a text begins, as far as it says one; empty when it says none.

    >>> date_in(" by the council on 1 March 2025."), date_in(" in May 2013"), date_in(", and more")
    ('2025-03-01', '2013-05', '')
    """
    match = _WHEN.match(text)
    if match is None:
        return ""
    if match["iso"] or match["year"]:
        return match["iso"] or match["year"]
    month = _MONTHS[(match["m1"] or match["m2"]).lower()]
    day = match["d1"] or match["d2"]
    return f"{match['y1'] or match['y2']}-{month:02d}" + (f"-{int(day):02d}" if day else "")


def former_names(sentence: Sentence) -> Iterator[FormerName]:
    """Yield what a sentence says that something was called."""
    plain = sentence.plain
    if not re.search(r"formerly|previously|originally|renamed", plain):
        return
    for form, sure in _NAMES:
        for match in form.finditer(plain):
            code = match["code"]
            words = sentence.code[int(code)] if code else match["quoted"] or match["words"] or ""
            now = sentence.code[int(match["now_code"])] if match["now_code"] else match["now"] or ""
            if words.split(" ")[0] in _NO_NAME or now.split(" ")[0] in _NO_NAME:
                continue
            if _SUPPOSED_NAME.search(plain[: match.start()]):
                continue
            mark = "" if now else match["subject"].strip("‹›")
            yield FormerName(mark, now, words.strip(" ."), match["mark"] or "", sure)


_SUPPOSED_NAME = re.compile(r"\b(?:if|would|could|might|may|should|not|never)\b|n't\b", re.IGNORECASE)
