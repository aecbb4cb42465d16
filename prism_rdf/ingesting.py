"""What a project takes in from documents, and why an entity is the one document it is; files are read in ingest/."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyoxigraph import Literal

from prism_rdf.canonical.schemas import Schema
from prism_rdf.clock import Instant, TimeInput
from prism_rdf.evidence.bookmarks import bookmarks_of
from prism_rdf.explaining import standing_of
from prism_rdf.model import Bookmark, Event, Intent, NewEntity, Receipt
from prism_rdf.teaching import TeachingVerbs
from prism_rdf.writing import WritingVerbs

if TYPE_CHECKING:
    from prism_rdf.ingest import Ingestion

_KNOWN_AGAIN = re.compile(r"\[((?:known again|back) [^\]]*)\]$")
_SAID_BY = (
    ("temporal", "?node prism:changes ?entity", "?source"),
    ("semantic", "?node prism:aliasOf ?entity", "?source"),
    ("semantic", "?node prism:referenceSource ?entity", ""),
    ("memory", '?node prism:about ?entity ; prism:memoryKind "passage"', ""),
    (
        "review",
        """?guess (prism:candidateOf|prism:aliasOf|prism:referenceSource) ?entity ; prism:clue ?node .
            ?node prism:extractor ?by FILTER (STRSTARTS(?by, "prose/")) ?node a prism:Clue""",
        "",
    ),
)


class IngestingVerbs(WritingVerbs, TeachingVerbs):
    """The verbs of a project that have to do with documents and their sources."""

    def ingest(
        self,
        path: str | PathLike[str],
        *,
        ref: str | None = None,
        mapping: str = "",
        again: bool = False,
        dry_run: bool = False,
        progress: Callable[[int, int, str], None] | None = None,
    ) -> dict[str, Any]:
        """Read the documents of a git repository or a folder, with their history, in one commit or more.

        Returns ``{"receipt", "commits", "report", "left_behind"}``; the receipt is that of the last commit, and the
        report names what was skipped, dangling, ambiguous or failed. Only commits that are new since the last run are
        taken in; with ``again`` all are read. ``mapping`` is a file, or the name of one that ships; ``ref`` is read in
        place of the checked-out branch; ``progress`` is told (done, total, label). With ``dry_run`` nothing is
        written, and ``recognised`` says what each file is taken for. Raises NotFoundError, NotARepository,
        BadArgument; a bad file is a failure in the report.
        """
        from prism_rdf.ingest import take_in  # its room reads git, which most programs need not

        source = open_source(Path(path), self.pid, self, ref=ref, mapping=mapping)
        if dry_run:
            return source.dry_run(progress)
        taken = take_in(source, self, lambda: self, again=again, progress=progress)
        return {**taken.as_dict(), "left_behind": self.left_behind(Path(path), taken.intents)}

    def left_behind(self, folder: Path, intents: Iterable[Intent]) -> list[str]:
        """Return the paths of current documents of an earlier reading of a plain folder that it no longer holds.

        Without a history nobody can say whether a file was renamed or deleted, so they stay as they are. Empty when
        ``intents`` are not of a plain folder.
        """
        return sorted({path for _, path in self._gone(folder, intents)})

    def follow_deletions(self, folder: Path, intents: Iterable[Intent], deleted: Iterable[str]) -> dict[str, list[Any]]:
        """Retire the documents of a plain folder whose files were seen to go, and reopen those whose files are back.

        ``deleted`` are paths that went, of files or of folders. Returns ``{"retired", "reopened", "commits"}``, paths
        below the folder and numbers of commits. What went unseen is not retired: it may have been renamed.
        """
        wanted, went = tuple(intents), [Path(path) for path in deleted]
        told: dict[str, list[Any]] = {"retired": [], "reopened": [], "commits": []}
        root = folder.resolve()
        for entity, path in self._gone(folder, wanted):
            if any((root / path).is_relative_to(each) for each in went):
                said = {"description": "its file was deleted", "source": f"file:{path}"}
                self._noted_in(told, "retired", path, self.retire(entity, **said))
        for entity, path in self._retired_with_files(wanted):
            if (folder / path).is_file():
                said = {"description": "its file is back", "source": f"file:{path}"}
                self._noted_in(told, "reopened", path, self.reopen(entity, **said))
        return told

    def _noted_in(self, told: dict[str, list[Any]], what: str, path: str, receipt: Receipt) -> None:
        told[what].append(path)
        told["commits"] += [] if receipt.commit is None else [receipt.commit]

    def _gone(self, folder: Path, intents: Iterable[Intent]) -> list[tuple[str, str]]:
        """Return (entity, path) of the current documents of plain folders that this one does not hold."""
        wanted = tuple(intents)
        if not _of_plain_folder(wanted):
            return []
        read = {intent.uuid for intent in wanted if isinstance(intent, NewEntity)}
        query = f"""SELECT DISTINCT ?entity ?path {{
            GRAPH {self.names.graph("temporal")} {{
                ?event prism:changes ?entity ; prism:source ?source FILTER (STRSTARTS(?source, "file:")) }}
            GRAPH {self.names.graph("current")} {{ ?entity prism:path ?path }} }}"""
        found = ((entity.value, path.value) for entity, path in self.prism.sparql(query, dataset="raw").rows())
        gone = (each for each in found if self.names.uuid_of(each[0]) not in read)
        return sorted(each for each in gone if not (folder / each[1]).exists())

    def _retired_with_files(self, intents: Iterable[Intent]) -> list[tuple[str, str]]:
        """Return (entity, path) of the documents that are retired because their file went, and that are read again."""
        read = {intent.uuid for intent in intents if isinstance(intent, NewEntity)}
        query = f"""SELECT ?entity ?source {{
            GRAPH {self.names.graph("temporal")} {{
                ?event prism:changes ?entity ; prism:eventType "retired" ; prism:source ?source
                FILTER (STRSTARTS(?source, "file:")) FILTER NOT EXISTS {{ ?event prism:withdrawnAt ?gone }} }}
            FILTER NOT EXISTS {{ GRAPH {self.names.graph("current")} {{ ?entity prism:path ?path }} }} }}"""
        rows = self.prism.sparql(query, dataset="raw").rows()
        found = {(entity.value, source.value.removeprefix("file:")) for entity, source in rows}
        return sorted(each for each in found if self.names.uuid_of(each[0]) in read)

    def bearer_elsewhere(self, identifier: str, at: Instant) -> str | None:
        """Return the uuid of the entity that bore an identifier, as ``bearer_uuid`` does, if no repository tells of it.

        Each repository numbers its own documents, so one is not asked what the numbers of another mean; then it does
        not matter which is read first.
        """
        found = self.bearer_uuid(identifier, at)
        if found is None:
            return None
        query = f"""ASK {{ GRAPH {self.names.graph("temporal")} {{
            ?event prism:changes {self.names.entity(found)} ; prism:source ?source
            FILTER (STRSTARTS(?source, "git:")) }} }}"""
        return None if next(iter(self.prism.sparql(query, dataset="raw").rows()))[0] else found

    def bookmarks(self, source: str) -> list[Bookmark]:
        """Return how far a source was read into this project, by each mapping."""
        return list(bookmarks_of(self._store, self.names, source))

    def said_by(self, source: str) -> list[tuple[str, str]]:
        """Return (node, entity) of all that is believed because documents of a source say so; the source is as in a
        bookmark: ``git:{root commit}:{folder}``."""
        found: list[tuple[str, str]] = []
        begins = Literal(source)
        owned = f"""GRAPH {self.names.graph("temporal")} {{
            ?any prism:changes ?entity ; prism:source ?from FILTER (STRSTARTS(?from, {begins})) }}"""
        for layer, pattern, said in _SAID_BY:
            where = f"; prism:source {said}" if said else '; prism:source ?place FILTER (CONTAINS(?place, "@"))'
            mine = f"FILTER (STRSTARTS({said}, {begins}))" if said else ""
            query = f"""SELECT DISTINCT ?node ?entity {{ {owned} GRAPH {self.names.graph(layer)} {{
                {pattern} {where} {mine} FILTER NOT EXISTS {{ ?node prism:withdrawnAt ?gone }} }} }}"""
            rows = self.prism.sparql(query, dataset="raw").rows()
            found += [(node.value, entity.value) for node, entity in rows]
        return sorted(found)

    def explain(
        self, entity: str, as_of: TimeInput | None = None, known_at: TimeInput | int | None = None
    ) -> dict[str, Any]:
        """Return why an entity is what it is, and how it came to be the one document that it is.

        Returns ``{"entity", "uuid", "type", "identifier", "as_of", "state", "files", "identifiers", "story"}``.
        ``state`` has for each property of the sealed state at ``as_of`` (default now), as believed at ``known_at``, its
        ``value``, ``since`` when, the ``events`` that set it, and under ``outranked`` those that say another value of
        the same time, each with ``by`` what it is outranked. ``files`` and
        ``identifiers`` are ``{"name", "from", "until"}``, oldest first; ``story`` has what moved, renumbered, ended or
        brought back the document: ``{"at", "event_type", "changes", "known_by", "cause_commit", "description",
        "source"}``, where ``known_by`` says by what it was known again. Raises UnknownEntity, AmbiguousError.
        """
        node, at, known = self.resolve(entity, as_of, known_at), self._at(as_of), self.prism.system_time(known_at)
        states = [state for state in self.history(node.value, known_at) if state["commit_status"] == "committed"]
        told: list[dict[str, Any]] = []
        for entry in self.timeline(node.value, known_at):
            said = entry.get("changes", {})
            changes = {name: said[name] for name in ("path", "number", "name") if name in said}
            telling = [e for e in entry.get("events", ()) if e["event_type"] in ("created", "retired", "reopened")]
            if entry["kind"] == "state" and (changes or telling):
                told += [_chapter(entry["at"], event, changes) for event in entry["events"]]
        last = states[-1] if states else {}
        return {
            "entity": node.value,
            "uuid": self.names.uuid_of(node.value),
            "type": self._type_of(node).name,
            "identifier": last.get("identifier"),
            "as_of": at.iso(),
            "state": standing_of(self._store, self.names, node, self._type_of(node), at, known),
            "files": _spans(states, "path"),
            "identifiers": _spans(states, "number") or _spans(states, "name"),
            "story": told,
        }


def open_source(
    path: Path, pid: str, project: IngestingVerbs | None, *, ref: str | None = None, mapping: str = ""
) -> Ingestion:
    """Return what can be read at a path by the types and names that a project knows (None: there is none yet).

    Raises NotFoundError, NotARepository, BadArgument, UnknownType.
    """
    from prism_rdf.ingest import Ingestion

    if project is None:
        return Ingestion(path, pid, ref=ref, mapping=mapping)
    catalog = Schema.of(project.type_texts()).catalog
    return Ingestion(path, pid, ref=ref, mapping=mapping, catalog=catalog, resolve=project.bearer_elsewhere)


def _of_plain_folder(intents: Iterable[Intent]) -> bool:
    return any(isinstance(intent, Event) and intent.source.startswith("file:") for intent in intents)


def _chapter(at: str | None, event: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    description = event["description"] or ""
    known = _KNOWN_AGAIN.search(description)
    return {
        "at": at,
        "event_type": event["event_type"],
        "changes": changes,
        "known_by": known[1] if known else None,
        "cause_commit": event["cause_commit"],
        "description": _KNOWN_AGAIN.sub("", description).strip() or None,
        "source": event["source"],
    }


def _spans(states: list[dict[str, Any]], prop: str) -> list[dict[str, Any]]:
    """Return the stretches of time in which a property had one value."""
    spans: list[dict[str, Any]] = []
    for state in states:
        value = state["props"].get(prop)
        if value is None:
            continue
        if spans and spans[-1]["name"] == value and spans[-1]["until"] == state["valid_from"]:
            spans[-1]["until"] = state["valid_until"]
        else:
            spans.append({"name": value, "from": state["valid_from"], "until": state["valid_until"]})
    return spans
