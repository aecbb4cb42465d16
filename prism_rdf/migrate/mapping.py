"""Mapping files of migrations: which tables hold what, and what their columns mean; no table is read here."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pyoxigraph import NamedNode

from prism_rdf.canonical.catalog import TypeCatalog
from prism_rdf.clock import Instant, start_of
from prism_rdf.errors import BadArgument, NotFoundError, PrismError
from prism_rdf.model import Tier
from prism_rdf.namespaces import prism

ROLES = ("id", "type", "body", "created_at", "updated_at")  # columns that are no property
_TAKEN_IF_THERE = (*ROLES, "title", "name", "number", "status")  # without a word in the mapping
_TOP = {"source", "zone", "artifacts", "memories", "mentions", "alias"}
_ARTIFACTS = {"table", "query", "zone", "type", "types", "columns", "references"}
_PLAIN = {"table", "query", "zone", "columns"}
_COLUMN = {"column", "form", "split", "values"}
_LINK = {"kind", "inverse", "split", "form"}
_ALIAS = {"name", "of", "kind", "tier", "valid_from", "valid_until"}


@dataclass(frozen=True)
class Column:
    """Where a value lies; ``form`` holds one ``{}`` for it, and ``{type}`` for the type in capitals."""

    name: str
    form: str = ""
    split: re.Pattern[str] | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    given: bool = True  # False: it is taken if it is there


@dataclass(frozen=True)
class Link:
    """A column that names other artifacts, by their id in the same table or by what they are called."""

    column: Column
    kind: NamedNode
    inverse: bool = False


@dataclass(frozen=True)
class Table:
    """A table or query of artifacts, memories or mentions; ``columns`` by role or property."""

    name: str
    query: str = ""
    zone: ZoneInfo | None = None
    type: str = ""
    types: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, Column] = field(default_factory=dict)
    links: tuple[Link, ...] = ()


@dataclass(frozen=True)
class KnownAlias:
    """A name by which something was called, as the mapping knows it."""

    name: str
    of: str
    kind: Literal["former", "synonym"]
    tier: Tier
    start: Instant | None = None
    until: Instant | None = None


@dataclass(frozen=True)
class MigrationMapping:
    """What a migration reads; ``source`` names the older system, the same on every machine."""

    source: str
    artifacts: tuple[Table, ...] = ()
    memories: tuple[Table, ...] = ()
    mentions: tuple[Table, ...] = ()
    aliases: tuple[KnownAlias, ...] = ()


def load(path: Path, catalog: TypeCatalog) -> MigrationMapping:
    """Return the mapping in a TOML file. Raises NotFoundError, BadArgument, UnknownType naming the place."""
    if not path.is_file():
        raise NotFoundError(
            f"there is no mapping {path}", rule="a migration is told by a TOML file", mend="check the path"
        )
    return parse(path.read_text(encoding="utf-8"), str(path), catalog)


def parse(text: str, name: str, catalog: TypeCatalog) -> MigrationMapping:
    """Return the mapping that a TOML text says.

    >>> made = parse('source = "old"\\n[[artifacts]]\\ntable = "adrs"\\ntype = "ADR"', "m.toml", TypeCatalog.shipped())
    >>> made.artifacts[0].name, sorted(made.artifacts[0].columns)[:3]
    ('adrs', ['body', 'created_at', 'id'])
    """
    try:
        read = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _bad(name, f"is not TOML: {error}", "mend that line") from error
    _only(read, _TOP, name)
    source = str(read.get("source", ""))
    if not re.fullmatch(r"[A-Za-z0-9][\w.-]*", source):
        raise _bad(name, f"has the source {source!r}", 'name the older system in one word, such as source = "prismgr"')
    zone = _zone(read, name)
    made = MigrationMapping(
        source=source,
        artifacts=tuple(_each(read, "artifacts", name, lambda e, w: _artifacts(e, w, zone, catalog))),
        memories=tuple(
            _each(read, "memories", name, lambda e, w: _plain(e, w, zone, ("id", "content", "created_at", "mentions")))
        ),
        mentions=tuple(_each(read, "mentions", name, lambda e, w: _plain(e, w, zone, ("memory", "concept")))),
        aliases=tuple(_each(read, "alias", name, _alias)),
    )
    if not (made.artifacts or made.memories):
        raise _bad(name, "has no table", "add [[artifacts]] or [[memories]] with a table")
    return made


def _each(read: Mapping[str, Any], key: str, name: str, made: Callable[[Mapping[str, Any], str], Any]) -> list[Any]:
    entries = read.get(key, [])
    if not isinstance(entries, list):
        raise _bad(name, f"has {key} as a table", f"write [[{key}]]")
    return [made(entry, f"{name}, {key} {n}") for n, entry in enumerate(entries, start=1)]


def _artifacts(entry: Mapping[str, Any], where: str, zone: ZoneInfo | None, catalog: TypeCatalog) -> Table:
    _only(entry, _ARTIFACTS, where)
    fixed = str(entry.get("type", ""))
    types = {str(old): catalog.type(str(new)).name for old, new in dict(entry.get("types", {})).items()}
    if fixed:
        fixed = catalog.type(fixed).name
    given = dict(entry.get("columns", {}))
    columns = {name: Column(name, given=False) for name in _TAKEN_IF_THERE}
    links = [_link(name, said, where, catalog) for name, said in dict(entry.get("references", {})).items()]
    supersedes = given.pop("supersedes", None)
    column = _column(supersedes, where) if supersedes is not None else Column("supersedes", given=False)
    if not any(link.kind == prism("SUPERSEDES") for link in links):
        links.append(Link(column, prism("SUPERSEDES")))
    columns |= {name: _column(said, where) for name, said in given.items()}
    if fixed:
        del columns["type"]
        for name in columns.keys() - set(_TAKEN_IF_THERE):
            _declared(fixed, name, where, catalog)
    return Table(*_named(entry, where), _zone(entry, where) or zone, fixed, types, columns, tuple(links))


def _declared(type_name: str, prop: str, where: str, catalog: TypeCatalog) -> None:
    try:
        declared = catalog.type(type_name).property(prop)
    except PrismError as error:
        raise _bad(where, f"maps a column to {prop}: {error}", error.mend) from error
    if declared.object_class is not None:
        raise _bad(where, f"maps a column to {prop}, which names an entity", "put it under references")


def _plain(entry: Mapping[str, Any], where: str, zone: ZoneInfo | None, roles: tuple[str, ...]) -> Table:
    _only(entry, _PLAIN, where)
    given = dict(entry.get("columns", {}))
    _only(given, set(roles), where)
    columns = {role: Column(role, given=False) for role in roles}
    columns |= {role: _column(said, where) for role, said in given.items()}
    return Table(*_named(entry, where), _zone(entry, where) or zone, columns=columns)


def _named(entry: Mapping[str, Any], where: str) -> tuple[str, str]:
    name, query = str(entry.get("table", "")), str(entry.get("query", ""))
    if not name:
        raise _bad(where, "has no table", 'name it, such as table = "adrs"; a query has a name too')
    return name, query


def _column(said: Any, where: str) -> Column:
    if isinstance(said, str):
        return Column(said)
    if not isinstance(said, Mapping) or "column" not in said:
        raise _bad(where, f"has a column {said!r}", 'write title = "headline", or a table with column = …')
    _only(said, _COLUMN, where)
    form = str(said.get("form", ""))
    if form and form.count("{}") != 1:
        raise _bad(where, f"has the form {form!r}", 'a form holds one {}, such as "ADR-{}"')
    values = {str(old): str(new) for old, new in dict(said.get("values", {})).items()}
    return Column(str(said["column"]), form, _split(said, where), values)


def _link(name: str, said: Any, where: str, catalog: TypeCatalog) -> Link:
    told = {"kind": said} if isinstance(said, str) else said
    if not isinstance(told, Mapping) or "kind" not in told:
        raise _bad(where, f"has the reference {name}", 'write implements = "IMPLEMENTS"')
    _only(told, _LINK, where)
    column = Column(name, str(told.get("form", "")), _split(told, where))
    return Link(column, catalog.kind(str(told["kind"])), bool(told.get("inverse", False)))


def _split(said: Mapping[str, Any], where: str) -> re.Pattern[str] | None:
    if "split" not in said:
        return None
    try:
        return re.compile(str(said["split"]))
    except re.error as error:
        raise _bad(where, f"splits at {said['split']!r}, which is no regular expression", "mend it") from error


def _alias(entry: Mapping[str, Any], where: str) -> KnownAlias:
    _only(entry, _ALIAS, where)
    kind, tier = str(entry.get("kind", "former")), entry.get("tier", 1)
    if not entry.get("name") or not entry.get("of"):
        raise _bad(where, "lacks a name, or of what it is one", 'write name = "PrismGR" and of = "Prism"')
    if kind not in ("former", "synonym") or tier not in (1, 2):
        raise _bad(where, f"is of the kind {kind!r} and tier {tier!r}", "kinds are former and synonym, tiers 1 and 2")
    ends = [start_of(str(entry[key])).instant if key in entry else None for key in ("valid_from", "valid_until")]
    known = cast(Literal["former", "synonym"], kind)
    return KnownAlias(str(entry["name"]), str(entry["of"]), known, cast(Tier, tier), *ends)


def _zone(entry: Mapping[str, Any], where: str) -> ZoneInfo | None:
    if "zone" not in entry:
        return None
    try:
        return ZoneInfo(str(entry["zone"]))
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise _bad(where, f"names the zone {entry['zone']!r}", 'zones are such as "Europe/Berlin" or "UTC"') from error


def _only(entry: Mapping[str, Any], allowed: set[str], where: str) -> None:
    unknown = sorted(set(entry) - allowed)
    if unknown:
        raise _bad(where, f"has {', '.join(unknown)}", f"known here are: {', '.join(sorted(allowed))}")


def _bad(where: str, reason: str, mend: str) -> BadArgument:
    return BadArgument(
        f"the mapping {where} {reason}", rule="a mapping says what the columns of tables mean", mend=mend
    )
