"""One row as the artifact or the memory that it tells of, by its mapping; what was known before is not known here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from urllib.parse import quote
from zoneinfo import ZoneInfo

from pyoxigraph import Literal

from prism_rdf.canonical.catalog import EntityType, Property, TypeCatalog
from prism_rdf.clock import Edge, Instant, start_of
from prism_rdf.errors import BadTime, PrismError
from prism_rdf.ingest.values import declared_by, literal_of
from prism_rdf.migrate.mapping import ROLES, Column, Table
from prism_rdf.migrate.tables import Row

_NAMING = ("number", "name", "pid", "title", "fqdn")


class BadValue(Exception):
    """A row that does not say what it has to: the column, the reason and the mend."""

    def __init__(self, column: str, reason: str, mend: str) -> None:
        super().__init__(reason)
        self.column, self.reason, self.mend = column, reason, mend


@dataclass(frozen=True)
class Link:
    """``text`` names another artifact, by id or by what it is called."""

    kind: str
    text: str
    inverse: bool


@dataclass(frozen=True)
class Artifact:
    """A row as it stood at ``stood``: of what type, called what, with which values (in lexical form, by property).

    ``told`` are the properties that the row has a column for, filled or not.
    """

    table: int
    number: int
    id: str
    type: str
    created: Instant
    precision: str
    stood: Instant
    values: Mapping[str, tuple[str, ...]]
    body: str = ""
    links: tuple[Link, ...] = ()
    told: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return next((self.values[name][0] for name in ("title", "name") if self.values.get(name)), "")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(value for name in _NAMING for value in self.values.get(name, ()))


@dataclass(frozen=True)
class OldMemory:
    """A row of the older system's memories."""

    number: int
    id: str
    content: str
    created: Instant
    concepts: tuple[str, ...] = ()


def artifact_of(row: Row, index: int, table: Table, catalog: TypeCatalog, left_out: Counter[str]) -> Artifact:
    """Return what a row tells of; ``left_out`` counts, as ``Type property``, what its type does not declare.

    Raises BadValue, and BadTime for a time without zone where the mapping names none.
    """
    id_ = _required(row, table, "id")
    said = table.type or _required(row, table, "type")
    try:
        known = catalog.type(table.types.get(said, said))
    except PrismError as error:
        raise BadValue(_called(table, "type"), error.message, f"map it under types; {error.mend}") from error
    created = _time(row, table, "created_at")
    if created is None:
        raise BadValue(
            _called(table, "created_at"), "is empty", "an artifact begins when its row was created: say when"
        )
    updated = _time(row, table, "updated_at")
    stood = max(created.instant, updated.instant) if updated is not None else created.instant
    values, told = _values(row, table, known, left_out)
    links = tuple(
        Link(link.kind.value, text, link.inverse)
        for link in table.links
        for text in _parts(_texts(row, link.column, known), link.column)
    )
    body = "\n".join(_texts(row, table.columns["body"], known)).replace("\r\n", "\n")
    return Artifact(
        index, row.number, id_, known.name, created.instant, created.precision, stood, values, body, links, told
    )


def _values(
    row: Row, table: Table, known: EntityType, left_out: Counter[str]
) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    """Return the values by property, and the properties that there is a column for."""
    values: dict[str, tuple[str, ...]] = {}
    told: dict[str, None] = {}
    declared = declared_by(known)
    for name, column in table.columns.items():
        if name in ROLES or column.name not in row.values:
            continue
        texts = _texts(row, column, known)
        prop = declared.get(name)
        if prop is None and name == "title":
            prop = declared.get("name")  # what bears no title is called by its name
        if prop is None or prop.object_class is not None:
            left_out[f"{known.name} {name}"] += bool(texts)
            continue
        told[prop.name] = None
        if texts and prop.name not in values:
            values[prop.name] = tuple(_lexical(prop, texts, column))
    return values, tuple(told)


def memory_of(row: Row, table: Table) -> OldMemory:
    """Return what a row of memories says. Raises BadValue, BadTime."""
    id_, content = _required(row, table, "id"), _required(row, table, "content")
    created = _time(row, table, "created_at")
    if created is None:
        raise BadValue(_called(table, "created_at"), "is empty", "a memory was said at some time: say when")
    column = table.columns["mentions"]
    concepts = tuple(_parts(_raw_texts(row.values.get(column.name)), column))
    return OldMemory(row.number, id_, content, created.instant, concepts)


