"""One document's text into what it says of itself and of others; its history and its neighbours are not known here."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

from prism_rdf.ingest.blocks import Block, BlockReader
from prism_rdf.ingest.frontmatter import BadFrontMatter, FrontMatter, split
from prism_rdf.ingest.identifiers import alone, counted_heading, in_file_name, not_a_record, split_heading
from prism_rdf.ingest.inline import Line, plain, read_lines
from prism_rdf.ingest.statements import Mention, in_fields, in_status, kind_of, mentions

MAX_BYTES = 2 * 1024 * 1024
MAX_CONCEPTS = 20

_FIELD = re.compile(r"([A-Za-z][A-Za-z _-]{1,30}?)\s*:\s*(.*)")
_NAMES_SOMETHING = re.compile(r"ADR|\]\(|\]\[")
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


class Unreadable(Exception):
    """A version of a document that cannot be read: the thing, the rule and the mend; ``line`` 0 when unknown."""

    def __init__(self, reason: str, rule: str, mend: str, line: int = 0) -> None:
        super().__init__(reason)
        self.reason, self.rule, self.mend, self.line = reason, rule, mend, line


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

    ``number`` comes from the first heading or the front matter and is a strong claim; ``counted`` from a heading such
    as ``7. Title``. ``text`` is without front matter; ``meaning`` is a hash of it that white space does not change.
    """

    title: str
    number: str
    counted: str
    status: str
    date: str
    mentions: tuple[Mention, ...]
    concepts: tuple[str, ...]
    text: str
    meaning: str
    marked: bool
    findings: tuple[Finding, ...] = ()


def decode(data: bytes) -> str:
    """Return the text of a file with ``\\n`` line ends and no byte order mark; raise Unreadable."""
    if len(data) > MAX_BYTES:
        raise Unreadable(
            f"the file has {len(data):,} bytes",
            f"a document has at most {MAX_BYTES:,}",
            "split it, or move its data into a file of another kind",
        )
    if b"\0" in data and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Unreadable(
            "the file is binary", "a document is text in UTF-8", "give it another suffix, or write it again as text"
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Unreadable(
            f"the file is not UTF-8: byte 0x{data[error.start]:02x} in line {line}",
            "a document is text in UTF-8",
            "save it as UTF-8, for instance with `iconv -f LATIN1 -t UTF-8`",
            line,
        ) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def parse(data: bytes, blocks: BlockReader) -> Document:
    """Return what a document says; raise Unreadable for what is no text or has broken front matter."""
    text = decode(data)
    try:
        front, body = split(text)
    except BadFrontMatter as error:
        raise Unreadable(error.reason, error.rule, error.mend, error.line) from error
    return _Reader(front, body).document(blocks)


def claim(document: Document, path: str) -> tuple[str, bool]:
    """Return (identifier, strong) that a document lays claim to; the identifier is empty when there is none."""
    if document.number:
        return document.number, True
    return in_file_name(path, decides=bool(document.status)) or document.counted, False


def is_record(document: Document, path: str) -> bool:
    """Return whether a document is a decision record: by its heading, its front matter, or its file name."""
    if not_a_record(path):
        return False
    return document.marked or bool(in_file_name(path, decides=bool(document.status)))


class _Reader:
    """Reads one body from top to bottom: header lines before the first section, then sections."""

    def __init__(self, front: FrontMatter, body: str) -> None:
        self.front, self.body = front, body
        self.heading = ""
        self.heading_line = 0
        self.status_in_header = ""
        self.status_in_section = ""
        self.date = ""
        self.section: str | None = None  # None: still in the header
        self.list_of: tuple[str, bool, int] | None = None
        self.mentions: list[Mention] = []
        self.terms: Counter[str] = Counter()
        self.headings: list[str] = []
        self.findings: list[Finding] = []

    def document(self, blocks: BlockReader) -> Document:
        for line, block in blocks.read(self.body):
            self._block(block, line + self.front.lines + 1)
        named, unknown = in_fields(self.front.fields)
        self.mentions += named
        for key, value in unknown:
            self._unknown_form(self.front.line_of(key), value)
        number, title = split_heading(self.heading)
        fields = self.front
        number = number or next(filter(None, (alone(fields.text(key)) for key in _NUMBERING)), "")
        front_status = fields.text("status")
        if front_status:
            self.mentions += [said for line in read_lines(front_status) for said in in_status(line)]
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
            mentions=tuple(sorted(set(self.mentions))),
            concepts=self._concepts(),
            text=self.body.strip(),
            meaning=sha256(" ".join(self.body.split()).encode()).hexdigest(),
            marked=bool(split_heading(self.heading)[0]) or listed or bool(counted and status),
            findings=tuple(sorted(self.findings, key=lambda finding: finding.line)),
        )

    def _block(self, block: Block, line: int) -> None:
        self.terms.update(_TERM.findall(block.content))
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
        if block.level == 1 and not self.heading:
            self.heading, self.heading_line = text, line
            return
        self.section = text.strip(" :").casefold()
        self.headings.append(text)
        self._prose(lines)

    def _header(self, block: Block, line: int) -> None:
        """Read ``**Status:** Accepted`` and its like; ``**Related:**`` may be followed by a list."""
        for number, text in enumerate(read_lines(block.content), start=line):
            match = _FIELD.fullmatch(text.text.strip())
            key = match[1].lower() if match else ""
            kind = kind_of(key) if match else None
            if match and key == "status":
                self.status_in_header = self.status_in_header or match[2].strip()
                self.mentions += in_status(text)
            elif match and kind:
                self.list_of = (*kind, block.depth)
                named = list(mentions(text.names(), kind[0], inverse=kind[1]))
                self.mentions += named
                if match[2].strip() and not named:
                    self._unknown_form(number, match[2].strip())
            elif self.list_of and block.depth > self.list_of[2]:
                self.mentions += mentions(text.names(), self.list_of[0], inverse=self.list_of[1])
            else:
                self.list_of = None
                if key in ("date", "created") and match:
                    self.date = self.date or match[2].strip()
                self._prose([text])

    def _status_section(self, content: str) -> None:
        for line in read_lines(content):
            self.status_in_section = self.status_in_section or line.text.strip()
            self.mentions += in_status(line)

    def _prose(self, lines: Iterable[Line]) -> None:
        for line in lines:
            self.mentions += mentions(line.names())

    def _concepts(self) -> tuple[str, ...]:
        """Return terms set as code more than once, then headings that name something: at most MAX_CONCEPTS."""
        repeated = [term for term, count in self.terms.items() if count > 1]
        terms = sorted(repeated, key=lambda term: (-self.terms[term], term))[: MAX_CONCEPTS * 3 // 5]
        headings = [heading for heading in self.headings if _names_something(heading)]
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
