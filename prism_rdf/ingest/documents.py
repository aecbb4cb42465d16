"""One document's text into what it says of itself and of others; its history and its neighbours are not known here."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate

from prism_rdf.ingest.blocks import Block, BlockReader
from prism_rdf.ingest.frontmatter import BadFrontMatter, FrontMatter, Value, split
from prism_rdf.ingest.identifiers import alone, counted_heading, in_file_name, split_heading
from prism_rdf.ingest.inline import Line, plain, read_lines
from prism_rdf.ingest.mapping import Rule
from prism_rdf.ingest.passages import Head, Passage, key_of, sections
from prism_rdf.ingest.statements import Mention, in_fields, in_status, kind_of, mentions
from prism_rdf.ingest.texts import Unreadable, decode

MAX_CONCEPTS = 20

_FIELD = re.compile(r"([A-Za-z][A-Za-z _-]{1,30}?)\s*:\s*(.*)")
_NAMES_SOMETHING = re.compile(r"ADR|SPEC|TODO|P(?:LAN|lan)|D(?:ELTA|elta)|J(?:OURNAL|ournal)|R(?:ETRO|etro)|\]\(|\]\[")
_TERM = re.compile(r"(?<!`)`([A-Za-z_][\w./:-]{1,38}\w)`(?!`)")
_ANY_ADR = re.compile(r"ADR\b", re.IGNORECASE)
_MEANT_AS_NUMBER = re.compile(r"^\W*ADR|\d", re.IGNORECASE)
_NUMBERING = ("id", "number", "adr")
_COMMON_WORDS = frozenset(
    re.findall(
        r"\w+",
        """a about adr adrs alternative alternatives an and appendix approach architecture benefits changes considered
        consequences considerations context current decision decisions details example examples for future goals
        implementation in issues key migration negative neutral next notes of on open option options overview phase
        plan positive problem proposed questions rationale references related requirements risks solution status
        steps strategy success summary testing the to usage use with work""",
    )
)


@dataclass(frozen=True)
class Finding:
    """Something that a decision record lacks or says in a form that is not understood; ``line`` counts from 1."""

    path: str
    line: int
    message: str
    rule: str
    mend: str


@dataclass(frozen=True)
class Document:
    """What one text says.

    ``number`` comes from the first heading, the front matter or a mapped field and is a strong claim; ``counted`` from
    a heading such as ``7. Title``. ``kind`` is the type that the text itself names, ``fields`` is what else it says of
    itself, by the name of a property where a ``rule`` says so, else by the name of the field.
    """

    title: str
    number: str
    counted: str
    status: str
    date: str
    mentions: tuple[Mention, ...]
    passages: tuple[Passage, ...]
    marked: bool
    findings: tuple[Finding, ...] = ()
    kind: str = ""
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    date_line: int = 0
    rule: Rule | None = None


def parse(data: bytes, blocks: BlockReader) -> Document:
    """Return what a markdown document says; raise Unreadable for what is no text or has broken front matter."""
    text = decode(data)
    try:
        front, body = split(text)
    except BadFrontMatter as error:
        raise Unreadable(error.reason, error.rule, error.mend, error.line) from error
    return _Reader(text, front, body).document(blocks)


def claim(document: Document, path: str) -> tuple[str, bool]:
    """Return (identifier, strong) that a document lays claim to; the identifier is empty when there is none."""
    if document.number:
        return document.number, True
    if document.rule is not None:
        return document.rule.identifier.in_file_name(path), False
    return in_file_name(path, decides=bool(document.status)) or document.counted, False


def field_values(value: Value) -> tuple[str, ...]:
    """Return the texts of a field that holds one or several; empty for anything deeper.

    >>> field_values(["a", "b"]), field_values(" c "), field_values({"d": "e"})
    (('a', 'b'), ('c',), ())
    """
    held = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    return tuple(dict.fromkeys(each.strip() for each in held if isinstance(each, str) and each.strip()))


class _Reader:
    """Reads one body from top to bottom: header lines before the first section, then sections."""

    def __init__(self, text: str, front: FrontMatter, body: str) -> None:
        self.text, self.front, self.body = text, front, body
        self.heading = ""
        self.heading_line = 0
        self.status_in_header = ""
        self.status_in_section = ""
        self.date = ""
        self.section: str | None = None  # None: still in the header
        self.list_of: tuple[str, bool, int] | None = None
        self.line = 0
        self.said: list[tuple[int, Mention]] = []
        self.terms: list[tuple[int, str]] = []
        self.heads: list[tuple[int, Block, str]] = []
        self.findings: list[Finding] = []

    def document(self, blocks: BlockReader) -> Document:
        for line, block in blocks.read(self.body):
            self.line = line + self.front.lines + 1
            self._block(block, self.line)
        self.line = 0
        named, unknown = in_fields(self.front.fields)
        self._say(named)
        for key, value in unknown:
            self._unknown_form(self.front.line_of(key), value)
        number, title = split_heading(self.heading)
        fields = self.front
        number = number or next(filter(None, (alone(fields.text(key)) for key in _NUMBERING)), "")
        front_status = fields.text("status")
        if front_status:
            for part in read_lines(front_status):
                self._say(in_status(part))
        status = plain(front_status) or self.status_in_header or self.status_in_section
        title = title or plain(fields.text("title"))
        counted = counted_heading(self.heading)
        self._complain(title, status, number)
        listed = bool(status) and any(key in fields.fields for key in _NUMBERING)
        return Document(
            title=title,
            number=number,
            counted=counted,
            status=status,
            date=fields.text("date") or fields.text("created") or self.date,
            mentions=tuple(sorted({mention for _, mention in self.said})),
            passages=tuple(self._passages()),
            marked=bool(split_heading(self.heading)[0]) or listed or bool(counted and status),
            findings=tuple(sorted(self.findings, key=lambda finding: finding.line)),
            kind=fields.text("type") or fields.text("kind"),
            fields={key: values for key, value in fields.fields.items() if (values := field_values(value))},
            date_line=fields.line_of("date" if fields.text("date") else "created"),
        )

    def _say(self, found: Iterable[Mention]) -> None:
        self.said += [(self.line, mention) for mention in found]

    def _block(self, block: Block, line: int) -> None:
        if "`" in block.content:
            self.terms += [(line, term) for term in _TERM.findall(block.content)]
        # Fields that end in a rule without a blank line are a heading to markdown, and fields to whoever wrote them.
        fields = (
            self.section is None and block.underlined and block.level == 2 and _FIELD.fullmatch(plain(block.content))
        )
        if block.level and not fields:
            self._heading(block, line)
        elif self.section is None:
            self._header(block, line)
        elif self.section == "status":
            self._status_section(block.content)
        elif _NAMES_SOMETHING.search(block.content):
            self._prose(read_lines(block.content))

    def _heading(self, block: Block, line: int) -> None:
        lines = read_lines(block.content)
        text = " ".join(part.text.strip() for part in lines)
        if block.depth == 1:
            self.heads.append((line, block, text))
        if block.level == 1 and not self.heading:
            self.heading, self.heading_line = text, line
            return
        self.section = text.strip(" :").casefold()
        self._prose(lines)

    def _header(self, block: Block, line: int) -> None:
        """Read ``**Status:** Accepted`` and its like; ``**Related:**`` may be followed by a list."""
        for number, text in enumerate(read_lines(block.content), start=line):
            match = _FIELD.fullmatch(text.text.strip())
            key = match[1].lower() if match else ""
            kind = kind_of(key) if match else None
            if match and key == "status":
                self.status_in_header = self.status_in_header or match[2].strip()
                self._say(in_status(text))
            elif match and kind:
                self.list_of = (*kind, block.depth)
                named = list(mentions(text.names(), kind[0], inverse=kind[1]))
                self._say(named)
                if match[2].strip() and not named:
                    self._unknown_form(number, match[2].strip())
            elif self.list_of and block.depth > self.list_of[2]:
                self._say(mentions(text.names(), self.list_of[0], inverse=self.list_of[1]))
            else:
                self.list_of = None
                if key in ("date", "created") and match:
                    self.date = self.date or match[2].strip()
                self._prose([text])

    def _status_section(self, content: str) -> None:
        for line in read_lines(content):
            self.status_in_section = self.status_in_section or line.text.strip()
            self._say(in_status(line))

    def _prose(self, lines: Iterable[Line]) -> None:
        for line in lines:
            self._say(mentions(line.names()))

    def _passages(self) -> Iterable[Passage]:
        """Yield the sections, each with what it mentions; a section's own words come after its front matter."""
        starts = [0, *accumulate(len(line) + 1 for line in self.text.split("\n"))]
        begin = starts[self.front.lines]
        heads = [
            Head(starts[line - 1], starts[line + block.underlined] - 1, block.level, text)
            for line, block, text in self.heads
        ]
        seen: Counter[str] = Counter()
        for section in sections(self.text, begin, heads):
            content = self.text[section.start : section.end]
            path = section.path[1:] if section.path[:1] == (self.heading,) else section.path
            key = key_of(path, content)
            seen[key] += 1
            # What the front matter says of others belongs to the first passage.
            first = bisect_right(starts, section.start) if seen.total() > 1 else 0
            last = bisect_right(starts, section.end)
            yield Passage(
                path=section.path,
                start=section.start,
                end=section.end,
                content=content,
                key=key if seen[key] == 1 else key_of(path, content, seen[key]),
                mentions=tuple(sorted({said for line, said in self.said if first <= line <= last})),
                concepts=self._concepts(first, last),
            )

    def _concepts(self, first: int, last: int) -> tuple[str, ...]:
        """Return terms set as code more than once, then headings that name something: at most MAX_CONCEPTS."""
        counts = Counter(term for line, term in self.terms if first <= line <= last)
        repeated = [term for term, count in counts.items() if count > 1]
        terms = sorted(repeated, key=lambda term: (-counts[term], term))[: MAX_CONCEPTS * 3 // 5]
        headings = [text for line, block, text in self.heads if first <= line <= last and _names_something(text)]
        return tuple(dict.fromkeys([*terms, *headings]))[:MAX_CONCEPTS]

    def _unknown_form(self, line: int, text: str) -> None:
        if not _MEANT_AS_NUMBER.search(text):
            return
        self._find(
            line,
            f"cannot read {text[:80]!r} as the identifier of a decision",
            "an identifier is ADR- and a number, such as ADR-12, ADR-0012 or ADR-304.1",
            "write it in this form, or link to the file",
        )

    def _complain(self, title: str, status: str, number: str) -> None:
        if not title:
            self._find(1, "no title", "the first heading is `# ADR-n: Title`", "add a heading of level 1")
        elif not number and _ANY_ADR.match(self.heading):
            self._unknown_form(self.heading_line, self.heading)
        if not status:
            self._find(
                self.heading_line or 1,
                "no status",
                "a record has `status:` in its front matter, a line `**Status:** …` or a section `## Status`",
                "add `status: Proposed` to the front matter",
            )

    def _find(self, line: int, message: str, rule: str, mend: str) -> None:
        self.findings.append(Finding("", line, message, rule, mend))


def _names_something(heading: str) -> bool:
    words = heading.split()
    if not 2 <= len(words) <= 5 or not all(word.replace("-", "").isalpha() for word in words):
        return False
    telling = [word for word in words if word.lower() not in _COMMON_WORDS]
    return len(telling) >= 2 and all(word[0].isupper() for word in telling)
