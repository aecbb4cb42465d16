"""The front hall: the store of one tenant, wired from the rooms; what one does in a project is in project.py."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from pyoxigraph import Literal, NamedNode

from prism_rdf import tiers
from prism_rdf.canonical.schemas import Schema
from prism_rdf.changes import Ground
from prism_rdf.clock import Clock, SystemClock, TimeInput
from prism_rdf.commit import HAS_NAMESPACE, Committer
from prism_rdf.config import embedder_setting
from prism_rdf.config import resolve as resolve_settings
from prism_rdf.errors import BadArgument, BusyError
from prism_rdf.forgotten import Forgotten
from prism_rdf.free import check_managed
from prism_rdf.maintenance.site import Site
from prism_rdf.model import Intent, Receipt, Tier
from prism_rdf.namespaces import Names, check_name, meta_graph
from prism_rdf.project import Project
from prism_rdf.querying import QueryingVerbs
from prism_rdf.storage.changelog import ChangeLog
from prism_rdf.storage.embedded import EmbeddedStore
from prism_rdf.storage.folder import StoreFolder, open_folder, remove, tenants
from prism_rdf.updating.verbs import UpdatingVerbs

if TYPE_CHECKING:
    from prism_rdf.answering import Answering
    from prism_rdf.owner.place import Hold
    from prism_rdf.recall.embedders import Embedder


class Prism(UpdatingVerbs, QueryingVerbs):
    """The store of one tenant. Open it with ``Prism.open``; close it, or use it as a context manager."""

    def __init__(
        self,
        folder: StoreFolder | None,
        base: str,
        tenant: str,
        clock: Clock,
        embedder: Embedder | None = None,
        *,
        managed: bool = True,
    ) -> None:
        self.folder = folder
        self.managed = folder.managed if folder else managed
        self.base = base
        self.tenant = tenant
        self.clock = clock
        self.store = EmbeddedStore(folder.quads if folder else None)
        if folder is not None:
            self._settle_in(folder)
        self._log = ChangeLog(folder.log if folder else None)
        forgotten = Forgotten(self.store, base, folder.forget_key if folder else None)
        self._ground = Ground(self.store, tenant, forgotten, managed=self.managed)
        self._committer = Committer(self._ground, self.store, self._log, base, clock)
        self._begin_querying()
        self._embedder = embedder
        self._embedders: dict[str, Embedder | None] = {}  # by setting
        self._answering: dict[str, Answering] = {}
        self._projects: tuple[int, list[str]] = (-1, [])  # as of which commit, and which
        self.type_problems: dict[str, dict[str, str]] = {}  # by project and file, what was not taken in of its folder
        self._opening = threading.Lock()
        self._hold: Hold | None = None
        self._tier: Tier = 1
        if folder is not None and folder.types.is_dir():
            from prism_rdf.dropped import take_in

            self.type_problems = take_in(self, folder.types)

    @classmethod
    def open(
        cls,
        home: str | PathLike[str] | None = None,
        tenant: str | None = None,
        *,
        create: bool = True,
        exclusive: bool = False,
        base: str | None = None,
        clock: Clock | None = None,
        embedder: Embedder | None = None,
        tier: Tier | None = None,
        managed: bool | None = None,
    ) -> Prism:
        """Open the store of a tenant in a folder, made when absent unless ``create`` is off.

        Its verbs are answered by the process that owns the store, which is started where there is none, so that any
        number of programs use one store at once. With ``exclusive`` this process owns it until ``close``, and others
        are told so; only then can it have a ``clock`` or an ``embedder`` of its own. ``tier`` is the highest that
        may be claimed: 1 a person, 2 an agent with an artifact, 3 guesses only. With ``managed=False`` a new store has
        free graphs only, the default graph too. ``home``, ``tenant`` and ``tier`` default to PRISM_HOME, PRISM_TENANT
        and PRISM_TIER. Raises NotAStore, StoreVersionError, NotFoundError, BusyError.
        """
        from prism_rdf import owner  # a door above this hall, through which one comes in

        settings = resolve_settings(home, tenant, tier=tier)
        if not exclusive and (clock is not None or embedder is not None):
            what = "a clock" if clock is not None else "an embedder"
            raise BadArgument(
                f"{what} was given for a store that may be shared",
                rule="the owner of a store says what time it is, and which model its vectors are of",
                mend=f"add exclusive=True, or leave {what} out",
            )
        folder = open_folder(settings.home, settings.tenant, create=create, base=base, managed=managed)
        remote = None if exclusive else owner.connect(folder, settings.tier)
        if remote is not None:
            return remote
        hold = owner.take(folder, "exclusive")
        try:
            folder = open_folder(settings.home, settings.tenant, create=False)  # it may have been rewritten meanwhile
            opened = cls(folder, folder.base, settings.tenant, clock or SystemClock(), embedder)
        except BaseException:
            hold.release()
            raise
        opened._hold = hold
        opened._tier = tiers.known(settings.tier)
        return opened

    @classmethod
    def in_memory(
        cls,
        tenant: str = "default",
        *,
        clock: Clock | None = None,
        embedder: Embedder | None = None,
        tier: Tier = 1,
        managed: bool = True,
    ) -> Prism:
        """Return a store that keeps nothing: for tests and trials.

        >>> with Prism.in_memory() as prism:
        ...     made = prism.project("demo").entity("Project", {"name": "PrismGR"})
        ...     prism.project("demo").state_as_of(made["uuid"])["props"]["name"]
        'PrismGR'
        """
        base = f"urn:prism:{check_name('tenant', tenant)}"
        opened = cls(None, base, tenant, clock or SystemClock(), embedder, managed=managed)
        opened._tier = tiers.known(tier)
        return opened

    @property
    def tier(self) -> Tier:
        """Return the highest tier that may be claimed here."""
        return tiers.highest(self._tier)

    def project(self, pid: str) -> Project:
        """Return the project ``pid``, which need not hold anything yet. Raises BadArgument for an unusable name."""
        return Project(self, check_name("project", pid))

    def schema(self, pid: str) -> Schema:
        """Return the types of a project: those that ship and its own, as they are believed now."""
        return self._ground.schema(Names(self.base, pid))

    def answering(self, pid: str) -> Answering:
        """Return the recall of a project, with its indexes open."""
        with self._opening:
            if pid not in self._answering:
                from prism_rdf.answering import Answering

                self._answering[pid] = Answering(self.project(pid))
            return self._answering[pid]

    def embedder(self, kept: str = "", *, asked: str = "") -> Embedder | None:
        """Return the model of the vector leg, loaded once; None when it was switched off.

        It is the one given to ``open``, else that of PRISM_EMBEDDER, else the one that was ``kept`` of an earlier
        choice, else the default; or the one ``asked`` for. Raises NotFoundError when it is not installed, BadArgument
        for a setting that is none.
        """
        if self._embedder is not None and not asked:
            return self._embedder
        setting = asked or embedder_setting(default=kept)
        if setting not in self._embedders:
            from prism_rdf.recall.embedders import chosen

            self._embedders[setting] = chosen(setting)
        return self._embedders[setting]

    def projects(self) -> list[str]:
        """Return the ids of the projects that hold something, sorted."""
        number = self._committer.number  # read first: a project that comes meanwhile comes with another number
        if self._projects[0] != number:
            found = self.store.quads_for_pattern(NamedNode(self.base), HAS_NAMESPACE, None, meta_graph(self.base))
            self._projects = (number, sorted(quad.object.value for quad in found if isinstance(quad.object, Literal)))
        return list(self._projects[1])

    def bring_up_to_date(self) -> None:
        """Apply what begins or ends by time alone to the current graphs."""
        self._committer.apply_due(self.clock.now())

    def commit(
        self, namespace: str, intents: Callable[[], Sequence[Intent]], verb: str, key: str, payload: object
    ) -> Receipt:
        """Write the intents as one commit; see ``Committer.write``. Raises RefusedError where they claim too much."""
        text = json.dumps(payload, sort_keys=True, default=str) if key else ""
        most = self.tier

        def within() -> Sequence[Intent]:
            wanted = intents()
            tiers.check_claims(wanted, most)
            check_managed(wanted, self.managed)
            return wanted

        return self._committer.write(namespace, within, verb, key=key, payload=text)

    @property
    def site(self) -> Site:
        """Return the parts of the store, for maintenance."""
        return Site(self.folder, self.base, self._ground, self.store, self._log, self._committer, self.clock)

    def backup(self, target: str | PathLike[str]) -> dict[str, object]:
        """Copy the store into a new folder, as it is at one commit, while writing goes on.

        Returns ``{"target", "commit", "recorded_at", "files", "bytes"}``. Raises RefusedError for a target that is
        already there, a full disk, or a store in memory.
        """
        from prism_rdf.maintenance.backup import backup

        return backup(self.site, Path(target))

    @staticmethod
    def restore(
        source: str | PathLike[str],
        home: str | PathLike[str] | None = None,
        tenant: str | None = None,
        *,
        at: TimeInput | int | None = None,
    ) -> dict[str, object]:
        """Make a store from a backup, where there is none; ``at``: as it was at a system time, or after a commit.

        Returns ``{"store", "tenant", "commit", "recorded_at", "made_at"}``. Raises RefusedError when there is a store
        or the backup is damaged, NotFoundError when it does not reach ``at``.
        """
        from prism_rdf.maintenance.restore import restore

        settings = resolve_settings(home, tenant)
        return restore(Path(source), settings.home, settings.tenant, at)

    def export(
        self, target: str | PathLike[str] | None = None, format: str = "trig", pid: str | None = None
    ) -> dict[str, object]:
        """Write all that the store or one project holds, commits included, as trig, nquads or jsonld.

        Returns ``{"target", "format", "quads"}``, and without a target the ``text``. Raises BadArgument, NotFoundError,
        RefusedError.
        """
        from prism_rdf.maintenance.exporting import export

        return export(self.site, None if target is None else Path(target), format, pid)

    @classmethod
    def import_(
        cls,
        source: str | PathLike[str],
        home: str | PathLike[str] | None = None,
        tenant: str | None = None,
        *,
        format: str | None = None,
        told: Callable[[str], None] = lambda _: None,
    ) -> dict[str, object]:
        """Make a store from an export, where there is none or an empty one; the suffix tells the format unless given.

        ``told`` is called with what is done next, such as ``judging its shapes``.
        Returns ``{"store", "base", "tenant", "commit", "recorded_at", "quads", "projects", "notes"}``. Raises
        RefusedError or ValidationError, with all that is wrong, and changes nothing then.
        """
        from prism_rdf.maintenance.importing import import_into, import_new, source_of

        settings = resolve_settings(home, tenant)
        read = source_of(Path(source), format, SystemClock().now(), told)
        if settings.tenant not in tenants(settings.home):
            return import_new(read, settings.home, settings.tenant)
        with cls.open(settings.home, settings.tenant, create=False, exclusive=True) as prism:
            prism.folder, answer = import_into(read, prism.site)
            return answer

    def forget(
        self, pid: str, target: Callable[[], NamedNode], *, dry_run: bool = False, key: str = ""
    ) -> dict[str, object]:
        """Remove an entity or a memory of a project with all that goes with it; see ``Project.forget``."""
        from prism_rdf.maintenance.forgetting import forget, preview

        names, forgotten = Names(self.base, pid), self._ground.forgotten
        tiers.check_rules(self.tier)
        if dry_run or forgotten is None:
            return preview(self.site, names, target())
        self.folder, answer = forget(self.site, names, target, forgotten, key)
        self._start_afresh()
        return answer

    def _start_afresh(self) -> None:
        """Drop what was built on the store before it was rewritten: indexes, snapshots; they are made when needed."""
        with self._opening:
            for answering in self._answering.values():
                answering.close()
            self._answering.clear()
        self._projects = (-1, [])
        self._see_anew()

    def rebuild(self, pid: str | None = None) -> dict[str, int]:
        """Compute the derived graphs (current, tail) of a project or of all anew, each in one atomic update.

        Returns for each project of how many entities something was stale.
        """
        from prism_rdf.maintenance.derived import rebuild

        stale = {name: rebuild(self.site, Names(self.base, name)) for name in ([pid] if pid else self.projects())}
        self._committer.reread()
        return stale

    def _settle_in(self, folder: StoreFolder) -> None:
        """Now that nobody else has the store: see that it still is the one, and finish what a crash cut off."""
        if not folder.is_current():
            self.store.close()
            raise BusyError(
                f"the store in {folder.path} was replaced a moment ago",
                rule="one process owns a store at a time",
                mend="open it again",
            )
        folder.clear_leftovers()
        remove(folder.workers)

    def close(self) -> None:
        """Release the store; another process may open it then."""
        for answering in self._answering.values():
            answering.close()
        self._end_querying()
        self._log.close()
        self.store.close()
        if self._hold is not None:
            self._hold.release()

    def __enter__(self) -> Prism:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
