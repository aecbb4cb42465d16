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

_ANY = r"‹(?:\d+|s)›"
_LIST = rf"{_ANY}(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+|\s*&\s*|\s*/\s*){_ANY})*"
_THE = (
    r"(?:(?:the|both|an?|simpler|newer|later|earlier|previous|original|older"
    r"|existing|draft|withdrawn|rejected|deferred)\s+)*"
)
_ADVERB = (
    r"(?:(?:also|now|fully|completely|entirely|largely|partially|partly|explicitly|effectively|directly|further|thus"
    r"|therefore|thereby|already|since|heavily|closely|formally|then|in turn|in part|, in turn,|[a-z]+ly)\s+)*"
)
_BE = r"(?:is|are|was|were|(?:has|have)\s+(?:now\s+|since\s+|[a-z]+ly\s+)?been|being|been)"
_HEDGE = r"(?:in (?:some|many) ways\s+|essentially\s+|effectively\s+|intended (?:as|to be)\s+)?"
_UNFIT = r"\b(?:as|than|like|unlike|that|which|when|if|not|so|because|while|how|whether|before|after|instead|without)\b"


def _through(prepositions: str, most: int = 70) -> str:
    """Return what may stand before an object, such as *the grounding calculation of*."""
    return rf"(?:(?!{_ANY})(?:(?!{_UNFIT})[^‹›,;:.()]){{1,{most}}}?\b(?:{prepositions})\s+(?:the\s+)?)?"


_OF = _through("of|in|from|by|per")
_TO = _through("of|for", 60)
_PART = (
    r"(?:(?:(?:large |major |some )?parts? of"
    r"|most of|the (?:approach|design|decision|proposal|plan|scheme)(?: \w+){0,2} "
    r"(?:of|in|from|described in|proposed in|defined in))\s+)?"
)
_OPEN = (
    r"(?:the\s+(?:\w+\s+){0,3}?(?:issues?|questions?|problems?|gaps?|bugs?)\s+"
    r"(?:of|in|from|raised (?:in|by)|left open by)\s+)?"
)
_NEED = _through(r"of|from|(?:described|defined|specified|introduced|provided) (?:in|by)", 50)


@dataclass(frozen=True)
class Kind:
    """A kind of reference and the words for it: third person, participle, what may stand before the object.

    ``by``: the participles of its passive; ``ing``: how it is said beside another verb.
    """

    name: str
    verbs: str
    past: str
    through: str
    by: str = ""
    ing: str = ""

    @property
    def hint(self) -> str:
        """Return what every sentence of this kind holds."""
        return "|".join(dict.fromkeys(re.sub(r"\W.*", "", word)[:4] for word in f"{self.verbs}|{self.ing}".split("|")))


