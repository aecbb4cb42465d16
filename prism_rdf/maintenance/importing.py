"""An export made a store again: judged as a whole before anything of it is visible; single graphs are not taken in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from pyoxigraph import NamedNode, parse

from prism_rdf.belief import Delta
from prism_rdf.changes import Ground
from prism_rdf.clock import Instant
from prism_rdf.commit import last_commit
from prism_rdf.errors import BadArgument, NotFoundError, RefusedError, ValidationError
from prism_rdf.forgotten import TOMBSTONE
from prism_rdf.free import is_unmanaged
from prism_rdf.maintenance.derived import mending
from prism_rdf.maintenance.exporting import FORMATS
from prism_rdf.maintenance.judging import Candidate, base_of
from prism_rdf.maintenance.rewriting import rewriting
from prism_rdf.maintenance.room import memory_left
from prism_rdf.maintenance.site import Site, no_room
from prism_rdf.namespaces import RDF_TYPE, Names, commit_iri, meta_graph, prism
from prism_rdf.storage.about import about
from prism_rdf.storage.changelog import LoggedText, nquads, write_log
from prism_rdf.storage.embedded import EmbeddedStore
from prism_rdf.storage.folder import StoreFolder, building, vacant
from prism_rdf.storage.interface import GraphName

SUFFIXES = {".trig": "trig", ".nq": "nquads", ".nquads": "nquads", ".jsonld": "jsonld", ".json": "jsonld"}

_CHUNK = 20_000
# Bytes that a byte of a file takes, in a store in memory and to fill one on disk beside it: one and a half times that
# for a small file, less for a large one.
_IN_MEMORY = {"nquads": 5, "trig": 11, "jsonld": 12}
_HAS_BLANK_NODES = """ASK { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } }
    FILTER (isBlank(?s) || isBlank(?o) || isTriple(?o)) }"""


@dataclass(frozen=True)
class Source:
    """A file to import, and how it is written; ``now`` is what is current then. ``told`` hears what is done next."""

    path: Path
    form: str
    now: Instant
    told: Callable[[str], None]


def source_of(path: Path, form: str | None, now: Instant, told: Callable[[str], None]) -> Source:
    """Return the file as a source; its suffix tells the format unless given. Raises NotFoundError, BadArgument."""
    if not path.is_file():
        raise NotFoundError(f"there is no file {path}", rule="an import reads one file", mend="check the path")
    chosen = form or SUFFIXES.get(path.suffix.lower(), "")
    if chosen not in FORMATS:
        raise BadArgument(
            f"cannot tell the format of {path}" if form is None else f"there is no import format {form!r}",
            rule=f"formats are {', '.join(FORMATS)}; files end in {', '.join(SUFFIXES)}",
            mend="name the format with --format",
        )
    return Source(path, chosen, now, told)


def import_new(source: Source, home: Path, tenant: str) -> dict[str, Any]:
    """Make the store of a tenant from an export, where there is none.

    Returns ``{"store", "tenant", "commit", "recorded_at", "quads", "projects", "notes"}``. Raises RefusedError (not an
    export, a syntax error, no room) and ValidationError with all that is wrong in it; nothing is left in that case.
    """
    folder = StoreFolder(vacant(home, tenant), tenant, "")
    try:
        with building(folder) as fresh:
            store = EmbeddedStore(fresh.quads)
            try:
                answer = _take_in(source, store, tenant, None, fresh.log)
                managed = not is_unmanaged(store, answer["base"])
                store.flush()
            finally:
                store.close()
            replace(fresh, base=answer["base"], managed=managed).take_over()
    except OSError as error:
        raise no_room(f"the store {folder.path}", error) from error
    return {"store": str(folder.path), **answer}


def import_into(source: Source, site: Site) -> tuple[StoreFolder | None, dict[str, Any]]:
    """Make an open store that holds nothing what an export says; see ``import_new``. Returns its folder from then on.

    Raises RefusedError when it holds anything, or has another base.
    """
    with site.committer.paused():
        if site.committer.number or next(site.store.quads_for_pattern(None, None, None), None) is not None:
            raise RefusedError(
                f"the store of tenant {site.ground.tenant!r} is not empty: it has {site.committer.number} commits",
                rule="an export is taken in whole, into a store that holds nothing",
                mend="name another --home or --tenant",
            )
        with rewriting(site) as fresh:
            log = fresh.folder.log if fresh.folder else None
            answer = _take_in(source, fresh.store, site.ground.tenant, site.base, log)
            if is_unmanaged(fresh.store, site.base) == site.ground.managed:
                raise RefusedError(
                    f"{source.path} is the export of {'an unmanaged' if site.ground.managed else 'a managed'} store",
                    rule="whether a store is managed is fixed when it is made",
                    mend="import it where there is no store yet",
                )
        return fresh.folder, {"store": str(fresh.folder.path) if fresh.folder else None, **answer}


def _take_in(
    source: Source, store: EmbeddedStore, tenant: str, expected_base: str | None, log: Path | None
) -> dict[str, Any]:
    """Read an export into an empty store, judge it, make its derived graphs right, and write the log it begins with."""
    with _read(source, store) as copy:
        base = base_of(copy, source.path)
        if expected_base not in (None, base):
            raise RefusedError(
                f"{source.path} is the export of a store with base {base}, this one has {expected_base}",
                rule="the base is part of every IRI in a store",
                mend="import it where there is no store yet",
            )
        ground = Ground(copy, tenant)
        candidate = Candidate(ground, copy, base, source.now)
        violations = candidate.violations(source.told)
        if violations:
            raise ValidationError(violations)
        number, recorded_at = last_commit(copy, base)
        mended = Delta.joined(
            mending(ground, Names(base, namespace), stale, source.now, recorded_at or source.now)
            for namespace, stale in candidate.stale.items()
        )
        copy.apply(mended.adds, mended.removes)
        source.told("writing its log")
        if log is not None:
            write_log(log, _entries(copy, base))
        source.told("filling the store")
    if copy is not store:
        store.apply(mended.adds, mended.removes)
    return {
        "base": base,
        "tenant": tenant,
        "commit": number,
        "recorded_at": recorded_at.iso() if recorded_at else None,
        "quads": store.size(),
        "projects": candidate.namespaces,
        "notes": _notes(store, base),
    }


@contextmanager
def _read(source: Source, store: EmbeddedStore) -> Iterator[EmbeddedStore]:
    """Yield what a file says in a store to judge: in memory where there is room, which is much faster; else ``store``.

    After that ``store`` holds the same. It is filled from the file meanwhile, unless there are blank nodes: they have
    one label in the store, in its log and in the file.
    """
    source.told(f"reading {source.path.name}")
    if source.path.stat().st_size * _IN_MEMORY[source.form] > memory_left() / 2:
        _load(source, store)
        yield store
        return
    copy, version = EmbeddedStore(), _version(source)
    _load_apart(source, copy)
    if copy.query(_HAS_BLANK_NODES):
        copy = EmbeddedStore()
        _load(source, copy)
        yield copy
        store.load(copy.quads_for_pattern(None, None, None))
        return
    with ThreadPoolExecutor(1) as filling:
        filled = filling.submit(_load_apart, source, store)
        yield copy
        filled.result()
    if _version(source) != version or store.size() != copy.size():
        raise RefusedError(
            f"{source.path} was changed while it was read",
            rule="what is taken in is what was judged",
            mend="import it again when nobody writes it",
        )


def _version(source: Source) -> tuple[int, ...]:
    """Return what is another whenever the file may be."""
    found = source.path.stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _load(source: Source, store: EmbeddedStore) -> None:
    """Load the file as it is, the labels of blank nodes included."""
    with _refusing(source):
        store.load(parse(path=source.path, format=FORMATS[source.form]))


def _load_apart(source: Source, store: EmbeddedStore) -> None:
    """Load the file three times as fast, beside whatever else is done; blank nodes get labels anew."""
    with _refusing(source):
        store.load_file(source.path, FORMATS[source.form])


@contextmanager
def _refusing(source: Source) -> Iterator[None]:
    """Raise RefusedError where the file is not what it is said to be."""
    try:
        yield
    except SyntaxError as error:
        place = f" at line {error.lineno}" if error.lineno else ""
        raise RefusedError(
            f"{source.path} cannot be read{place}: {error.msg}",
            rule=f"it is read as {source.form}, whole or not at all",
            mend="mend that line, or name another format with --format",
        ) from error


def _entries(store: EmbeddedStore, base: str) -> Iterator[LoggedText]:
    """Yield the log of an imported store: all it holds as its last commit, in several entries when that is much."""
    number, recorded_at = last_commit(store, base)
    if recorded_at is None:
        return
    namespace = about(store, commit_iri(base, number), meta_graph(base)).text(prism("namespace"))
    texts: defaultdict[str, list[str]] = defaultdict(list)
    counts: defaultdict[str, int] = defaultdict(int)

    @cache
    def owner(graph: GraphName) -> str:
        return _namespace_of(graph, base) or namespace

    def entry(own: str) -> LoggedText:
        counts[own] = 0
        return LoggedText(number, recorded_at, own, "import", "".join(texts.pop(own)), "")

    # Quads that are kept cost five times as much as those that become text one by one: the memory is full of others.
    for own, run in groupby(store.quads_for_pattern(None, None, None), key=lambda quad: owner(quad.graph_name)):
        while text := nquads(islice(run, _CHUNK - counts[own])):
            texts[own].append(text)
            counts[own] += text.count("\n")
            if counts[own] == _CHUNK:
                yield entry(own)
    yield from map(entry, list(texts))


def _namespace_of(graph: GraphName, base: str) -> str:
    """Return the project that a graph belongs to; empty for the meta graph and graphs of no project."""
    if not isinstance(graph, NamedNode) or not graph.value.startswith(f"{base}/"):
        return ""
    return graph.value.removeprefix(f"{base}/").partition("/")[0].removeprefix("-")


def _notes(store: EmbeddedStore, base: str) -> list[str]:
    count = sum(1 for _ in store.quads_for_pattern(None, RDF_TYPE, TOMBSTONE, meta_graph(base)))
    if not count:
        return []
    return [
        f"{count} tombstones came without their key, which no export carries: what was forgotten there can be taken in "
        "here again, unless forget.key is copied from the folder of that store"
    ]
