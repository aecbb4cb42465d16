"""Documents read by the rule of a mapping, and reST without one: fields first, then a body cut into passages."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from prism_rdf.ingest.documents import MAX_CONCEPTS, Document, Finding, field_values
from prism_rdf.ingest.frontmatter import BadFrontMatter, split
from prism_rdf.ingest.headers import Fields, field_list, rfc822
from prism_rdf.ingest.identifiers import in_text, split_heading
from prism_rdf.ingest.inline import plain
from prism_rdf.ingest.mapping import Rule
from prism_rdf.ingest.markup import headings, text_blocks, without_code
from prism_rdf.ingest.passages import Head, Passage, key_of_words, sections
from prism_rdf.ingest.statements import REFERENCES, Mention, kind_of
from prism_rdf.ingest.texts import Unreadable, decode

_LITERAL = re.compile(r"``([A-Za-z_][\w./:-]{1,38}\w)``")
_REST = Rule("", (), format="rst", body="rst")
_MOST_KEPT = 4_000


@dataclass(frozen=True)
class _Said:
    """What the words of one section mention; the same words are read once."""

    mentions: tuple[Mention, ...]
    concepts: tuple[str, ...]
    words: str


@dataclass
class MappedReader:
    """Reads texts by rules. Sections that were read before are not read again: versions of a text are much alike."""

    _known: dict[tuple[bytes, int], _Said] = field(default_factory=dict)

    def read(self, data: bytes, rule: Rule | None) -> Document:
        """Return what a document says by a rule (None: reST with a field list); raise Unreadable."""
        chosen = rule or _REST
        text = decode(data, chosen.encodings)
        title, fields, body = _top(text, chosen)
        heads = _heads(text, body, chosen)
        values, mentions = _by_rule(fields, chosen) if rule else _by_name(fields)
        number = chosen.identifier.of(fields.text(chosen.identifier.field)) if chosen.identifier.field else ""
        if not title and heads and chosen.format in ("rst", "markdown"):
            title = heads[0].title
        if rule is None:
            number, title = split_heading(plain(title))
        title = next(iter(values.get("title", ())), title)
        passages = tuple(self._passages(text, body, heads, chosen, rule))
        said = {*mentions, *(mention for passage in passages for mention in passage.mentions)}
        dated = next((line for name, _, line in fields.fields if name.lower() in ("date", "created")), 1)
        return Document(
            title=title,
            number=number,
            counted="",
            status=next(iter(values.get("status", ())), ""),
            date=next(iter(values.get("date", ())), ""),
            mentions=tuple(sorted(said)),
            passages=passages,
            marked=rule is not None or bool(number),
            findings=tuple(_odd(fields)),
            kind=chosen.type or fields.text("type") or fields.text("kind"),
            fields={name: held for name, held in values.items() if rule is None or name not in ("title", "status")},
            date_line=dated,
            rule=rule,
        )

    def _passages(self, text: str, body: int, heads: list[Head], rule: Rule, known: Rule | None) -> Iterator[Passage]:
        seen: Counter[str] = Counter()
        for section in sections(text, body, heads):
            content = text[section.start : section.end]
            said = self._said(content, rule, known)
            key = key_of_words(section.path, said.words)
            seen[key] += 1
            if seen[key] > 1:
                key = key_of_words(section.path, said.words, seen[key])
            yield Passage(section.path, section.start, section.end, content, key, said.mentions, said.concepts)

    def _said(self, content: str, rule: Rule, known: Rule | None) -> _Said:
        name = blake2b(content.encode(errors="replace"), digest_size=16).digest(), id(known)
        found = self._known.get(name)
        if found is None:
            if len(self._known) >= _MOST_KEPT:
                self._known.clear()
            found = self._known[name] = _read_section(content, rule, known)
        return found


def records(data: bytes, rule: Rule) -> dict[str, bytes]:
    """Return the records of a JSON file that holds several, by their identifying field; raise Unreadable.

    A JSON Lines file holds one on each line, a JSON file a list of them, or a single one.
    """
    text = decode(data, rule.encodings)
    found: dict[str, bytes] = {}
    for number, record in _objects(text, rule):
        name = str(record.get(rule.record or rule.identifier.field, "")) or str(number)
        found[name] = json.dumps(record, ensure_ascii=False, sort_keys=True).encode()
    return found


def _objects(text: str, rule: Rule) -> Iterator[tuple[int, dict[str, Any]]]:
    if rule.format == "jsonl":
        lines = [(n, line) for n, line in enumerate(text.split("\n"), start=1) if line.strip()]
        loaded = [(n, _json(line, n)) for n, line in lines]
    else:
        whole = _json(text, 0)
        loaded = list(enumerate(whole if isinstance(whole, list) else [whole], start=1))
    for number, record in loaded:
        if not isinstance(record, dict):
            raise Unreadable(f"record {number} is no object", "a record is a JSON object", "mend it", number)
        yield number, record


def _json(text: str, line: int) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        at = line or getattr(error, "lineno", 1)
        raise Unreadable(f"it is not JSON: {error}", "a record is JSON", "mend that line", at) from error


def _top(text: str, rule: Rule) -> tuple[str, Fields, int]:
    """Return (title of the text itself, fields, where the body begins)."""
    if rule.format == "rfc822":
        found = rfc822(text)
        return "", found, found.body
    if rule.format in ("json", "jsonl"):
        record = _json(text, 0)
        held = {str(key): _texts_of(value) for key, value in record.items()}
        fields = tuple((key, value, 1) for key, values in held.items() for value in values)
        return "", Fields(fields), len(text)
    if rule.format == "markdown":
        try:
            front, _ = split(text)
        except BadFrontMatter as error:
            raise Unreadable(error.reason, error.rule, error.mend, error.line) from error
        listed = ((key, each, front.line_of(key)) for key, held in front.fields.items() for each in field_values(held))
        body = sum(len(line) + 1 for line in text.split("\n")[: front.lines])
        return "", Fields(tuple(listed)), min(body, len(text))
    first = next(iter(headings(text, "rst")), None)
    at_top = first is not None and not text[: first.start].strip()
    found = field_list(text, first.end if first is not None and at_top else 0)
    return (first.title if first is not None and at_top else ""), found, 0


def _texts_of(value: Any) -> list[str]:
    held = value if isinstance(value, list) else [value]
    return [
        str(each).lower() if isinstance(each, bool) else str(each)
        for each in held
        if isinstance(each, str | int | float)
    ]


def _heads(text: str, body: int, rule: Rule) -> list[Head]:
    if rule.body == "markdown":
        found = [block for block in text_blocks(text[body:], "markdown") if block.kind == "heading"]
    else:
        found = headings(text[body:], "text")
    return [
        Head(h.start + body, h.end + body, h.level, plain(h.title) if rule.body == "markdown" else h.title)
        for h in found
    ]


def _by_rule(fields: Fields, rule: Rule) -> tuple[dict[str, tuple[str, ...]], list[Mention]]:
    values: dict[str, tuple[str, ...]] = {}
    mentions: list[Mention] = []
    for name, text, _ in fields.fields:
        wanted = rule.fields.get(name.lower())
        if wanted is None:
            continue
        parts = wanted.parts(text)
        if wanted.property and parts:
            values[wanted.property] = tuple(dict.fromkeys((*values.get(wanted.property, ()), *parts)))
        if wanted.reference:
            numbers = (number for part in parts for number in rule.identifier.named_in(part))
            mentions += [Mention(wanted.reference, number, "", wanted.inverse) for number in numbers]
    return values, mentions


def _by_name(fields: Fields) -> tuple[dict[str, tuple[str, ...]], list[Mention]]:
    values: dict[str, tuple[str, ...]] = {}
    mentions: list[Mention] = []
    for name, text, _ in fields.fields:
        key, kind = name.strip().lower(), kind_of(name)
        if kind is not None:
            mentions += [Mention(kind[0], number, "", kind[1]) for _, number in in_text(text)]
        elif text and key not in values:
            values["date" if key == "created" else key] = (plain(text),)
    return values, mentions


def _read_section(content: str, rule: Rule, known: Rule | None) -> _Said:
    prose = content if rule.body == "markdown" else without_code(content)
    if rule.body == "markdown":
        prose = "\n\n".join(
            content[block.start : block.end] for block in text_blocks(content, "markdown") if block.kind != "code"
        )
    if known is None:
        named: Iterable[str] = (identifier for _, identifier in in_text(_unquoted(prose)))
    else:
        named = rule.identifier.within(prose)
    counts = Counter(_LITERAL.findall(content))
    repeated = sorted((term for term, count in counts.items() if count > 1), key=lambda term: (-counts[term], term))
    mentions = tuple(sorted({Mention(REFERENCES, name) for name in named}))
    return _Said(mentions, tuple(repeated[:MAX_CONCEPTS]), " ".join(content.split()))


def _unquoted(prose: str) -> str:
    return re.sub(r"``[^`\n]*``", lambda match: " " * len(match[0]), prose)


def _odd(fields: Fields) -> Iterator[Finding]:
    for line, text in fields.odd:
        yield Finding(
            "",
            line,
            f"cannot read {text[:80]!r} as a field",
            "a field is `Name: value`, and goes on in lines that begin with a blank",
            "indent the line, or end the fields with a blank line above it",
        )