_REPLACED = "superseded|replaced|obsoleted|supplanted|subsumed"
_KINDS = (
    Kind(
        "SUPERSEDES",
        "supersedes|replaces|obsoletes|supplants|subsumes|takes the place of",
        _REPLACED,
        _PART,
        _REPLACED,
        "superseding|replacing",
    ),
    Kind(
        "EXTENDS",
        r"extends|builds (?:up)?on(?: top of)?|supplements|amends|updates|refines|expands (?:up)?on|generali[sz]es"
        r"|revises|clarifies",
        r"extended|built (?:up)?on(?: top of)?|supplemented|amended|updated|refined|generali[sz]ed|revised",
        _OF,
        "extended|amended|updated|supplemented|revised",
        r"building (?:up)?on|extending|amending",
    ),
    Kind("IMPLEMENTS", r"implements|realizes|realises", r"implemented|reali[sz]ed", _OF, "implemented"),
    Kind("DEPENDS_ON", r"depends (?:up)?on|relies (?:up)?on|hinges on|is blocked (?:by|on)", r"relied (?:up)?on", _OF),
    Kind("DEPENDS_ON", "requires|needs|presupposes", "required", _NEED, "required|needed"),
    Kind("SPECIFIES", "specifies", "specified", _TO),
    Kind("FORMALIZES", r"formalizes|formalises|codifies", r"formali[sz]ed|codified", _TO, "formalized|formalised"),
    Kind("RESOLVES", "resolves|fixes|closes", "resolved|fixed|closed", _OPEN, "resolved"),
    Kind("DOCUMENTS", "documents", "documented", _TO, "documented"),
    Kind(
        "RELATES_TO",
        r"relates to|complements|is (?:closely )?related to|is complementary to|are (?:closely )?related to",
        "complemented",
        _OF,
    ),
)
_NOUNS = (
    (r"extension|continuation|amendment|update|supplement|addendum|follow-?up|refinement", "EXTENDS", False),
    (r"successor|replacement", "SUPERSEDES", False),
    (r"implementation|reali[sz]ation", "IMPLEMENTS", False),
    (r"formali[sz]ation", "FORMALIZES", False),
    (r"companion|complement|counterpart|sibling", "RELATES_TO", False),
    (r"prerequisite|precondition|dependency", "DEPENDS_ON", True),
)
_LABELS = (
    (
        r"related(?: to)?|relates to|related (?:adrs?|peps?|specs?|decisions?|documents?)|see also|complements",
        "RELATES_TO",
        False,
    ),
    (r"supersedes|replaces|obsoletes", "SUPERSEDES", False),
    (r"superseded[ -]by|replaced[ -]by|obsoleted[ -]by", "SUPERSEDES", True),
    (r"depends on|requires|prerequisites?|dependenc(?:y|ies)|depends|builds on top of", "DEPENDS_ON", False),
    (r"extends|builds on|amends|updates", "EXTENDS", False),
    (r"implements", "IMPLEMENTS", False),
    (r"specifies", "SPECIFIES", False),
    (r"formali[sz]es", "FORMALIZES", False),
    (r"resolves|fixes|closes", "RESOLVES", False),
    (r"documents", "DOCUMENTS", False),
)
_WE = (
    (r"supersede|replace", "SUPERSEDES", _PART),
    (r"extend|build (?:up)?on|amend", "EXTENDS", _OF),
    (r"implement", "IMPLEMENTS", _OF),
    (r"depend (?:up)?on|rely (?:up)?on", "DEPENDS_ON", _OF),
    (r"formali[sz]e|codify", "FORMALIZES", _TO),
)
# *It* within a sentence is the document that the sentence begins with.
_SUBJECT = (
    rf"(?:(?P<subject>{_LIST}|^This|^It)|^(?P<begun>{_ANY})\s[^‹›]*?[;,]\s+(?:and\s+)?it(?=\s)"
    r"|\b[Tt]he\s+(?:\w+\s+){1,2}?(?:\w+ed\s+)?(?:in|by|of)\s+(?P<part>‹s›)|(?P<whose>‹s›)(?:'s|’s)\s+(?:\w+\s+){1,3}?(?=\w))"
)
_LEFT_OUT = r"^(?:[A-Z][\w ]{0,24}:\s+)?(?P<subject>)"  # as in *Requires ADR-7*
_OBJECT = rf"{_THE}(?P<object>{_LIST})(?!-|\s+(?:or|compli|compat)\b)"
_WHO = (
    rf"(?:\s*\([^()‹›]*\))?(?:,?\s+(?:together|along)\s+with\s+{_LIST})?(?:\s*,[^‹›,;.()]{{1,60}},(?=\s))?"
    r"(?:,?\s+(?:which|that)\b|,)?"
)


@dataclass(frozen=True)
class Form:
    """A way to say a kind; ``inverse``: the object stands in this kind to the subject."""

    pattern: re.Pattern[str]
    kind: str
    inverse: bool
    confidence: float


Family = tuple[re.Pattern[str], tuple[Form, ...]]  # what a sentence of any of these forms holds, and the forms


