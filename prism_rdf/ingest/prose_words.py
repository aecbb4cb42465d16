"""The words by which prose relates documents, kind by kind, and those that take back what is said; forms are apart.

Verbs stand in the third person and plain, since *ADR-3 extends* and *we extend* say the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

ANY = r"‹(?:\d+|s)›"
_UNFIT = r"\b(?:as|than|like|unlike|that|which|when|if|not|so|because|while|how|whether|before|after|instead|without)\b"


def through(prepositions: str, most: int = 70) -> str:
    """Return what may stand before an object, such as *the grounding calculation of*."""
    return rf"(?:(?!{ANY})(?:(?!{_UNFIT})[^‹›,;:.()]){{1,{most}}}?\b(?:{prepositions})\s+(?:the\s+)?)?"


_LAID = (
    r"(?:as\s+)?(?:described|defined|specified|introduced|provided|proposed"
    r"|discussed|stated|laid out|set out|outlined|given)"
)
# Any words that do not turn the sentence, as in *builds on the work that went into*; then *, as described in*.
OF = rf"(?:(?!{ANY})(?:(?!{_UNFIT})(?:[^‹›,;:.()]|\.(?=\w))){{1,90}}?(?:,?\s+{_LAID}\s+(?:in|by))?\s)?"
_TO = through("of|for", 60)
_PART = (
    r"(?:(?:(?:large |major |some )?parts? of"
    r"|most of|the (?:approach|design|decision|proposal|plan|scheme|rules?|mechanism|model)(?: \w+){0,2} "
    rf"(?:of|in|from|{_LAID} in))\s+)?"
)
_TROUBLE = (
    r"(?:issues?|questions?|problems?|gaps?|bugs?|concerns?|limitations?|shortcomings?|deficienc(?:y|ies)|flaws?"
    r"|drawbacks?|ambiguit(?:y|ies)|inconsistenc(?:y|ies)|weakness(?:es)?|loopholes?|omissions?|risks?)"
)
_OPEN = (
    rf"(?:(?:(?:the|an?|one|some|many|most|several|all|two|three"
    rf"|both)\s+)?(?:of\s+the\s+)?(?:[\w-]+\s+){{0,3}}?{_TROUBLE}\s+"
    r"(?:of|in|from|with|(?:\w+ed|left open|found|seen|known)\s+(?:in|by|with|from))\s+)?"
)
_NEED = through(rf"of|from|by|{_LAID} (?:in|by)", 50).replace(r"\b(?:of", r"(?:,\s+|\b)(?:of")


@dataclass(frozen=True)
class Kind:
    """A kind of reference and the words for it: verbs, participle, what may stand before the object.

    ``by``: the participles of its passive; ``ing``: how it is said beside another verb; ``bids``: verbs that a plan
    bids with, of itself (*Extend ADR-3 with …*); ``aside``: the object may follow in brackets.
    """

    name: str
    verbs: str
    past: str
    through: str
    by: str = ""
    ing: str = ""
    bids: str = ""
    aside: bool = False

    @property
    def hint(self) -> str:
        """Return what every sentence of this kind holds: how each word begins, else one of the words within it."""
        said = "|".join(filter(None, (self.verbs, self.past, self.by, self.ing, self.bids)))
        hints: list[str] = []
        for word in re.split(r"\|(?![^()]*\))", said):
            begin = re.match(r"[a-z]*", word)
            hints += [begin[0][:4]] if begin and len(begin[0]) > 2 else re.findall(r"[a-z]{4,}", word)
        return "|".join(dict.fromkeys(hints))


_REPLACED = (
    r"superseded|superceded|replaced|obsoleted|supplanted|subsumed|displaced|overridden|overtaken|succeeded|rescinded"
    r"|absorbed|made obsolete|rendered obsolete"
)
KINDS = (
    Kind(
        "SUPERSEDES",
        r"supersedes?|supercedes?|replaces?|obsoletes?|supplants?|subsumes?|takes? (?:the place of|over from)"
        r"|overrides?"
        r"|displaces?|retires?|rescinds?|revokes?|succeeds?|swaps? out",
        _REPLACED + "|retired|revoked",
        _PART,
        _REPLACED,
        "superseding|replacing|obsoleting|retiring",
        aside=True,
    ),
    Kind(
        "EXTENDS",
        r"extends?|builds? (?:up)?on(?: top of)?|supplements?|amends?|updates?|refines?|expands? (?:up)?on"
        r"|generali[sz]es?"
        r"|revises?|clarif(?:ies|y)|enhances?|augments?|elaborates? on|follows? (?:up )?on(?: from)?"
        r"|goes beyond|broadens?"
        r"|modif(?:ies|y)|draws? (?:up)?on|continues?(?! in| as)|evolves?|relaxes|tightens|borrows? from|widens?",
        r"extended|built (?:up)?on(?: top of)?|supplemented|amended|updated|refined|generali[sz]ed|revised|enhanced"
        r"|augmented|broadened|modified|clarified",
        OF,
        "extended|amended|updated|supplemented|revised|enhanced|augmented|modified|clarified|refined|generali[sz]ed",
        r"building (?:up)?on|extending|amending|expanding (?:up)?on|enhancing|augmenting|refining|following up on",
        r"extend|build (?:up)?on|enhance|expand (?:up)?on|augment|generali[sz]e",
        aside=True,
    ),
    Kind(
        "IMPLEMENTS",
        r"implements?|reali[sz]es?|fulfill?s?|satisf(?:ies|y)|carr(?:ies|y) out|puts? into (?:practice|effect)",
        r"implemented|reali[sz]ed|fulfilled|satisfied",
        OF,
        r"implemented|reali[sz]ed|fulfilled",
        r"implementing|reali[sz]ing|fulfilling",
        aside=True,
    ),
    Kind(
        "DEPENDS_ON",
        r"depends? (?:up)?on|rel(?:ies|y) (?:up)?on|hinges? (?:up)?on|rests? (?:up)?on|is (?:blocked|gated) (?:by|on)"
        r"|is (?:contingent|conditional|predicated|dependent|reliant) (?:up)?on|leverages?|re-?uses?|utili[sz]es?"
        r"|makes? use of|uses? (?:the )?(?:existing|same|current)",
        r"relied (?:up)?on|leveraged|re-?used",
        OF,
        r"leveraged|re-?used",
        r"leveraging|re-?using|relying (?:up)?on|making use of",
        r"leverage|re-?use|rely (?:up)?on|make use of",
        aside=True,
    ),
    Kind(
        "DEPENDS_ON",
        "requires?|needs?(?! to\\b)|presupposes?|assumes",
        "required",
        _NEED,
        "required|needed|presupposed",
        aside=True,
    ),
    Kind("SPECIFIES", r"specif(?:ies|y)|spells? out", "specified|spelled out", _TO),
    Kind(
        "FORMALIZES",
        r"formali[sz]es?|codif(?:ies|y)|enshrines?",
        r"formali[sz]ed|codified|enshrined",
        _TO,
        r"formali[sz]ed|codified",
    ),
    Kind(
        "RESOLVES",
        r"resolves?|fixes|closes?|addresses|solves?|settles?|answers?|remed(?:ies|y)|cleans? up|clears? up|tackles?"
        r"|mitigates?",
        "resolved|fixed|closed|addressed|solved|settled|answered|remedied",
        _OPEN,
        "resolved|solved|addressed|settled",
        "resolving|solving|addressing|fixing",
    ),
    Kind("DOCUMENTS", "documents", "documented", _TO, "documented"),
    Kind(
        "RELATES_TO",
        r"relates? to|complements?|(?:is|are) (?:closely |also |directly )?(?:related|complementary|tied) to"
        r"|accompan(?:ies|y)"
        r"|goes hand in hand with",
        "complemented|accompanied",
        OF,
        "complemented|accompanied",
        "complementing|accompanying",
    ),
)
NOUNS = (
    (
        r"extension|continuation|amendment|update|supplement|addendum|addition|follow-?(?:up|on)|refinement|revision"
        r"|generali[sz]ation|speciali[sz]ation|enhancement|variant|variation|elaboration|evolution|superset"
        r"|modification",
        "EXTENDS",
        False,
    ),
    (
        r"successor|replacement|re-?write|(?:updated|new|newer|revised|rewritten|reworked|cleaner|simplified"
        r"|second) version",
        "SUPERSEDES",
        False,
    ),
    (r"predecessor|precursor|forerunner", "SUPERSEDES", True),
    (r"implementation|reali[sz]ation", "IMPLEMENTS", False),
    (r"formali[sz]ation|codification", "FORMALIZES", False),
    (r"companion|complement|counterpart|sibling|sister|twin", "RELATES_TO", False),
    (r"prerequisite|precondition|pre-requisite|dependency", "DEPENDS_ON", True),
)
LABELS = (
    (
        r"related(?: to)?|relates to|related (?:adrs?|peps?|specs?|decisions?|documents?|work)|see also"
        r"|complements|companions?",
        "RELATES_TO",
        False,
    ),
    (r"supersedes|replaces|obsoletes", "SUPERSEDES", False),
    (r"superseded[ -]by|replaced[ -]by|obsoleted[ -]by|successor", "SUPERSEDES", True),
    (r"depends on|requires|prerequisites?|dependenc(?:y|ies)|depends|builds on top of|blocked by", "DEPENDS_ON", False),
    (r"extends|builds on|amends|updates|follow-?up to|continues", "EXTENDS", False),
    (r"implements", "IMPLEMENTS", False),
    (r"specifies", "SPECIFIES", False),
    (r"formali[sz]es", "FORMALIZES", False),
    (r"resolves|fixes|closes|addresses", "RESOLVES", False),
    (r"documents", "DOCUMENTS", False),
)
# What takes back what a sentence says, wherever it stands before it.
SUPPOSED = (
    r"if|whether|unless|until|once|when|would|could|might|may|should|shall|suppose|assuming|propos(?:e[sd]?|ing)"
    r"|ideally|previously|originally|formerly|initially|at first|no longer|not|never|nor|neither"
)
SUPPOSED_RELATION = re.compile(
    rf"\b(?:{SUPPOSED}|assume|imagine|plans? to|planned|alternatively|option|hypothetical|considered|rather than"
    r"|instead of|used to|without|claim(?:s|ed)?|argue[sd]?|(?:hard|bare|scarce|rare|supposed|alleged|possib|probab"
    r"|potential|hopeful|eventual|presumab|previous|initial)ly)\b|n't\b|\?$",
    re.IGNORECASE,
)
SUPPOSED_CHANGE = re.compile(
    rf"\b(?:{SUPPOSED}|before|after|must|will|had|versions?|drafts?)\b|n't\b|\?$", re.IGNORECASE
)
