"""Forgetting: the store and its log written anew without a thing and all that goes with it, and a tombstone left.

What is deleted by an update stays readable in the files of the store, so nothing less removes it. Everything else is
as it was, on both time axes. Copies made before (backups, exports, clones of a source) are out of reach.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad

from prism_rdf.belief import END_RECORDED_AT, RECORDED_AT, WITHDRAWN_AT, Delta, Writing
from prism_rdf.changes import DUE_AT, refresh
from prism_rdf.clock import Instant
from prism_rdf.commit import LAST_COMMIT, NUMBER, PAYLOAD
from prism_rdf.errors import RefusedError
from prism_rdf.forgotten import Forgotten
from prism_rdf.maintenance.removing import Removal
from prism_rdf.maintenance.retelling import retell
from prism_rdf.maintenance.rewriting import Fresh, rewriting
from prism_rdf.maintenance.site import Site
from prism_rdf.model import Receipt
from prism_rdf.namespaces import Names, commit_iri, meta_graph
from prism_rdf.semantic.aliases import ALIAS_OF
from prism_rdf.semantic.references import SOURCE
from prism_rdf.storage.about import about, objects
from prism_rdf.storage.changelog import LoggedChange, write_log
from prism_rdf.storage.folder import StoreFolder

_COPIES = "backups, exports and clones made before still hold it, and so does the source it was read from"


def preview(site: Site, names: Names, target: NamedNode) -> dict[str, Any]:
    """Return what ``forget`` would do: ``{"dry_run": True, "commit": None, "recorded_at": None, "going", "notes"}``."""
    return _answer(Removal(site.ground, names, target), None)


def forget(
    site: Site, names: Names, target: Callable[[], NamedNode], forgotten: Forgotten, key: str = ""
) -> tuple[StoreFolder | None, dict[str, Any]]:
    """Remove an entity or a memory with all that goes with it, and leave tombstones. Writers wait meanwhile.

    Returns the folder of the store from then on, and ``{"dry_run", "commit", "recorded_at", "going", "notes"}``; each
    of ``going`` has ``node, what, why, says``. The search indexes are gone. The same ``key`` again changes nothing.
    ``target`` is called under the writer's lock. Raises RefusedError when the disk refuses; nothing is changed then.
    """
    with site.committer.paused():
        before = site.committer.repeated(names, key, "")
        if before is not None:
            return site.folder, _repeated(before)
        removal = Removal(site.ground, names, target())
        _refuse_types(removal)
        telling = _Telling(site, names, removal)
        writing, commit = site.committer.stamp(names.namespace, "forget", key)
        with rewriting(site) as fresh:
            graves = forgotten.tombstones(names.namespace, removal.marks(), writing.now)
            telling.write(fresh, writing, replace(commit, adds=(*commit.adds, *graves)))
        return fresh.folder, _answer(removal, writing)


def _refuse_types(removal: Removal) -> None:
    if removal.in_types:
        files = ", ".join(sorted(removal.in_types))
        raise RefusedError(
            f"{files} quotes it, and the types of the project are declared there",
            rule="what is forgotten is quoted nowhere, and a file of types is not cut up by a machine",
            mend=f"take the name out of {files}, add the file again (prism types add), then forget",
        )


def _repeated(before: Receipt) -> dict[str, Any]:
    at = before.recorded_at
    said = {"dry_run": False, "commit": before.commit, "recorded_at": at.iso() if at else None}
    return {**said, "going": [], "notes": ["it was forgotten before, under the same idempotency key"]}


def _answer(removal: Removal, writing: Writing | None) -> dict[str, Any]:
    notes = [f"texts that say {name!r} are not looked for: {why}" for name, why in removal.wording.unsought]
    notes += [f"the types of the project quote it in {file}: mend that first" for file in sorted(removal.in_types)]
    notes += [f"project {pid} quotes it {count} times, and is left alone" for pid, count in removal.elsewhere.items()]
    notes += [f"{each.value} was merged with it and stays: is it to go too?" for each in removal.partners]
    return {
        "dry_run": writing is None,
        "commit": writing.number if writing else None,
        "recorded_at": writing.now.iso() if writing else None,
        "going": [asdict(going) for going in removal.listing()],
        "notes": [*notes, _COPIES],
    }


@dataclass(frozen=True)
class _Losses:
    """The commits that lose something, those of them of which nothing is left, and the numbers of all log entries."""

    lost: frozenset[NamedNode]
    emptied: frozenset[NamedNode]
    logged: tuple[int, ...]


class _Telling:
    """The store and its log as they are without what is removed."""

    def __init__(self, site: Site, names: Names, removal: Removal) -> None:
        self._site = site
        self._names = names
        self._removal = removal
        self._meta = meta_graph(names.base)
        self._times = sorted(self._commits())
        retold = [
            retell(site.ground, names, entity, removal.going.keys(), self._number_at)
            for entity in sorted(removal.retold, key=str)
        ]
        self._retold = {each.entity: each.quads for each in retold}
        self._replaced = frozenset(chain.from_iterable(each.sealed for each in retold))
        self._deltas = [delta for each in retold for delta in each.deltas]

    def write(self, fresh: Fresh, writing: Writing, commit: LoggedChange) -> None:
        """Write the store with ``commit`` as its last, and its log."""
        fresh.store.load(chain(self._remaining(), *self._retold.values(), commit.adds))
        ground = replace(self._site.ground, store=fresh.store)
        derived = refresh(ground, sorted(self._affected(), key=str), fresh.store, writing)
        if derived != Delta():
            fresh.store.apply(derived.adds, derived.removes)
        commit = replace(commit, adds=commit.adds + derived.adds, removes=commit.removes + derived.removes)
        if fresh.folder is not None:
            write_log(fresh.folder.log, self._log(commit))

    def _commits(self) -> Iterator[tuple[Instant, int]]:
        for quad in self._site.store.quads_for_pattern(None, NUMBER, None, self._meta):
            assert isinstance(quad.subject, NamedNode)
            commit = about(self._site.store, quad.subject, self._meta)
            recorded_at = commit.instant(RECORDED_AT)
            if recorded_at is not None:
                yield recorded_at, commit.number(NUMBER)

    def _number_at(self, at: Instant) -> int:
        """Return the number of the commit of a system time; of the last one before where that was forgotten."""
        index = bisect_right(self._times, at, key=lambda each: each[0])
        return self._times[index - 1][1] if index else 0

    @cached_property
    def _losses(self) -> _Losses:
        """Find which commits lose something, and of which nothing is left."""
        lost, kept, logged = set(self._recorded()), set[int](), list[int]()
        for change in self._site.log.read(0):
            logged.append(change.number)
            said = (*change.adds, *change.removes)
            remaining = [quad for quad in said if not self._drops(quad)]
            if len(remaining) < len(said):
                lost.add(change.number)
            if any(self._matters(quad) for quad in remaining):
                kept.add(change.number)
        retold = {_entry(logged, number) for number, _ in self._deltas}
        emptied = (lost & set(logged)) - kept - retold
        return _Losses(self._nodes(lost), self._nodes(emptied), tuple(logged))

    def _recorded(self) -> Iterator[int]:
        """Yield the numbers of the commits that recorded what goes."""
        exact = dict(self._times)
        for node in self._removal.going:
            for predicate in (RECORDED_AT, WITHDRAWN_AT, END_RECORDED_AT):
                for quad in self._site.store.quads_for_pattern(node, predicate, None):
                    if isinstance(quad.object, Literal) and (at := Instant.parse(quad.object.value)) in exact:
                        yield exact[at]

    def _nodes(self, numbers: Iterable[int]) -> frozenset[NamedNode]:
        return frozenset(commit_iri(self._names.base, number) for number in numbers)

    def _matters(self, quad: Quad) -> bool:
        """Return whether a quad is a reason to keep its commit: its own record and what is derived are none."""
        return quad.graph_name not in (self._meta, self._names.graph("current"))

    def _goes(self, quad: Quad) -> bool:
        """Return whether a quad goes; of a commit that loses something also what it was asked to write, a hash."""
        bared = quad.graph_name == self._meta and quad.subject in self._losses.lost
        if bared and (quad.predicate == PAYLOAD or quad.subject in self._losses.emptied):
            return True
        return self._drops(quad)

    def _drops(self, quad: Quad) -> bool:
        return self._removal.drops(quad) or self._is_retold(quad)

    def _is_retold(self, quad: Quad) -> bool:
        """Return whether a quad belongs to a history that is told anew, or is derived from it."""
        if quad.graph_name in self._replaced or quad.subject in self._replaced:
            return True
        if quad.subject not in self._retold:
            return False
        derived = (self._names.graph("tail"), self._names.graph("current"))
        return quad.object in self._replaced or quad.graph_name in derived or quad.predicate == DUE_AT

    def _remaining(self) -> Iterator[Quad]:
        for quad in self._site.store.quads_for_pattern(None, None, None):
            if quad.predicate != LAST_COMMIT and not self._goes(quad):
                yield quad

    def _affected(self) -> set[NamedNode]:
        """Return the entities that stay, and of which something goes."""
        found = set(self._retold)
        semantic, start = self._names.graph("semantic"), self._names.entity("").value
        for node, going in self._removal.going.items():
            if going.what in ("alias", "reference"):
                for link in (ALIAS_OF, SOURCE):
                    found |= set(objects(self._site.store, node, link, semantic))
            elif going.what == "entity":
                linked = (quad.subject for quad in self._site.store.quads_for_pattern(None, None, node))
                found |= {each for each in linked if isinstance(each, NamedNode) and each.value.startswith(start)}
        return (found | set(self._removal.partners)) - self._removal.going.keys()

    def _log(self, commit: LoggedChange) -> Iterator[LoggedChange]:
        """Yield the log without what goes, with the histories as they are told now, and ``commit`` as its last."""
        retold: defaultdict[int, dict[Quad, bool]] = defaultdict(dict)
        for number, delta in sorted(self._deltas, key=lambda each: each[0]):
            said = retold[_entry(self._losses.logged, number)]
            said |= dict.fromkeys(delta.removes, False) | dict.fromkeys(delta.adds, True)
        last = 0
        for change in self._site.log.read(0):
            if commit_iri(self._names.base, change.number) in self._losses.emptied:
                continue
            told = retold.pop(change.number, {})
            adds = [quad for quad in change.adds if not self._goes(quad)]
            removes = [quad for quad in change.removes if quad.predicate != LAST_COMMIT and not self._goes(quad)]
            adds += (quad for quad, there in told.items() if there)
            removes += (quad for quad, there in told.items() if not there)
            heads = [self._head(last)] if any(quad.predicate == LAST_COMMIT for quad in change.removes) else []
            if adds or removes:
                yield replace(change, adds=tuple(adds), removes=(*removes, *heads))
            last = change.number
        removed = (quad for quad in commit.removes if quad.predicate != LAST_COMMIT)
        yield replace(commit, removes=(*removed, self._head(last)))

    def _head(self, number: int) -> Quad:
        return Quad(NamedNode(self._names.base), LAST_COMMIT, Literal(number), self._meta)


def _entry(logged: Sequence[int], number: int) -> int:
    """Return the number of the log entry that holds a commit: its own, or that of the import it came with."""
    index = bisect_left(logged, number)
    return logged[index] if index < len(logged) else number