@cache
def _families() -> tuple[Family, ...]:
    """Return all forms, made when they are first asked for."""
    families = [(kind.hint, (*_active(kind), *_aside(kind), *_passive(kind))) for kind in _KINDS]
    families.append((r"based|built|model|adapted|derived|evolved", tuple(_based())))
    families += [(nouns, (_nominal(nouns, name, inverse),)) for nouns, name, inverse in _NOUNS]
    families += [(labels, (_labelled(labels, name, inverse),)) for labels, name, inverse in _LABELS]
    families += [(rf"\bwe\b.*(?:{verbs})", (_by_us(verbs, name, through),)) for verbs, name, through in _WE]
    families += [(hint, tuple(forms)) for hint, forms in _others()]
    return tuple((re.compile(hint, re.IGNORECASE), forms) for hint, forms in families)


def _active(kind: Kind) -> Iterator[Form]:
    did = rf"(?:(?:has|have)\s+{_ADVERB}|{_ADVERB})(?:{kind.past})"
    # Of two verbs, as in *extends and formalizes*, each counts.
    second = rf"(?:\s+and\s+{_ADVERB}[a-z]+s(?:\s+on)?)?"
    verb = rf"(?:[a-z]+s(?:\s+on)?\s+and\s+)?(?:{_ADVERB}(?:{kind.verbs})|{did}){second}"
    instead = rf"(?:,?\s+rather\s+than\s+{_ADVERB}(?:[a-z]+s|[a-z]+ing)(?:\s+on)?)?"
    says = rf"(?:{kind.verbs})\s+{kind.through}{_OBJECT}"
    yield _form(rf"{_SUBJECT}{_WHO}\s*\b{verb}{instead}\s+{kind.through}{_OBJECT}", kind.name, 0.9)
    if kind.through == _OF:
        named = rf"(?:[^‹›.;:,()]{{1,60}}?)\((?P<object>{_LIST})\)"
        yield _form(rf"{_SUBJECT}{_WHO}\s*\b{verb}\s+{named}", kind.name, 0.7)
    yield _form(rf"(?i:{_LEFT_OUT}{says})", kind.name, 0.8)
    also = rf"(?:[a-z][^‹›.;:]*(?:,|\band|\bbut)|[a-z]+s\b[^‹›.;:,]*{_LIST}\s+and)"
    yield _form(rf"^(?P<subject>‹s›)\s+{also}\s+{_ADVERB}{says}", kind.name, 0.75)


def _aside(kind: Kind) -> Iterator[Form]:
    """Yield the forms in which a kind is said beside something else."""
    says = rf"(?:{kind.verbs})\s+{kind.through}{_OBJECT}"
    yield _form(rf"^[^‹›]*\((?P<subject>){says}", kind.name, 0.6)
    yield _form(rf"^(?P<subject>‹\d+›)[^‹›.;]{{0,80}}\s[–—-]+\s+{_ADVERB}{says}", kind.name, 0.75)
    yield _form(rf"(?P<subject>‹\d+›)(?:\W[^‹›()]{{0,80}})?\((?:which\s+)?{_ADVERB}{says}", kind.name, 0.8)
    whom = rf"(?P<object>{_LIST}),?\s+(?:which|that)\s+(?P<subject>{_ANY})\s+"
    yield _form(rf"{whom}{_ADVERB}(?:{kind.verbs})(?=[\s.,;)]|$)", kind.name, 0.8)
    if kind.ing:
        doing = rf"(?:{kind.ing})\s+{kind.through}{_OBJECT}"
        yield _form(rf"(?P<subject>‹s›)[^.;]*,\s+(?:and\s+)?{doing}", kind.name, 0.7)
        yield _form(rf"(?i:(?:^|\band\s+){doing}),\s+(?P<subject>‹s›)", kind.name, 0.7)


