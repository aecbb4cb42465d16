"""Phrases by which a sentence relates two documents, as patterns over its plain form; who is meant is found elsewhere.

A pattern lists what may stand between subject and verb, so that what denies, supposes or asks does not match: *does not
supersede*, *may supersede*, *if ADR-7 supersedes*.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from prism_rdf.ingest.prose_sentences import ITSELF, Sentence
from prism_rdf.ingest.prose_words import ANY, KINDS, LABELS, NOUNS, OF, SUPPOSED_RELATION, Kind

_LIST = rf"{ANY}(?:(?:\s*,\s*(?!‹s›)(?:and\s+)?|\s+and\s+|\s*&\s*|\s*/\s*){ANY})*"
_THE = (
    r"(?:(?:the|both|an?|simpler|newer|later|earlier|previous|original|older"
    r"|existing|draft|withdrawn|rejected|deferred)\s+)*"
)
_ADVERB = (
    r"(?:(?:also|now|fully|completely|entirely|largely|partially|partly|explicitly|effectively|directly|further|thus"
    r"|at least|in large part|for the most part|more or less|therefore|thereby|already|later|since|heavily|closely"
    r"|often|formally|then|in turn|in part|, in turn,|[a-z]+ly)\s+)*"
)
_BE = r"(?:is|are|was|were|(?:has|have)\s+(?:now\s+|since\s+|[a-z]+ly\s+)?been|being|been|will be)"
_HEDGE = r"(?:in (?:some|many) ways\s+|essentially\s+|effectively\s+|intended (?:as|to be)\s+)?"
# What a document proposes, called by what it is: it means the document, though not for sure.
_WORK = (
    r"(?:approach|design|change|mechanism|architecture|work|effort|migration|feature|solution|scheme|system|proposal"
    r"|implementation|model|specification|extension|protocol|policy|convention|integration|refactoring|document)"
)
_VAGUE = rf"^This(?:\s+(?:new\s+)?{_WORK})?|^The\s+(?:\w+\s+){{0,2}}?{_WORK}|^The\s+(?:PEP|ADR)"
# *It* within a sentence is the document that the sentence begins with.
_SUBJECT = (
    rf"(?:(?P<subject>{_LIST}|{_VAGUE}|^It)|^(?P<begun>{ANY})\s[^‹›]*?[;,]\s+(?:and\s+)?it(?=\s)"
    r"|\b[Tt]he\s+(?:\w+\s+){1,5}?(?:\w+ed\s+)?(?:in|by|of)\s+(?P<part>‹s›)"
    r"|(?P<whose>‹s›)(?:'s|’s)\s+(?:\w+\s+){1,3}?(?=\w))"
)
_LEFT_OUT = r"^(?:[A-Z][\w &/-]{0,40}:\s+)?(?P<subject>)"  # as in *Requires ADR-7*
_RUN = r"(?:[^‹›.;:]|\.(?=\w))"  # within a sentence
_UP_TO = r"(?:[^‹›.;:,()]|\.(?=\w)){1,80}?"  # a bracket
_BEGIN = re.compile(  # what may stand before a sentence without changing what it says
    r"^[\[(\"'*]*(?:(?:\.\.\s+\w+::|(?:note|update|edit|nb|n\.b\.|important|see also|correction)(?:\s+\([^()]*\))?:"
    r"|(?:please\s+)?note\s+(?:also\s+)?that|therefore|thus|hence|so|however|in particular|in addition|additionally"
    r"|moreover|furthermore|finally|accordingly|consequently|as a result|in short|specifically|similarly|in fact"
    r"|while|although|though)[,\s]\s*)*"
    r"(?=\S)",
    re.IGNORECASE,
)
_ON_PURPOSE = (
    r"(?:(?:takes? (?:the|this) opportunity|serves|helps|goes on|exists|(?:is|was) (?:meant|intended|designed)|aims)"
    r"\s+to\s+)?"
)
_OBJECT = rf"{_THE}(?P<object>{_LIST})(?!-|\s+(?:or|compli|compat)\b)"
_WHO = (
    rf"(?:\s*\([^()‹›]*\))?(?:,?\s+(?:together|along)\s+with\s+{_LIST})?(?:\s*,[^‹›,;.()]{{1,60}},(?=\s))?"
    r"(?:,?\s+(?:which|that)\b|,)?"
)


@dataclass(frozen=True)
class Form:
    """A way to say a kind; ``inverse``: the object stands in this kind to the subject."""

    words: str
    kind: str
    inverse: bool
    confidence: float

    @property
    def pattern(self) -> re.Pattern[str]:
        """Return the words as a pattern, made when a sentence may hold them: most texts hold few of all forms."""
        return _pattern(self.words)


_pattern = cache(re.compile)
Family = tuple[re.Pattern[str], tuple[Form, ...]]  # what a sentence of any of these forms holds, and the forms


@cache
def _families() -> tuple[Family, ...]:
    """Return all forms, made when they are first asked for."""
    families = [(kind.hint, (*_active(kind), *_aside(kind), *_passive(kind))) for kind in KINDS]
    families.append(
        (r"based|built|model|adapted|deriv|evolved|grew|arose|emerged|originated|stem|began|started", tuple(_based()))
    )
    families += [(nouns, (_nominal(nouns, name, inverse),)) for nouns, name, inverse in NOUNS]
    families += [(labels, (_labelled(labels, name, inverse),)) for labels, name, inverse in LABELS]
    families += [(rf"\bwe\b.*(?:{kind.hint})", (_by_us(kind),)) for kind in KINDS if kind.aside]
    families += [(hint, tuple(forms)) for hint, forms in _others()]
    return tuple((re.compile(hint, re.IGNORECASE), forms) for hint, forms in families)


def _active(kind: Kind) -> Iterator[Form]:
    did = rf"(?:(?:has|have)\s+{_ADVERB}|{_ADVERB})(?:{kind.past})"
    # Of two verbs, as in *extends and formalizes*, each counts.
    second = rf"(?:\s+and\s+{_ADVERB}[a-z]+s(?:\s+on)?)?"
    verb = rf"(?:[a-z]+s(?:\s+on)?\s+and\s+)?(?:{_ADVERB}{_ON_PURPOSE}{_ADVERB}(?:{kind.verbs})|{did}){second}"
    instead = rf"(?:,?\s+rather\s+than\s+{_ADVERB}(?:[a-z]+s|[a-z]+ing)(?:\s+on)?)?"
    says = rf"(?:{kind.verbs})\s+{kind.through}{_OBJECT}"
    yield _form(rf"{_SUBJECT}{_WHO}\s*\b{verb}{instead}\s+{kind.through}{_OBJECT}", kind.name, 0.9)
    yield _form(rf"(?i:{_LEFT_OUT}{_in_third(kind.verbs)}\s+{kind.through}{_OBJECT})", kind.name, 0.8)
    if kind.bids:
        yield _form(rf"{_LEFT_OUT}(?i:{kind.bids})\s+{kind.through}{_OBJECT}", kind.name, 0.6)
    if kind.aside:
        named = rf"{_UP_TO}\((?P<object>{_LIST})\)"
        yield _form(rf"{_SUBJECT}{_WHO}\s*\b{verb}\s+{named}", kind.name, 0.7)
        left_out = "|".join(filter(None, (_in_third(kind.verbs), kind.bids)))
        yield _form(rf"(?i:{_LEFT_OUT}(?:{left_out})\s+{named})", kind.name, 0.6)
    also = rf"(?:[a-z]{_RUN}*(?:,|\band|\bbut)|[a-z]+s\b[^‹›.;:,]*{_LIST}\s+and)"
    yield _form(rf"^(?P<subject>‹s›)\s+{also}\s+{_ADVERB}{says}", kind.name, 0.75)
    beside = rf"^(?:The\s+)?(?P<subject>{_LIST})\s+{_RUN}{{1,140}}?(?:,|\band|\bbut)\s+"
    yield _form(rf"{beside}(?:{_ADVERB}{_in_third(kind.verbs)}|{did})\s+{kind.through}{_OBJECT}", kind.name, 0.7)


def _in_third(verbs: str) -> str:
    """Return verbs in the third person alone: *Replaces ADR-3* is a fact, *Replace ADR-3* something to be done."""
    return f"(?:{re.sub(r'(?<=[a-z])s[?]', 's', re.sub(r'[(]ies[|]y[)]', 'ies', verbs))})"


def _aside(kind: Kind) -> Iterator[Form]:
    """Yield the forms in which a kind is said beside something else."""
    says = rf"(?:{kind.verbs})\s+{kind.through}{_OBJECT}"
    yield _form(rf"^[^‹›]*\((?P<subject>){says}", kind.name, 0.6)
    yield _form(rf"^(?P<subject>‹\d+›)[^‹›.;]{{0,80}}\s[–—-]+\s+{_ADVERB}{says}", kind.name, 0.75)
    yield _form(rf"(?P<subject>‹\d+›)(?:\W[^‹›()]{{0,80}})?\((?:which\s+)?{_ADVERB}{says}", kind.name, 0.8)
    whom = rf"(?P<object>{_LIST}),?\s+(?:which|that)\s+(?P<subject>{ANY})\s+"
    yield _form(rf"{whom}{_ADVERB}(?:{kind.verbs})(?=[\s.,;)]|$)", kind.name, 0.8)
    if kind.ing:
        doing = rf"(?:{kind.ing})\s+{kind.through}{_OBJECT}"
        yield _form(rf"(?P<subject>‹s›)[^.;]*,\s+(?:and\s+)?{doing}", kind.name, 0.7)
        yield _form(rf"(?i:(?:^|\band\s+){doing}),\s+(?P<subject>‹s›)", kind.name, 0.7)


def _passive(kind: Kind) -> Iterator[Form]:
    if not kind.by:
        return
    done = rf"(?:[a-z]+(?:ed|n),?\s+(?:and|to be)\s+)?(?:{kind.by})\b[^‹›.,;()]{{0,24}}?\s+by\s+"
    by = rf"{done}{OF}{_OBJECT}"
    yield _form(rf"{_SUBJECT}{_WHO}\s*\b{_BE}\s+{_ADVERB}{by}", kind.name, 0.9, inverse=True)
    aside = rf"{done}{_UP_TO}\((?P<object>{_LIST})\)"
    yield _form(rf"{_SUBJECT}{_WHO}\s*\b{_BE}\s+{_ADVERB}{aside}", kind.name, 0.8, inverse=True)
    told = r"(?P<subject>‹s›)\s+(?:describe[sd]|specifie[sd]|define[sd]|propose[sd]|introduce[sd])\s+"
    whole = rf"{told}{_RUN}{{1,80}}?\b(?:that|which)\s+{_BE}\s+{_ADVERB}"
    yield _form(rf"{whole}(?:{by}|{aside.replace('object', 'aside')})", kind.name, 0.7, inverse=True)
    yield _form(rf"(?P<subject>‹\d+›)(?:\W[^‹›()]{{0,80}})?\({_ADVERB}{by}", kind.name, 0.85, inverse=True)
    listed = rf"(?i:^(?P<subject>‹\d+›)[^‹›.;]{{0,80}}\s[–—-]+\s+{_ADVERB}{by})"
    yield _form(listed, kind.name, 0.75, inverse=True)
    if kind.name == "SUPERSEDES":
        yield _form(rf"(?i:{_LEFT_OUT}{_ADVERB}{by})", kind.name, 0.85, inverse=True)


def _based() -> Iterator[Form]:
    from_what = (
        r"(?:(?:based|built|modell?ed)\s+(?:\w+ly\s+)?(?:up)?on(?:\s+top\s+of)?"
        r"|(?:adapted|derived|evolved)(?:\s+\w+ly)?\s+from)"
    )
    grew = (
        r"(?:(?:grew|arose|emerged)\s+(?:out\s+of|from)|(?:evolved|originated|derives?|stems?)\s+from"
        r"|(?:began|started)\s+(?:out\s+|life\s+)?as)"
    )
    yield _form(rf"{_SUBJECT}{_WHO}\s*\b{_ADVERB}{grew}\s+{OF}{_OBJECT}", "EXTENDS", 0.7)
    based = rf"(?:\w+ly\s+)?{from_what}\s+{OF}{_OBJECT}"
    yield _form(rf"(?P<subject>‹s›)\s+{_RUN}{{1,80}}?\b{based}", "EXTENDS", 0.6)
    yield _form(rf"{_SUBJECT}{_WHO}\s*\b{_BE}\s+{_ADVERB}{based}", "EXTENDS", 0.8)
    yield _form(rf"(?P<subject>‹\d+›)\s*\({_ADVERB}{based}", "EXTENDS", 0.8)
    yield _form(rf"(?i:{_LEFT_OUT}{_ADVERB}{based})", "EXTENDS", 0.7)


def _nominal(nouns: str, name: str, inverse: bool) -> Form:
    part = OF if name in ("EXTENDS", "IMPLEMENTS", "FORMALIZES") else ""
    said = rf"(?:a|an|the)\s+(?:\w+\s+){{0,2}}?(?:{nouns})\s+(?:of|for|to|on)\s+{part}{_OBJECT}"
    is_one = rf"\b(?:is|are|was|serves as|acts as)\s+{_ADVERB}{_HEDGE}{said}"
    return _form(rf"{_SUBJECT}{_WHO}\s*{is_one}", name, 0.8, inverse=inverse)


def _labelled(labels: str, name: str, inverse: bool) -> Form:
    return _form(rf"(?i:^(?P<subject>)(?:{labels})\s*(?:\([^()]*\)\s*)?:\s*{_OBJECT})", name, 0.85, inverse=inverse)


def _by_us(kind: Kind) -> Form:
    wish = r"(?:(?:need|want|have|are\s+going|chose|decided)\s+to\s+|will\s+|can\s+)?"
    did = rf"(?:{kind.verbs}|{kind.past})"
    return _form(rf"\b(?P<subject>)[Ww]e\s+{_ADVERB}{wish}{_ADVERB}{did}\s+{kind.through}{_OBJECT}", kind.name, 0.6)


def _others() -> Iterator[tuple[str, list[Form]]]:
    also = r"^As\s+an?\s+(?:extension|update|supplement)\s+(?:of|to)\s+"
    yield "^as ", [_form(rf"{also}{_OBJECT},\s+(?P<subject>‹s›)", "EXTENDS", 0.8)]
    first = r"[^‹›.;]{0,60}?\bmust\s+(?:be\s+)?\w+\s+(?:first|before)\b"
    yield " must ", [_form(rf"(?P<subject>)(?P<object>{_LIST}){first}", "DEPENDS_ON", 0.6)]
    do_first = r"\b(?P<subject>)(?i:implement|complete|finish|land|merge|ship|deploy|build)\s+"
    yield " first| before", [_form(rf"{do_first}{_OBJECT}\s+(?:first|beforehand|before\s+this)\b", "DEPENDS_ON", 0.6)]
    needed = r"(?P<object>‹s›)[^.;]*\bthat\s+(?P<subject>‹\d+›)\s+(?:depends|relies)\s+on\b"
    yield "depends|relies", [_form(needed, "DEPENDS_ON", 0.8)]
    added = rf"\b(?P<subject>)(?:[Aa]dded|[Aa]dds|[Hh]as)\s+(?:an?\s+)?{_OBJECT}\s+dependency\b"
    yield "dependency", [_form(added, "DEPENDS_ON", 0.7)]
    yield (
        "favou?r|obsolete|redundant|moot|continue|lives|folded|merged|incorporated|absorbed|split|rolled|carried",
        [*_gone()],
    )
    yield "add|chang|exten|amend|modif|updat|revis|enhanc|improv|clarif|correct", [*_additions()]
    yield "address|resolve|solve|fix|answer|settle|cleaned up|tackle", [*_this_resolved()]
    taken = rf"^(?i:using)\s+{OF}{_OBJECT},\s+(?P<subject>‹s›)"
    yield "^using", [_form(taken, "DEPENDS_ON", 0.6)]
    yield "see also|companion|sister|sibling|accompanying|related", [*_beside()]


def _gone() -> Iterator[Form]:
    """Yield the forms in which a document makes way for another one."""
    gone = r"(?:withdrawn|rejected|deprecated|abandoned|retired|dropped|closed)\s+in\s+favou?r\s+of\s+"
    favoured = rf"{_BE}\s+{_ADVERB}{gone}{OF}{_OBJECT}"
    yield _form(rf"{_SUBJECT}{_WHO}\s*\b{favoured}", "SUPERSEDES", 0.5, inverse=True)
    beside = rf"(?P<subject>‹\d+›),?\s+{_ADVERB}{gone}{OF}{_OBJECT}"
    yield _form(beside, "SUPERSEDES", 0.6, inverse=True)
    drops = r"(?:reject|withdraw|abandon|deprecat|retir|dropp?|clos)(?:e?s|e?d|n|ing)?|withdrew"
    mine = rf"\b(?:{drops})\s+(?P<subject>{_LIST})\s+in\s+favou?r\s+of\s+{OF}{_OBJECT}"
    yield _form(mine, "SUPERSEDES", 0.7, inverse=True)
    useless = rf"\b(?:makes|renders|made|rendered)\s+{_OBJECT}\s+(?:obsolete|redundant|moot|unnecessary)\b"
    yield _form(rf"{_SUBJECT}{_WHO}\s*{useless}", "SUPERSEDES", 0.8)
    into = r"(?:continued|folded|merged|incorporated|absorbed|split(?:\s+up)?|rolled|carried\s+(?:on|over|forward))"
    goes = rf"(?:{_ADVERB}(?:continues|lives\s+on)|{_BE}\s+{_ADVERB}{into}|{_BE}\s+(?:now|fully|entirely)\s+covered)"
    whither = rf"{goes}\b[^‹›.;:()]{{0,40}}?\s(?:in|into|as|by)\s+{_OBJECT}"
    yield _form(rf"{_SUBJECT}{_WHO}\s*\b{whither}", "SUPERSEDES", 0.7, inverse=True)


def _additions() -> Iterator[Form]:
    """Yield the forms in which a document adds to another one."""
    what = (
        r"(?:additions?|changes?|extensions?|amendments?|modifications?|updates?|revisions?|enhancements?"
        r"|improvements?|clarifications?|corrections?)"
    )
    makes = rf"(?:makes?|proposes?|introduces?|suggests?|contains?|describes?|adds?)\s+{_RUN}{{0,40}}?\b{what}\b"
    adds = rf"(?:adds?|added)\s+(?!\w+\s+(?:links?|references?|pointers?|footnotes?)\b){_RUN}{{1,60}}?"
    to = rf"(?:{makes}{_RUN}{{0,60}}?|{adds})\s+to\s+(?:the\s+)?(?:[^‹›.;:,]{{1,60}}?\s+(?:of|in|from)\s+)?{_OBJECT}"
    yield _form(rf"(?P<subject>‹s›|^This|^It|^(?:The\s+)?‹\d+›){_WHO}\s*\b{_ADVERB}{to}", "EXTENDS", 0.7)


def _this_resolved() -> Iterator[Form]:
    """Yield the forms in which what a document leaves open is resolved by another one."""
    done = r"(?:addressed|resolved|solved|fixed|answered|settled|cleaned\s+up|tackled)"
    it = r"(?:this|that|these)(?:\s+(?:issue|question|problem|gap|bug|concern|limitation)s?)?"
    yield _form(rf"^(?:The\s+)?(?P<subject>‹\d+›)\s+(?:has\s+)?{_ADVERB}{done}\s+{it}(?P<object>)\b", "RESOLVES", 0.6)
    by = rf"^(?P<subject>)(?i:{it})\s+{_BE}\s+{_ADVERB}{done}\s+(?:by|in)\s+{_OBJECT}"
    yield _form(by, "RESOLVES", 0.6, inverse=True)


def _beside() -> Iterator[Form]:
    yield _form(rf"(?:^|^[^‹›]*[(;]\s*)(?P<subject>)[Ss]ee also:?\s+{_OBJECT}", "RELATES_TO", 0.6)
    whose = r"(?:(?:[a-z-]+\s+){0,2}(?:PEP|ADR|proposal|document|specification|decision|record|plan)s?[\s,]+)?"
    told = rf"{whose}(?:(?:describing|about|on|in|titled)\s+)?{_OBJECT}"
    kin = r"\b(?i:companion|sister|sibling|accompanying|related)\s+"
    yield _form(rf"^(?P<subject>)(?:‹s›|[^‹›])*?{kin}{told}", "RELATES_TO", 0.65)


def _form(pattern: str, kind: str, confidence: float, *, inverse: bool = False) -> Form:
    return Form(pattern, kind, inverse, confidence)


GOVERNED = re.compile(
    r"\b(?:of|in|to|by|from|with|for|than|like|as|on|per|see|after|before|under|via|unlike|into|about|through|using"
    r"|whose|against|between|both)\s+(?:the\s+)?$",
    re.IGNORECASE,
)
OPTIONS = re.compile(
    r"alternativ|option|rejected|considered|open (?:question|issue)|example|template|glossary|acknowledg",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Relation:
    """That ``source`` stands in a kind to ``target``; both are marks of a sentence, ``itself``: the one that speaks."""

    kind: str
    source: str
    target: str
    confidence: float


def relations(sentence: Sentence, it: tuple[str, ...]) -> Iterator[Relation]:
    """Yield what a sentence says of how documents relate; ``it``: whom *it* means, if anyone is known."""
    plain = _BEGIN.sub("", sentence.plain)
    if "‹" not in plain:
        return
    for form in (form for hint, forms in _families() if hint.search(plain) for form in forms):
        for match in form.pattern.finditer(plain):
            subjects = _subjects(match, it, sentence.heading)
            if not subjects or _doubtful(plain, match, form):
                continue
            for subject in subjects:
                for target in _marks(_aim(match)):
                    if subject != target:
                        ends = (target, subject) if form.inverse else (subject, target)
                        yield Relation(form.kind, *ends, _sure(form, match))


def _subjects(match: re.Match[str], it: tuple[str, ...], heading: str) -> tuple[str, ...]:
    said = _said(match)
    if "‹" in said or said == ITSELF:
        return _marks(said)
    if said == "It":
        return it
    if said in ("The PEP", "The ADR") and it:
        return it
    # Who is left out, or is `this`, may be one of the options that a section weighs.
    return () if OPTIONS.search(heading) else (ITSELF,)


def _doubtful(plain: str, match: re.Match[str], form: Form) -> bool:
    """Return whether what stands around a match denies it, supposes it, asks it, or is about something else."""
    name = next(name for name in match.re.groupindex if name not in _AIMS and match[name] is not None)
    before = plain[: match.start() if name == "part" else match.start(name)]
    if plain.endswith("?") or GOVERNED.search(before):
        return True
    if form.kind == "RELATES_TO" and "see also" in match[0].lower():
        return False  # it holds whatever else the sentence says
    said = re.sub(r"\brather\s+than\s+\w+(?:\s+on)?\s+(?=‹)", "", plain[: match.start(_aim_of(match))] + "‹")
    said = re.sub(r"(?<=‹s›)\s+(?:also\s+)?proposes\b(?!\s+(?:to|that)\b)", " makes", said)
    said = re.sub(r"\bproposed\s+(?:here|in|by)\b|\b[Tt]he\s+proposed\b", "", said)
    return SUPPOSED_RELATION.search(re.sub(r"\b(?:previous|original)\b", "", said)) is not None


_AIMS = ("object", "aside")  # the names of the groups that hold whom it is about


def _aim_of(match: re.Match[str]) -> str:
    return next(name for name in _AIMS if name in match.re.groupindex and match[name] is not None)


def _aim(match: re.Match[str]) -> str:
    """Return whom it is about; nobody is named where it is the document itself."""
    return match[_aim_of(match)] or ITSELF


def _said(match: re.Match[str]) -> str:
    """Return how the subject is said."""
    found = (match[name] for name in match.re.groupindex if name not in _AIMS)
    return next(said for said in found if said is not None).strip()


def _sure(form: Form, match: re.Match[str]) -> float:
    said = _said(match)
    partly = re.search(r"\b(?:partially|partly|in part|parts?)\b", match[0]) is not None
    groups = match.groupdict()
    around = any(groups.get(name) for name in ("begun", "part", "whose"))
    vague = (
        0.2
        if said.startswith(("This", "The ", "It")) or around
        else 0.1
        if "‹" not in said and said != ITSELF and form.confidence > 0.85
        else 0.0
    )
    return round(min(form.confidence - vague, 0.6 if partly else 1.0), 2)


def _marks(text: str) -> tuple[str, ...]:
    return (ITSELF,) if text == ITSELF else tuple(re.findall(r"(?<=‹)(?:\d+|s)(?=›)", text))
