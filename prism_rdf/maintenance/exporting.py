"""All that a store holds as one RDF file, with its commits, so that an import makes the same store of it."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, serialize

from prism_rdf.changes import DUE_AT
from prism_rdf.commit import HAS_NAMESPACE, LAST_COMMIT, NUMBER
from prism_rdf.errors import BadArgument, NotFoundError, RefusedError
from prism_rdf.maintenance.site import Site, no_room
from prism_rdf.namespaces import PREFIXES, Names, meta_graph, prism
from prism_rdf.storage.folder import sync_folder
from prism_rdf.values import python_of

FORMATS = {"trig": RdfFormat.TRIG, "nquads": RdfFormat.N_QUADS, "jsonld": RdfFormat.JSON_LD}


def export(site: Site, target: Path | None, form: str, pid: str | None) -> dict[str, Any]:
    """Write the store as it is at one commit into a file, or into the answer's ``text`` when there is no target.

    ``pid`` limits it to one project with its commits; graphs that belong to no project are then left out. Returns
    ``{"target", "format", "quads"}``. Raises BadArgument, NotFoundError, RefusedError; a target stays as it was then.
    """
    if form not in FORMATS:
        raise BadArgument(
            f"there is no export format {form!r}",
            rule=f"formats are {', '.join(FORMATS)}",
            mend="choose one of these",
        )
    with site.committer.paused():  # an iterator sees the store as it is when it is made
        chosen: Iterable[Quad] = site.store.quads_for_pattern(None, None, None, None)
        if pid is not None:
            chosen = _of_project(site, chosen, Names(site.base, pid))
    quads = _Counted(chosen)
    if target is None:
        written = io.BytesIO()
        _serialize(quads, written, form)
        return {"target": None, "format": form, "quads": quads.count, "text": written.getvalue().decode()}
    fresh = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        with fresh.open("xb") as file:
            _serialize(quads, file, form)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(target)
        sync_folder(target.parent)
    except BaseException as error:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise no_room(f"the export {target}", error) from error
        raise
    return {"target": str(target), "format": form, "quads": quads.count}


class _Counted:
    def __init__(self, quads: Iterable[Quad]) -> None:
        self._quads = quads
        self.count = 0

    def __iter__(self) -> Iterator[Quad]:
        for quad in self._quads:
            self.count += 1
            yield quad


def _serialize(quads: Iterable[Quad], output: Any, form: str) -> None:
    try:
        serialize(quads, output, format=FORMATS[form], prefixes=PREFIXES if form == "trig" else None)
    except ValueError as error:
        raise RefusedError(
            f"the store cannot be written as {form}: {error}",
            rule=f"{form} has no form for some of what it holds",
            mend="export it as nquads",
        ) from error


def _of_project(site: Site, quads: Iterable[Quad], names: Names) -> Iterator[Quad]:
    """Return the quads of one project: its graphs, and of the meta graph its commits and what else speaks of it."""
    meta, base = meta_graph(site.base), NamedNode(site.base)
    owned = _owned(site, names, meta)
    numbers = [quad for quad in site.store.quads_for_pattern(None, NUMBER, None, meta) if quad.subject in owned]
    if not numbers:
        raise NotFoundError(
            f"there is no project {names.namespace!r} in this store",
            rule="a project begins with its first write",
            mend="leave --pid out to export all there is",
        )
    last = max(python_of(quad.object) for quad in numbers if isinstance(quad.object, Literal))
    heads = {
        Quad(base, HAS_NAMESPACE, Literal(names.namespace), meta),
        Quad(base, prism("formatVersion"), Literal(1), meta),
    }
    start = f"{site.base}/{names.namespace}/"

    def chosen() -> Iterator[Quad]:
        yield Quad(base, LAST_COMMIT, Literal(last), meta)
        for quad in quads:
            if quad.graph_name == meta:
                due = quad.predicate == DUE_AT and str(quad.subject).startswith(f"<{start}entity/")
                if due or quad.subject in owned or quad in heads:
                    yield quad
            elif isinstance(quad.graph_name, NamedNode) and (
                quad.graph_name.value.startswith(start) or quad.graph_name in owned  # a free graph of another IRI
            ):
                yield quad

    return chosen()


def _owned(site: Site, names: Names, meta: NamedNode) -> set[NamedNode]:
    """Return the nodes that the meta graph says are of this project: commits, tombstones, free graphs."""
    namespace = Literal(names.namespace)
    found = site.store.quads_for_pattern(None, prism("namespace"), namespace, meta)
    return {quad.subject for quad in found if isinstance(quad.subject, NamedNode)}