def _passive(kind: Kind) -> Iterator[Form]:
    if not kind.by:
        return
    by = rf"(?:[a-z]+ed,?\s+(?:and|to be)\s+)?(?:{kind.by})\b[^‹›.,;()]{{0,24}}?\s+by\s+{_OBJECT}"
    yield _form(rf"{_SUBJECT}{_WHO}\s*\b{_BE}\s+{_ADVERB}{by}", kind.name, 0.9, inverse=True)
    yield _form(rf"(?P<subject>‹\d+›)(?:\W[^‹›()]{{0,80}})?\({_ADVERB}{by}", kind.name, 0.85, inverse=True)
    listed = rf"(?i:^(?P<subject>‹\d+›)[^‹›.;]{{0,80}}\s[–—-]+\s+{_ADVERB}{by})"
    yield _form(listed, kind.name, 0.75, inverse=True)
    if kind.name == "SUPERSEDES":
        yield _form(rf"(?i:{_LEFT_OUT}{_ADVERB}{by})", kind.name, 0.85, inverse=True)


def _based() -> Iterator[Form]:
    from_what = (
        r"(?:(?:based|built|modell?ed)\s+(?:up)?on(?:\s+top\s+of)?|(?:adapted|derived|evolved)(?:\s+\w+ly)?\s+from)"
    )
    based = rf"(?:\w+ly\s+)?{from_what}\s+{_through('of|in|from|by|per|for')}{_OBJECT}"
    yield _form(rf"{_SUBJECT}{_WHO}\s*\b{_BE}\s+{_ADVERB}{based}", "EXTENDS", 0.8)
    yield _form(rf"(?P<subject>‹\d+›)\s*\({_ADVERB}{based}", "EXTENDS", 0.8)
    yield _form(rf"(?i:{_LEFT_OUT}{_ADVERB}{based})", "EXTENDS", 0.7)


def _nominal(nouns: str, name: str, inverse: bool) -> Form:
    said = rf"(?:a|an|the)\s+(?:\w+\s+){{0,2}}?(?:{nouns})\s+(?:of|for|to|on)\s+{_OBJECT}"
    is_one = rf"\b(?:is|are|was|serves as|acts as)\s+{_ADVERB}{_HEDGE}{said}"
    return _form(rf"{_SUBJECT}{_WHO}\s*{is_one}", name, 0.8, inverse=inverse)


def _labelled(labels: str, name: str, inverse: bool) -> Form:
    return _form(rf"(?i:^(?P<subject>)(?:{labels})\s*(?:\([^()]*\)\s*)?:\s*{_OBJECT})", name, 0.85, inverse=inverse)


def _by_us(verbs: str, name: str, through: str) -> Form:
    return _form(rf"\b(?P<subject>)[Ww]e\s+{_ADVERB}(?:{verbs})\s+{through}{_OBJECT}", name, 0.6)


def _others() -> Iterator[tuple[str, list[Form]]]:
    also = r"^As\s+an?\s+(?:extension|update|supplement)\s+(?:of|to)\s+"
    yield "^as ", [_form(rf"{also}{_OBJECT},\s+(?P<subject>‹s›)", "EXTENDS", 0.8)]
    first = r"[^‹›.;]{0,60}?\bmust\s+(?:be\s+)?\w+\s+(?:first|before)\b"
    yield " must ", [_form(rf"(?P<subject>)(?P<object>{_LIST}){first}", "DEPENDS_ON", 0.6)]
    gone = r"(?:withdrawn|rejected|deprecated|abandoned|retired|dropped)\s+in\s+favou?r\s+of\s+"
    favoured = rf"{_BE}\s+{_ADVERB}{gone}{_through('in|of|with|from', 40)}{_OBJECT}"
    yield "favou?r", [_form(rf"{_SUBJECT}{_WHO}\s*\b{favoured}", "SUPERSEDES", 0.5, inverse=True)]
    yield "see also", [_form(rf"(?:^|[(;]\s*)(?P<subject>)[Ss]ee also:?\s+{_OBJECT}", "RELATES_TO", 0.6)]
    needed = r"(?P<object>‹s›)[^.;]*\bthat\s+(?P<subject>‹\d+›)\s+(?:depends|relies)\s+on\b"
    yield "depends|relies", [_form(needed, "DEPENDS_ON", 0.8)]
    added = rf"\b(?P<subject>)(?:[Aa]dded|[Aa]dds|[Hh]as)\s+(?:an?\s+)?{_OBJECT}\s+dependency\b"
    useless = rf"\b(?:makes|renders|made|rendered)\s+{_OBJECT}\s+(?:obsolete|redundant|moot)\b"
    yield "obsolete|redundant|moot", [_form(rf"{_SUBJECT}{_WHO}\s*{useless}", "SUPERSEDES", 0.8)]
    yield "dependency", [_form(added, "DEPENDS_ON", 0.7)]


