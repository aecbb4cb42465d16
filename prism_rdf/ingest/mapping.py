"""Mapping files: which files of a project are documents of which type, and what their fields mean; nothing is read.

A mapping is a TOML file, ``.prism/ingest.toml`` in the folder that is read, or one that ships with the package.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from collections.abc import Mapping as Map
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from prism_rdf.canonical.catalog import EntityType, TypeCatalog
from prism_rdf.errors import BadArgument, NotFoundError, PrismError
from prism_rdf.ingest.texts import ENCODINGS

OWN = ".prism/ingest.toml"
FORMATS = {"rfc822": "rst", "markdown": "markdown", "rst": "rst", "json": "text", "jsonl": "text"}
BODIES = ("markdown", "rst", "text")

_NUMBER = re.compile(r"[A-Za-z]{0,8}[-.]?\d[\w.-]*")
_RULE_KEYS = {"type", "paths", "not", "format", "body", "encodings", "identifier", "fields", "record"}
_IDENTIFIER_KEYS = {"field", "form", "file", "text"}
_FIELD_KEYS = {"property", "reference", "inverse", "split", "values"}


@dataclass(frozen=True)
class FieldRule:
    """What a field becomes: a property, a kind of reference, or both. ``split`` is where a list is cut."""

    property: str = ""
    reference: str = ""
    inverse: bool = False
    split: re.Pattern[str] | None = None
    values: Map[str, str] = field(default_factory=dict)

    def parts(self, text: str) -> tuple[str, ...]:
        """Return the values that a field holds, each as the project's own words are mapped.

        >>> FieldRule("tags", split=re.compile(r",\\s*"), values={"db": "database"}).parts("db, web,")
        ('database', 'web')
        """
        found = self.split.split(text) if self.split is not None else [text]
        return tuple(dict.fromkeys(self.values.get(part.strip(), part.strip()) for part in found if part.strip()))


@dataclass(frozen=True)
class IdentifierRule:
    """How a document is numbered: by a field, by its file name, and how a text names it. ``form`` holds one ``{}``."""

    field: str = ""
    form: str = "{}"
    file: re.Pattern[str] | None = None
    text: tuple[re.Pattern[str], ...] = ()

    def of(self, number: str) -> str:
        """Return the identifier with this number, without leading zeros; empty for what holds no number.

        >>> IdentifierRule(form="PEP {}").of("0008"), IdentifierRule(form="PEP {}").of("XXX")
        ('PEP 8', '')
        """
        match = _NUMBER.match(number.strip())
        if match is None:
            return ""
        return self.form.format(match[0].lstrip("0") or "0" if match[0].isdigit() else match[0])

    def named_in(self, text: str) -> tuple[str, ...]:
        """Return the identifiers in one part of a field: a bare number, or what a text would name."""
        return (self.of(text),) if _NUMBER.fullmatch(text.strip()) else tuple(self.within(text))

    def within(self, text: str) -> Iterator[str]:
        """Yield the identifiers that a text names."""
        for pattern in self.text:
            yield from (self.of(match[1]) for match in pattern.finditer(text))

    def spans(self, text: str) -> list[tuple[int, int, str]]:
        """Return (start, end, identifier) of each document that a text names, none within another."""
        found = sorted(
            (match.start(), -match.end(), self.of(match[1]))
            for pattern in self.text
            for match in pattern.finditer(text)
        )
        kept: list[tuple[int, int, str]] = []
        for start, end, identifier in found:
            if identifier and (not kept or start >= kept[-1][1]):
                kept.append((start, -end, identifier))
        return kept

    def in_file_name(self, path: str) -> str:
        match = self.file.search(path.rsplit("/", 1)[-1]) if self.file is not None else None
        return self.of(match[1]) if match else ""


@dataclass(frozen=True)
class Rule:
    """One kind of document: the files it is in, how they are read, and what becomes of their fields (in lower case)."""

    type: str
    paths: tuple[re.Pattern[str], ...]
    format: str = "markdown"
    body: str = "markdown"
    excluded: tuple[re.Pattern[str], ...] = ()
    encodings: tuple[str, ...] = ENCODINGS[:1]
    identifier: IdentifierRule = field(default_factory=IdentifierRule)
    fields: Map[str, FieldRule] = field(default_factory=dict)
    record: str = ""

    def covers(self, path: str) -> bool:
        return any(p.fullmatch(path) for p in self.paths) and not any(p.fullmatch(path) for p in self.excluded)


@dataclass(frozen=True)
class Mapping:
    """The rules of one project, of which the first that covers a file wins; ``digest`` tells mappings apart."""

    name: str = ""
    rules: tuple[Rule, ...] = ()
    digest: str = ""

    def rule_for(self, path: str) -> Rule | None:
        return _rule_for(self, path) if self.rules else None

    def __hash__(self) -> int:
        return hash(self.digest)


@lru_cache(maxsize=65_536)
def _rule_for(mapping: Mapping, path: str) -> Rule | None:
    return next((rule for rule in mapping.rules if rule.covers(path)), None)


def shipped() -> list[str]:
    """Return the names of the mappings that ship with the package.

    >>> shipped()
    ['peps']
    """
    folder = files("prism_rdf.ingest") / "mappings"
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))


def load(name_or_path: str, catalog: TypeCatalog) -> Mapping:
    """Return the mapping of this shipped name or in this file. Raises NotFoundError, BadArgument, UnknownType."""
    if name_or_path in shipped():
        text = (files("prism_rdf.ingest") / "mappings" / f"{name_or_path}.toml").read_text(encoding="utf-8")
        return parse(text, name_or_path, catalog)
    path = Path(name_or_path)
    if not path.is_file():
        raise NotFoundError(
            f"there is no mapping {name_or_path}",
            rule="a mapping is a TOML file, or one that ships: " + ", ".join(shipped()),
            mend="check the path",
        )
    return parse(path.read_text(encoding="utf-8"), str(path), catalog)


def parse(text: str, name: str, catalog: TypeCatalog) -> Mapping:
    """Return the mapping that a TOML text says. Raises BadArgument, UnknownType, ValidationError naming the place.

    >>> made = parse('[[document]]\\ntype = "Plan"\\npaths = ["plans/*.md"]', "x.toml", TypeCatalog.shipped())
    >>> made.rule_for("plans/one.md").type, made.rule_for("plans/old/two.md")
    ('Plan', None)
    """
    try:
        read = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _bad(name, f"is not TOML: {error}", "mend that line") from error
    _only(read, {"document"}, name, "the file")
    rules = tuple(
        _rule(entry, f"{name}, document {n}", catalog) for n, entry in enumerate(read.get("document", []), start=1)
    )
    if not rules:
        raise _bad(name, "has no [[document]]", "add one with at least type and paths")
    return Mapping(name, rules, sha256(text.encode()).hexdigest()[:16])


def _rule(entry: Map[str, Any], where: str, catalog: TypeCatalog) -> Rule:
    _only(entry, _RULE_KEYS, where, "a document")
    known = catalog.type(str(entry.get("type", "")))
    form = str(entry.get("format", "markdown"))
    if form not in FORMATS:
        raise _bad(where, f"names the format {form!r}", f"the formats are: {', '.join(FORMATS)}")
    body = str(entry.get("body", FORMATS[form]))
    if body not in BODIES:
        raise _bad(where, f"names the body {body!r}", f"bodies are: {', '.join(BODIES)}")
    encodings = _texts(entry, "encodings") or ENCODINGS[:1]
    if not set(encodings) <= set(ENCODINGS):
        raise _bad(where, f"names the encodings {', '.join(encodings)}", f"known are: {', '.join(ENCODINGS)}")
    paths = _texts(entry, "paths")
    if not paths:
        raise _bad(where, "has no paths", 'add globs such as paths = ["docs/specs/**/*.md"]')
    return Rule(
        type=known.name,
        paths=tuple(glob(each) for each in paths),
        format=form,
        body=body,
        excluded=tuple(glob(each) for each in _texts(entry, "not")),
        encodings=tuple(encodings),
        identifier=_identifier(entry.get("identifier", {}), where),
        fields={
            str(k).lower(): _field(v, f"{where}, field {k}", known, catalog) for k, v in entry.get("fields", {}).items()
        },
        record=str(entry.get("record", "")),
    )


def _identifier(entry: Map[str, Any], where: str) -> IdentifierRule:
    _only(entry, _IDENTIFIER_KEYS, where, "an identifier")
    form = str(entry.get("form", "{}"))
    if form.count("{}") != 1:
        raise _bad(where, f"has the identifier form {form!r}", 'a form holds one {}, such as "PEP {}"')
    return IdentifierRule(
        field=str(entry.get("field", "")),
        form=form,
        file=_pattern(str(entry["file"]), where, groups=1) if "file" in entry else None,
        text=tuple(_pattern(each, where, groups=1) for each in _texts(entry, "text")),
    )


def _field(entry: Any, where: str, known: EntityType, catalog: TypeCatalog) -> FieldRule:
    said = {"property": entry} if isinstance(entry, str) else entry
    if not isinstance(said, Map):
        raise _bad(where, "is neither a property nor a table", 'write Title = "title", or a table with property = …')
    _only(said, _FIELD_KEYS, where, "a field")
    prop, reference = str(said.get("property", "")), str(said.get("reference", ""))
    try:
        if prop and known.property(prop).object_class is not None:
            raise _bad(where, f"maps to {prop}, which names an entity", "map it to a kind of reference")
        if reference:
            catalog.kind(reference)
    except PrismError as error:
        raise _bad(where, f"cannot be mapped: {error}", error.mend) from error
    split = said.get("split", ",\\s*" if reference or (prop and known.property(prop).multi) else None)
    return FieldRule(
        property=prop,
        reference=reference,
        inverse=bool(said.get("inverse", False)),
        split=_pattern(str(split), where) if split is not None else None,
        values={str(old): str(new) for old, new in _table(said, "values").items()},
    )


def glob(text: str) -> re.Pattern[str]:
    """Return a glob as a pattern for whole paths: ``*`` and ``?`` stay in one folder, ``**/`` crosses any number.

    >>> bool(glob("docs/**/*.md").fullmatch("docs/a/b/c.md")), bool(glob("docs/*.md").fullmatch("docs/a/b.md"))
    (True, False)
    """
    out, at = "", 0
    for match in re.finditer(r"\*\*/|\*\*|\*|\?|\[[^]]+\]", text):
        out += re.escape(text[at : match.start()])
        found = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(
            match[0], match[0].replace("[!", "[^")
        )
        out, at = out + found, match.end()
    return re.compile(out + re.escape(text[at:]))


def _pattern(text: str, where: str, groups: int = 0) -> re.Pattern[str]:
    try:
        found = re.compile(text)
    except re.error as error:
        raise _bad(where, f"holds {text!r}, which is no regular expression: {error}", "mend it") from error
    if found.groups < groups:
        raise _bad(where, f"holds {text!r}, which has no group", "put the number into parentheses")
    return found


def _table(entry: Map[str, Any], key: str) -> dict[str, Any]:
    return dict(entry.get(key, {}))


def _texts(entry: Map[str, Any], key: str) -> Sequence[str]:
    value = entry.get(key, [])
    return [value] if isinstance(value, str) else [str(each) for each in value]


def _only(entry: Map[str, Any], allowed: set[str], where: str, what: str) -> None:
    unknown = sorted(set(entry) - allowed)
    if unknown:
        raise _bad(where, f"has {', '.join(unknown)}", f"{what} has: {', '.join(sorted(allowed))}")


def _bad(where: str, reason: str, mend: str) -> BadArgument:
    return BadArgument(f"the mapping {where} {reason}", rule="a mapping says what a project's files mean", mend=mend)
