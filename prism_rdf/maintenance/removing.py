"""What has to go with a thing that is forgotten, and why: itself, what quotes it, what that was the cause of.

Of an entity go its identity, states, events, drafts, names, references and merges, and every memory that is about it,
mentions it or quotes it; what was merged with it stays. Of other entities go the events that such a memory caused, and
the assertions, aliases, descriptions and other texts that quote it or refer to it. Other projects are left alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode, Quad

from prism_rdf.belief import EARLIER_BELIEF, WITHDRAWN_AT
from prism_rdf.canonical.texts import FILE_NAME, TURTLE
from prism_rdf.changes import Ground
from prism_rdf.evidence.memories import CONTENT
from prism_rdf.forgotten import Mark
from prism_rdf.maintenance import guessed
from prism_rdf.maintenance.quoting import PROPERTY, VALUE, is_text, wording_of_entity, wording_of_memory
from prism_rdf.namespaces import SKOS, Names, meta_graph, prism
from prism_rdf.semantic.aliases import ALIAS_OF, FOLDED_FORM, SURFACE_FORM
from prism_rdf.semantic.differences import DIFFERENT
from prism_rdf.semantic.merges import INTO, MERGED, concerned_by
from prism_rdf.semantic.references import KIND, SOURCE, TARGET
from prism_rdf.storage.about import about, objects, subjects
from prism_rdf.temporal.drafts import DRAFT_OF, THREAD
from prism_rdf.temporal.events import ASSERTION, CHANGES
from prism_rdf.temporal.states import HAS_STATE
from prism_rdf.values import quad_text, term_text
from prism_rdf.views import ALT_LABEL, HIDDEN_LABEL

_WHYS = ITSELF, QUOTES, CAUSED = "itself", "quotes it", "caused by what quotes it"

_LONGEST_EXCERPT = 100
_CAUSE = prism("causeMemory")
_KEY = prism("idempotencyKey")
_WHOLE_LAYERS = ("evidence",)  # a node there goes whole as soon as anything in it quotes what goes
# In the graph of a layer: a text of this predicate takes its node along, which is then one of these.
_TAKES = {
    ("memory", CONTENT): "memory",
    ("memory", prism("heading")): "memory",
    ("memory", prism("speaker")): "memory",
    ("memory", NamedNode(SKOS + "prefLabel")): "concept",
    ("temporal", VALUE): "assertion",
    ("semantic", SURFACE_FORM): "alias",
    ("semantic", FOLDED_FORM): "alias",
    ("types", TURTLE): "file of types",
    **guessed.TAKES,
}
_KNOWN_AGAIN = frozenset({"entity", "memory", "event", "alias", "concept", guessed.CANDIDATE, guessed.CLUE_NODE})
_GUESSED = (guessed.CANDIDATE, guessed.CLUE_NODE, guessed.RULING_NODE)


@dataclass(frozen=True)
class Going:
    """What goes: a node, or where ``what`` is "statement" one statement of a node that stays; why, and what it says."""

    node: str
    what: str
    why: str
    says: str = ""


class Removal:
    """Everything that goes with one entity or memory of a project; it is only listed here.

    ``going`` has the nodes, ``retold`` the other entities whose history is to be told without some of its events.
    ``in_types`` are the files of types that quote it and that the project still goes by: they cannot simply go.
    """

    def __init__(self, ground: Ground, names: Names, target: NamedNode) -> None:
        self._store = ground.store
        self._names = names
        layers = ("temporal", "semantic", "memory", "types", "review", *_WHOLE_LAYERS)
        self._layers = {names.graph(layer): layer for layer in layers}
        self._own = f"{names.base}/{names.namespace}/"
        self.going: dict[NamedNode, Going] = {}
        self.retold: set[NamedNode] = set()
        self.elsewhere: Counter[str] = Counter()
        self.in_types: set[str] = set()
        self._statements: list[tuple[Quad, Going]] = []
        self._waiting: list[tuple[NamedNode, Going]] = []
        self._one_thing: set[NamedNode] = set()
        content = about(self._store, target, names.graph("memory")).text(CONTENT)
        self.wording = wording_of_memory(content) if content else wording_of_entity(ground, names, target)
        self._take(target, "memory" if content else "entity", ITSELF)
        self._follow()
        self._read_all()
        self._follow()
        self.retold -= self.going.keys()

    def listing(self) -> list[Going]:
        """Return all that goes, the thing itself first."""
        stated = (going for quad, going in self._statements if quad.subject not in self.going or self._is_free(quad))
        found = (*self.going.values(), *stated)
        return sorted(found, key=lambda each: (_WHYS.index(each.why), each.what, each.node))

    def drops(self, quad: Quad) -> bool:
        """Return whether a quad goes, wherever it stands: in the store or in the change log."""
        going = self.going
        if quad.subject in going or quad.object in going or quad.graph_name in going or self._is_borrowed(quad):
            return True
        return self._quotes(quad) and self._reaches(quad) is None

    def _is_borrowed(self, quad: Quad) -> bool:
        """Return whether a quad is a name of the thing that stood on what it was merged with; its own are put back."""
        if quad.predicate not in (ALT_LABEL, HIDDEN_LABEL) or quad.subject not in self._one_thing:
            return False
        return any(quad.object == Literal(name) for name, _ in self.wording.unsought)

    @property
    def partners(self) -> list[NamedNode]:
        """Return the entities that stay and were merged with one that goes."""
        return sorted(self._one_thing - self.going.keys(), key=str)

    def marks(self) -> Iterator[Mark]:
        """Yield by what the things are known again when their source is read anew."""
        for node, going in self.going.items():
            apart = going.why != ITSELF or going.what in ("entity", "memory")  # the rest is known by these
            if apart and going.what in _KNOWN_AGAIN:
                yield Mark(going.what, self._names.uuid_of(node.value))
            if going.what == "memory":
                said = about(self._store, node, self._names.graph("memory"))
                yield Mark.text(said.text(prism("source")), said.text(CONTENT))

    def _take(self, node: NamedNode, what: str, why: str) -> None:
        if node not in self.going:
            self.going[node] = Going(node.value, what, why, self._excerpt(node, what))
            self._waiting.append((node, self.going[node]))

    def _take_all(self, nodes: Iterator[NamedNode] | tuple[NamedNode, ...], what: str, why: str) -> None:
        for node in nodes:
            self._take(node, what, why)

    def _follow(self) -> None:
        """Take along what cannot stay without what goes, until nothing more does."""
        followed: Mapping[str, Callable[[NamedNode, str], None]] = {
            "entity": self._with_entity,
            "event": self._with_event,
            "assertion": self._with_assertion,
            "memory": self._with_memory,
        }
        while self._waiting:
            node, going = self._waiting.pop()
            for graph, layer in self._layers.items():
                self._take_all(objects(self._store, node, EARLIER_BELIEF, graph), "belief", going.why)
                if layer in _WHOLE_LAYERS:
                    inbound = (quad.subject for quad in self._store.quads_for_pattern(None, None, node, graph))
                    self._take_all((each for each in inbound if isinstance(each, NamedNode)), layer, QUOTES)
            for guess, what in guessed.along_with(self._store, self._names, node, going.what, self.going):
                self._take(guess, what, going.why if going.what in _GUESSED else QUOTES)
            if going.what in followed:
                followed[going.what](node, going.why)
            if not self._waiting:
                self._take_orphans()

    def _with_entity(self, entity: NamedNode, why: str) -> None:
        temporal, semantic, memory = (self._names.graph(layer) for layer in ("temporal", "semantic", "memory"))
        self._take_all(objects(self._store, entity, HAS_STATE, temporal), "state", why)
        self._take_all(subjects(self._store, CHANGES, entity, temporal), "event", why)
        self._take_all(subjects(self._store, DRAFT_OF, entity, temporal), "draft", why)
        self._take_all(subjects(self._store, ALIAS_OF, entity, semantic), "alias", why)
        self._take_all(subjects(self._store, SOURCE, entity, semantic), "reference", why)
        quotes = QUOTES if why == ITSELF else why
        self._take_all(subjects(self._store, TARGET, entity, semantic), "reference", quotes)
        for link in (MERGED, INTO):
            self._take_all(subjects(self._store, link, entity, semantic), "merge", why)
        self._take_all(subjects(self._store, DIFFERENT, entity, semantic), "difference", why)
        self._take_all(subjects(self._store, VALUE, entity, temporal), "assertion", quotes)
        self._one_thing |= set(concerned_by(self._store, self._names, [entity]))
        if why == ITSELF:  # who is only left without a history was not what these memories are about
            for link in (prism("about"), prism("mentions")):
                self._take_all(subjects(self._store, link, entity, memory), "memory", QUOTES)

    def _with_event(self, event: NamedNode, why: str) -> None:
        temporal = self._names.graph("temporal")
        self._take_all(objects(self._store, event, ASSERTION, temporal), "assertion", why)
        self.retold |= set(objects(self._store, event, CHANGES, temporal))

    def _with_assertion(self, assertion: NamedNode, why: str) -> None:
        temporal = self._names.graph("temporal")
        for event in subjects(self._store, ASSERTION, assertion, temporal):
            if all(each in self.going for each in objects(self._store, event, ASSERTION, temporal)):
                self._take(event, "event", why)
            self.retold |= set(objects(self._store, event, CHANGES, temporal))

    def _with_memory(self, memory: NamedNode, why: str) -> None:
        self._take_all(subjects(self._store, _CAUSE, memory, self._names.graph("temporal")), "event", CAUSED)

    def _take_orphans(self) -> None:
        """An entity of which no event is left, and no draft, goes too: nothing is known of it any more."""
        temporal = self._names.graph("temporal")
        for entity in self.retold - self.going.keys():
            events = subjects(self._store, CHANGES, entity, temporal)
            if all(event in self.going for event in events) and not subjects(self._store, DRAFT_OF, entity, temporal):
                self._take(entity, "entity", CAUSED)

    def _read_all(self) -> None:
        """Find every text that quotes the thing, and every statement of a free graph that refers to it."""
        for quad in self._store.quads_for_pattern(None, None, None):
            if quad.subject in self.going or quad.graph_name in self.going:
                if self._is_free(quad):
                    self._state(quad)
            elif self._quotes(quad):
                other = self._reaches(quad)
                if other is None:
                    self._take_text(quad)
                elif other:
                    self.elsewhere[other] += 1
            elif quad.object in self.going and self._is_free(quad):
                self._state(quad)

    def _take_text(self, quad: Quad) -> None:
        layer = self._layers.get(quad.graph_name, "") if isinstance(quad.graph_name, NamedNode) else ""
        what = layer if layer in _WHOLE_LAYERS else _TAKES.get((layer, quad.predicate))
        if what is not None and isinstance(quad.subject, NamedNode):
            if layer == "types" and isinstance(quad.graph_name, NamedNode):
                text = about(self._store, quad.subject, quad.graph_name)
                if text.term(WITHDRAWN_AT) is None:
                    self.in_types.add(text.text(FILE_NAME))
                    return
            self._take(quad.subject, what, QUOTES)
        elif not self._is_folded(quad):
            self._state(quad)

    def _state(self, quad: Quad) -> None:
        says = _shortened(quad_text(quad))
        self._statements.append((quad, Going(term_text(quad.subject), "statement", QUOTES, says)))

    def _quotes(self, quad: Quad) -> bool:
        return is_text(quad) and isinstance(quad.object, Literal) and self.wording.is_in(quad.object.value)

    def _reaches(self, quad: Quad) -> str | None:
        """Return None for a quad within reach, else the project that it belongs to, or nothing for a commit of one."""
        graph = getattr(quad.graph_name, "value", "")
        if quad.graph_name == meta_graph(self._names.base):
            own = isinstance(quad.object, Literal) and quad.object.value.startswith(f"{self._names.namespace}\n")
            return None if own and quad.predicate == _KEY else ""
        if graph.startswith(self._own) or not graph.startswith(f"{self._names.base}/"):
            return None
        return graph.removeprefix(f"{self._names.base}/").partition("/")[0]

    def _is_free(self, quad: Quad) -> bool:
        graph = getattr(quad.graph_name, "value", "")
        return not graph.startswith(f"{self._names.base}/") or graph.startswith(f"{self._own}free/")

    def _is_folded(self, quad: Quad) -> bool:
        """Return whether a quad follows from assertions, which are listed themselves: of a sealed state or derived."""
        graph = quad.graph_name
        if graph in (self._names.graph("current"), self._names.graph("tail")):
            return True
        sealed = isinstance(graph, NamedNode) and graph.value.startswith(self._names.state("").value)
        return sealed and not objects(self._store, graph, THREAD, self._names.graph("temporal"))  # type: ignore[arg-type]

    def _excerpt(self, node: NamedNode, what: str) -> str:
        layer, wanted = _SAYS.get(what, ("memory", ()))
        said = about(self._store, node, self._names.graph(layer)).quads
        texts = (term_text(quad.object) for word in wanted for quad in said if quad.predicate == word)
        return _shortened(" ".join(texts))


_SAYS = {
    "event": ("temporal", (prism("eventType"), prism("at"), prism("description"))),
    "assertion": ("temporal", (PROPERTY, VALUE)),
    "alias": ("semantic", (SURFACE_FORM,)),
    "reference": ("semantic", (SOURCE, KIND, TARGET)),
    "merge": ("semantic", (MERGED, INTO)),
    "candidate": ("review", (PROPERTY, VALUE, SURFACE_FORM, SOURCE, KIND, TARGET)),
    "clue": ("review", (prism("quote"),)),
    "memory": ("memory", (CONTENT,)),
    "concept": ("memory", (NamedNode(SKOS + "prefLabel"),)),
}


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_EXCERPT else f"{line[:_LONGEST_EXCERPT]}…"