def mention_of(row: Row, table: Table) -> tuple[str, str]:
    """Return (memory, concept). Raises BadValue."""
    return _required(row, table, "memory"), _required(row, table, "concept")


def terms(known: EntityType, values: Mapping[str, Sequence[str]]) -> dict[str, tuple[Literal, ...]]:
    """Return values in lexical form as terms, sorted where there may be several."""
    declared = declared_by(known)
    found: dict[str, tuple[Literal, ...]] = {}
    for name, texts in values.items():
        made = (literal_of(declared[name], text) for text in texts)
        found[name] = tuple(sorted({each for each in made if each is not None}, key=str))
    return found


def place(source: str, table: str, id_: str) -> str:
    """Return what names a row as the source of what it says.

    >>> place("prismgr", "adrs", "a/1")
    'migrate:prismgr/adrs/a%2F1'
    """
    return f"migrate:{source}/{table}/{quote(id_, safe='')}"


def _called(table: Table, role: str) -> str:
    column = table.columns.get(role)
    return column.name if column is not None else role


def _required(row: Row, table: Table, role: str) -> str:
    texts = _raw_texts(row.values.get(_called(table, role)))
    if not texts or not texts[0].strip():
        raise BadValue(_called(table, role), f"the row has no {role}", f"fill it, or name its column: {role} = …")
    return texts[0].strip() if role != "content" else texts[0]


def _texts(row: Row, column: Column, known: EntityType) -> tuple[str, ...]:
    """Return the texts of a column, each in its form and as the mapping's own words; none for an empty one."""
    found = []
    for text in _raw_texts(row.values.get(column.name)):
        bare = text if column.name == "body" else text.strip()
        said = column.values.get(bare, bare)
        if said.strip():
            form = column.form.replace("{type}", known.name.upper())
            found.append(form.replace("{}", said) if form and not said.startswith(form.partition("{}")[0]) else said)
    return tuple(found)


def _parts(texts: Sequence[str], column: Column) -> list[str]:
    parts = [part for text in texts for part in (column.split.split(text) if column.split else text.split(","))]
    return list(dict.fromkeys(part.strip() for part in parts if part.strip()))


def _raw_texts(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, bytes):
        return (value.decode(errors="replace"),)
    if isinstance(value, bool):
        return ("true" if value else "false",)
    if isinstance(value, datetime):
        return (Instant.of(value).iso() if value.tzinfo else value.isoformat(),)
    if isinstance(value, (list, tuple)):
        return tuple(text for each in value for text in _raw_texts(each))
    if isinstance(value, Mapping):
        raise BadValue("", f"holds an object: {str(value)[:60]}", "map a column that holds a text")
    return (str(value),)


def _lexical(prop: Property, texts: Sequence[str], column: Column) -> list[str]:
    """Return the values as the property takes them. Raises BadValue."""
    held = _parts(texts, column) if prop.multi else [", ".join(texts)]
    for text in held:
        if literal_of(prop, text) is None:
            kind = prop.datatype.value.rpartition("#")[2] if prop.datatype is not None else "text"
            raise BadValue(column.name, f"{text[:60]!r} is no {kind}, as {prop.name} takes", "mend it in the source")
    return held


def _time(row: Row, table: Table, role: str) -> Edge | None:
    """Return a time of a row; None when it is empty. Raises BadValue; BadTime for one without a zone."""
    column = table.columns.get(role)
    value = row.values.get(column.name) if column is not None else None
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    assert column is not None
    try:
        return _edge(value, table.zone)
    except _Naive as error:
        raise BadTime(
            f"{table.name}, row {row.number}, column {column.name}: time {str(value)!r} has no zone",
            rule="all instants are UTC; a naive time could mean any of 38 instants",
            mend='say in the mapping what such times mean, as in zone = "Europe/Berlin" or zone = "UTC"',
        ) from error
    except BadTime as error:
        raise BadValue(column.name, error.message, error.mend) from error


class _Naive(Exception):
    pass


def _edge(value: Any, zone: ZoneInfo | None) -> Edge:
    if isinstance(value, str):
        text = value.strip()
        try:
            parsed = datetime.fromisoformat(text)
        except ValueError:
            return start_of(text)
        if parsed.tzinfo is None and len(text) <= len("2026-04-19"):
            return start_of(text)
        value = parsed
    if isinstance(value, datetime):
        if value.tzinfo is None:
            if zone is None:
                raise _Naive
            value = value.replace(tzinfo=zone)
        return Edge(Instant.of(value))
    return start_of(value) if isinstance(value, date) else start_of(str(value))