def _form(pattern: str, kind: str, confidence: float, *, inverse: bool = False) -> Form:
    return Form(re.compile(pattern), kind, inverse, confidence)


_SUPPOSED = re.compile(
    r"\b(?:if|whether|unless|until|once|when|would|could|might|may|should|shall|suppose|assum(?:e|ing)|imagine"
    r"|propos(?:e|es|ed|ing)|plans? to|planned|ideally|alternatively|option|hypothetical|considered|rather than"
    r"|instead of|previously|originally|formerly|initially|at first|used to|no longer|not|never|nor|neither|without"
    r"|claim(?:s|ed)?|argue[sd]?|(?:hard|bare|scarce|rare|supposed|alleged|possib|probab|potential|hopeful|eventual"
    r"|presumab|previous|initial)ly)\b|n't\b|\?$",
    re.IGNORECASE,
)
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
    plain = sentence.plain
    if "‹" not in plain:
        return
    for form in (form for hint, forms in _families() if hint.search(plain) for form in forms):
        for match in form.pattern.finditer(plain):
            subjects = _subjects(match, it, sentence.heading)
            if not subjects or _doubtful(plain, match, form):
                continue
            for subject in subjects:
                for target in _marks(match["object"]):
                    if subject != target:
                        ends = (target, subject) if form.inverse else (subject, target)
                        yield Relation(form.kind, *ends, _sure(form, match))


def _subjects(match: re.Match[str], it: tuple[str, ...], heading: str) -> tuple[str, ...]:
    said = _said(match)
    if "‹" in said or said == ITSELF:
        return _marks(said)
    if said == "It":
        return it
    # Who is left out, or is `this`, may be one of the options that a section weighs.
    return () if OPTIONS.search(heading) else (ITSELF,)


def _doubtful(plain: str, match: re.Match[str], form: Form) -> bool:
    """Return whether what stands around a match denies it, supposes it, asks it, or is about something else."""
    before = plain[
        : next(match.start(name) for name in match.re.groupindex if name != "object" and match[name] is not None)
    ]
    if plain.endswith("?") or GOVERNED.search(before):
        return True
    if form.kind == "RELATES_TO" and "see also" in match[0].lower():
        return False  # it holds whatever else the sentence says
    said = re.sub(r"\brather\s+than\s+\w+(?:\s+on)?\s+(?=‹)", "", plain[: match.start("object")] + "‹")
    return _SUPPOSED.search(re.sub(r"\b(?:previous|original)\b", "", said)) is not None


def _said(match: re.Match[str]) -> str:
    """Return how the subject is said."""
    found = (match[name] for name in match.re.groupindex if name != "object")
    return next(said for said in found if said is not None).strip()


def _sure(form: Form, match: re.Match[str]) -> float:
    said = _said(match)
    partly = re.search(r"\b(?:partially|partly|in part|parts?)\b", match[0]) is not None
    groups = match.groupdict()
    around = any(groups.get(name) for name in ("begun", "part", "whose"))
    vague = (
        0.2
        if said in ("This", "It") or around
        else 0.1
        if "‹" not in said and said != ITSELF and form.confidence > 0.85
        else 0.0
    )
    return round(min(form.confidence - vague, 0.6 if partly else 1.0), 2)


def _marks(text: str) -> tuple[str, ...]:
    return (ITSELF,) if text == ITSELF else tuple(re.findall(r"(?<=‹)(?:\d+|s)(?=›)", text))
