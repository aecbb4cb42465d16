"""A store of LangGraph on a project: an item is an entity whose history stays; needs the extra ``langgraph``."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any
from urllib.parse import quote, unquote

from langgraph.store import base
from langgraph.store.base import BaseStore, GetOp, Item, ListNamespacesOp, Op, PutOp, Result, SearchItem, SearchOp
from langgraph.store.memory import InMemoryStore
from pyoxigraph import Literal, NamedNode

from prism_rdf.clock import Edge, Instant, SystemClock
from prism_rdf.model import RETIRED, Assertion, Event, Intent, Memory, NewEntity
from prism_rdf.namespaces import OWL, PRISM, RDFS, derived_uuid
from prism_rdf.project import Project

KIND = "langgraph-item"
_NS = "https://w3id.org/prism-rdf/langgraph#"
_ITEM, _PATH, _VALUE, _TEXT, _CREATED, _UPDATED = (
    NamedNode(_NS + name) for name in ("LangGraphItem", "path", "value", "text", "created", "updated")
)
_TYPES = f"""@prefix : <{_NS}> . @prefix prism: <{PRISM}> . @prefix owl: <{OWL}> . @prefix rdfs: <{RDFS}> .
:LangGraphItem a owl:Class, prism:Type ; rdfs:subClassOf prism:Entity ; prism:immutableProperty :path ;
    prism:mutableProperty :value, :text, :created, :updated .
:path a owl:DatatypeProperty ; prism:identifying true .
:value a owl:DatatypeProperty . :text a owl:DatatypeProperty .
:created a owl:DatatypeProperty . :updated a owl:DatatypeProperty .
"""


class PrismStore(BaseStore):
    """Items of LangGraph in a project: ``put`` records a change, ``delete`` retires; ``search`` with a query recalls.

    Values are JSON objects. ``index`` False keeps an item from being recalled; a list names the fields that are its
    text. A value that was there already changes nothing, not even ``updated_at``.
    """

    def __init__(self, project: Project) -> None:
        """Make a store of a project, which is taught the type of items the first time."""
        self._project, self._clock = project, SystemClock()
        if all(known["iri"] != _ITEM.value for known in project.list_types()):
            project.add_types(_TYPES, "langgraph.ttl")

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Answer the operations: those that read see what was before; all puts are one commit, of one item the last."""
        puts = {}
        results: list[Result] = []
        for op in ops:
            if isinstance(op, PutOp):
                puts[_path((*op.namespace, op.key))] = op
            results.append(self._read(op))
        intents = [intent for path, op in puts.items() for intent in self._change(path, op)]
        if intents:
            self._project.write(intents, "langgraph")
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Answer the operations as ``batch`` does, in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _items(self, which: str) -> Iterator[tuple[Item, str]]:
        """Yield the items whose ``?path`` is such, with their texts, in the order of their paths."""
        query = f"""SELECT ?path ?value ?text ?created ?updated {{ ?item a {_ITEM} ; {_PATH} ?path ; {_VALUE} ?value ;
            {_TEXT} ?text ; {_CREATED} ?created ; {_UPDATED} ?updated . {which} }} ORDER BY ?path"""
        for row in self._project.prism.sparql(query, pid=self._project.pid).rows():
            path, value, text, created, updated = (term.value for term in row)
            *namespace, key = json.loads(path)
            times = {"created_at": created, "updated_at": updated}  # an item reads ISO 8601 itself
            yield Item(value=json.loads(value), key=key, namespace=namespace, **times), text

    def _one(self, path: str) -> tuple[Item, str] | None:
        return next(self._items(f"VALUES ?path {{ {Literal(path)} }}"), None)

    def _read(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            found = self._one(_path((*op.namespace, op.key)))
            return found[0] if found is not None else None
        if isinstance(op, SearchOp):
            return self._search(op)
        return _by_langgraph((item for item, _ in self._items("")), op) if isinstance(op, ListNamespacesOp) else None

    def _change(self, path: str, op: PutOp) -> Iterator[Intent]:
        """Yield what makes an item what it is to be, with the end of what was said before."""
        known, now, uuid = self._one(path), self._clock.now(), derived_uuid(_NS, self._project.pid, path)
        value, text = (None, "") if op.value is None else (_json(op.value), _text(op.value, op.index))
        if known is not None and value == _json(known[0].value) and text == known[1]:
            return
        if known is not None and known[1]:
            yield _memory(known[1], path, uuid, Instant.of(known[0].updated_at), now)
        if value is None:
            if known is not None:
                yield Event(uuid, "retired", Edge(now), (Assertion(RETIRED, Literal(True), "set", now),))
            return
        created = Instant.of(known[0].created_at) if known is not None else now
        yield NewEntity(uuid, _ITEM)
        said = {_VALUE: value, _TEXT: text, _PATH: path, _CREATED: created.iso(), _UPDATED: now.iso()}
        says = tuple(Assertion(prop, Literal(each), "set", now) for prop, each in said.items())
        if known is None:  # it may have been deleted before
            says += (Assertion(RETIRED, Literal(False), "set", now),)
        yield Event(uuid, "put", Edge(now), says)
        if text:
            yield _memory(text, path, uuid, now, None)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        prefix = _path(op.namespace_prefix)[:-1] + ("," if op.namespace_prefix else "")
        listed = self._items(f"FILTER (STRSTARTS(?path, {Literal(prefix)}))")
        found = self._recalled(op.query, prefix) if op.query else ((item, None) for item, _ in listed)
        fit = (each for each in found if not op.filter or _fits(each[0], op.filter))
        page = islice(fit, op.offset, op.offset + op.limit)
        return [SearchItem(**item.dict(), score=score) for item, score in page]

    def _recalled(self, query: str, prefix: str) -> Iterator[tuple[Item, float | None]]:
        """Yield the items whose texts recall finds, the best first, each once."""
        cursor, seen = "", set()
        while True:
            source = f"{KIND}:{quote(prefix)}"
            answer = self._project.recall(query, kind=KIND, source=source, mode="current", limit=50, cursor=cursor)
            for hit in answer["hits"]:
                path = unquote(hit["source"].removeprefix(f"{KIND}:"))
                found = self._one(path) if path not in seen else None
                seen.add(path)
                if found is not None:
                    yield found[0], hit["score"]
            cursor = answer["cursor"]
            if not cursor:
                return


def _path(names: Sequence[str]) -> str:
    return json.dumps(list(names), ensure_ascii=False)


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _text(value: Any, index: bool | list[str] | None) -> str:
    """Return what is to be recalled of a value: the fields that are named, else all of its texts and numbers."""
    if index is not None:
        return "\n".join(text for field in index or () for text in base.get_text_at_path(value, field))  # type: ignore[union-attr]
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, (list, tuple)) else None
    return "\n".join(_text(each, None) for each in inner) if inner is not None else "" if value is None else str(value)


def _memory(text: str, path: str, uuid: str, start: Instant, until: Instant | None) -> Memory:
    return Memory(text, KIND, start, f"{KIND}:{quote(path)}", about=(uuid,), start=start, until=until, tier=2)


def _fits(item: Item, wanted: dict[str, Any]) -> bool:
    try:
        return bool(_by_langgraph([item], SearchOp((), wanted)))
    except TypeError:  # what cannot be compared is neither more nor less
        return False


def _by_langgraph(items: Iterable[Item], op: Op) -> Any:
    """Return what LangGraph's own store answers of these items: what a filter and a pattern mean is its business."""
    store = InMemoryStore()
    store.batch(PutOp(item.namespace, item.key, item.value) for item in items)
    return store.batch([op])[0]
