"""From triples inserted into the world of a project, and deleted from it, to what its verbs would say.

An update is about now: what it inserts holds from now on, what it deletes holds until now.

| triple | inserted | deleted |
|---|---|---|
| `?new rdf:type type:ADR` | a new entity, with its other triples as its first state | no verb |
| `?e prism:status "x"`, one value | it is set, in place of what it was | it is cleared |
| `?e prism:deciders "x"`, several values | it is added | it is removed |
| `?e skos:altLabel "x"` | a synonym | that name ends |
| `?e skos:hiddenLabel "x"` | a former name | no verb |
| `?e prism:DEPENDS_ON ?other` | a reference | that reference ends |
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID, uuid4

from pyoxigraph import BlankNode, Literal, NamedNode, Quad

from prism_rdf.canonical.catalog import EntityType, TypeCatalog
from prism_rdf.canonical.entities import type_of
from prism_rdf.clock import Edge, Instant
from prism_rdf.errors import RefusedError, UnknownEntity, ValidationError, Violation
from prism_rdf.model import RETIRED, Alias, Assertion, Event, Intent, NewEntity, Reference, Tier
from prism_rdf.namespaces import RDF_TYPE, XSD, Names, article, local_name, prism, short
from prism_rdf.semantic.aliases import aliases_of
from prism_rdf.semantic.merges import INTO
from prism_rdf.semantic.references import check_references, references
from prism_rdf.statements import check_alias
from prism_rdf.storage.about import about
from prism_rdf.storage.interface import GraphReader
from prism_rdf.values import Term
from prism_rdf.views import ALT_LABEL, HIDDEN_LABEL

_IDENTITY = frozenset(map(prism, ("uuid", "tenant", "namespace", "createdAt", "sourceMemory")))
_STRING = NamedNode(XSD + "string")


@dataclass(frozen=True)
class Speaker:
    """Who says it: of which tier, by which source, and when."""

    tier: Tier
    source: str
    now: Instant


@dataclass
class _Told:
    """What comes and goes of one entity, by property."""

    come: defaultdict[NamedNode, list[Term]] = field(default_factory=lambda: defaultdict(list))
    gone: defaultdict[NamedNode, list[Term]] = field(default_factory=lambda: defaultdict(list))


class WorldChange:
    """Reads the change of one update against the world of one project, as it is under the writer's lock."""

    def __init__(
        self,
        store: GraphReader,
        names: Names,
        catalog: TypeCatalog,
        speaker: Speaker,
        refuse_taken: Callable[[Alias, NamedNode], None],
    ) -> None:
        self._store = store
        self._names = names
        self._catalog = catalog
        self._speaker = speaker
        self._refuse_taken = refuse_taken
        self._kinds = frozenset(catalog.kinds.values())
        self._minted: dict[BlankNode, NamedNode] = {}

    def intents(self, adds: Iterable[Quad], removes: Iterable[Quad]) -> tuple[Intent, ...]:
        """Return what the triples mean. Raises RefusedError, which names the verb to use, and ValidationError."""
        come = list(adds)
        self._mint(come)
        told: defaultdict[NamedNode, _Told] = defaultdict(_Told)
        for quad in come:
            told[self._entity(quad)].come[quad.predicate].append(self._value(quad))
        for quad in removes:
            told[self._entity(quad)].gone[quad.predicate].append(self._value(quad))
        return tuple(intent for entity, said in told.items() for intent in self._of(entity, said))

    def _mint(self, adds: Iterable[Quad]) -> None:
        """Give each blank node that is said to be of a type an identity of its own."""
        for quad in adds:
            if quad.predicate == RDF_TYPE and isinstance(quad.subject, BlankNode):
                self._minted.setdefault(quad.subject, self._names.entity(str(uuid4())))

    def _entity(self, quad: Quad) -> NamedNode:
        node = self._minted.get(quad.subject, quad.subject) if isinstance(quad.subject, BlankNode) else quad.subject
        if isinstance(node, NamedNode) and node.value.startswith(self._names.entity("").value):
            return node
        within = isinstance(node, NamedNode) and node.value.startswith(f"{self._names.base}/")
        raise RefusedError(
            f"{node} is no entity of the project {self._names.namespace}",
            rule=f"the world of a project is made of its entities, {self._names.entity('UUID').value}",
            mend="memories are written by remember, and go by forget; what is said of the rest belongs to a free graph"
            if within
            else f"put it into a free graph, such as GRAPH <{self._names.base}/{self._names.namespace}/free/NAME>, or "
            "say its type (a type:…), so that it is a new entity",
            node=node.value if isinstance(node, NamedNode) else "",
        )

    def _value(self, quad: Quad) -> Term:
        value = self._minted.get(quad.object, quad.object) if isinstance(quad.object, BlankNode) else quad.object
        if isinstance(value, (NamedNode, Literal)):
            return value
        raise RefusedError(
            f"{short(quad.predicate.value)} has a value without a name",
            rule="in the world of a project values are literals and IRIs",
            mend="give it an IRI, or put these triples into a free graph",
            node=quad.subject.value if isinstance(quad.subject, NamedNode) else "",
        )

    def _of(self, entity: NamedNode, said: _Told) -> Iterator[Intent]:
        types, gone_types = said.come.pop(RDF_TYPE, []), said.gone.pop(RDF_TYPE, [])
        if gone_types:
            raise _no_verb(entity, RDF_TYPE, "an entity ends by the verb retire, and goes by forget")
        known = type_of(self._store, self._names, entity)
        if known is not None and types:
            yield NewEntity(self._names.uuid_of(entity.value), self._chosen(entity, types).iri)  # it is of another type
        new = known is None
        kind = self._catalog.type(known) if known is not None else self._made(entity, types)
        if new:
            yield NewEntity(self._names.uuid_of(entity.value), kind.iri, self._memory(said))
        self._check_identity(entity, said, new)
        yield from self._aliases(entity, said)
        yield from self._references(entity, said)
        assertions = tuple(self._assertions(entity, kind, said))
        if assertions:
            yield self._event(entity, "created" if new else "transition", assertions)
        elif new:
            raise RefusedError(
                f"the new {kind.name} {entity.value} has no property",
                rule="an entity is made together with its first state",
                mend=f"say one of: {', '.join(prop.name for prop in kind.properties)}",
                node=entity.value,
            )

    def _made(self, entity: NamedNode, types: Sequence[Term]) -> EntityType:
        if not types:
            raise UnknownEntity(
                f"there is no entity {entity.value}",
                rule="an entity is there once its type is said",
                mend="say its type (a type:…), or check the IRI: SELECT ?e { ?e prism:uuid ?uuid }",
                node=entity.value,
            )
        uuid = self._names.uuid_of(entity.value)
        try:
            canonical = str(UUID(uuid)) == uuid and self._names.entity(uuid) == entity
        except ValueError:
            canonical = False
        if not canonical:
            raise RefusedError(
                f"{entity.value} does not end in a uuid",
                rule=f"an entity is called {self._names.entity('UUID').value}, with a uuid in lower case",
                mend="leave the IRI to the store: INSERT DATA { [] a type:… ; … }",
                node=entity.value,
            )
        return self._chosen(entity, types)

    def _chosen(self, entity: NamedNode, types: Sequence[Term]) -> EntityType:
        """Return the one type that is said, beside which its superclasses may be said too."""
        said = [each for each in types if isinstance(each, NamedNode)]
        found = {each.iri: each for each in self._catalog.types if each.iri in said}
        above = {parent for each in found.values() for parent in each.superclasses}
        own = [each for iri, each in found.items() if iri not in above]
        unknown = [each for each in said if each not in found and each not in above]
        if not own or unknown:
            return self._catalog.type((unknown or said)[0])  # raises, and suggests
        if len(own) > 1:
            raise ValidationError(
                [
                    Violation(
                        entity.value,
                        RDF_TYPE.value,
                        own[1].iri.value,
                        "identity",
                        f"an entity has exactly one type, not {' and '.join(each.name for each in own)}",
                        "say one of them, and refer from one entity to another where both are meant",
                    )
                ]
            )
        return own[0]

    def _memory(self, said: _Told) -> str:
        found = said.come.pop(prism("sourceMemory"), [])
        return found[0].value if found else ""

    def _check_identity(self, entity: NamedNode, said: _Told, new: bool) -> None:
        own = {prism("uuid"): self._names.uuid_of(entity.value), prism("namespace"): self._names.namespace}
        for prop in _IDENTITY & (said.come.keys() | said.gone.keys()):
            come = said.come.pop(prop, [])
            if not (new and [each.value for each in come] == [own.get(prop)]):
                raise _no_verb(entity, prop, "the store gives each entity its identity, and it never changes")
        for prop, verbs in ((INTO, "merge and unmerge"), (RETIRED, "retire and reopen")):
            if prop in said.come or prop in said.gone:
                raise _no_verb(entity, prop, f"use the verbs {verbs}")

    def _aliases(self, entity: NamedNode, said: _Told) -> Iterator[Alias]:
        uuid, by = self._names.uuid_of(entity.value), self._speaker
        for value in said.come.pop(ALT_LABEL, []):
            alias = Alias(uuid, _form(entity, ALT_LABEL, value), "synonym", by.tier, "", by.source, by.now)
            self._refuse_taken(alias, entity)
            yield alias
        for value in said.come.pop(HIDDEN_LABEL, []):
            alias = Alias(uuid, _form(entity, HIDDEN_LABEL, value), "former", by.tier, "", by.source, None, by.now)
            self._refuse_taken(alias, entity)
            yield alias
        if HIDDEN_LABEL in said.gone:
            raise _no_verb(
                entity, HIDDEN_LABEL, "what once was its name stays so; revert takes back the commit that said it"
            )
        for value in said.gone.pop(ALT_LABEL, []):
            yield from self._ended_alias(entity, value)

    def _ended_alias(self, entity: NamedNode, value: Term) -> Iterator[Alias]:
        uuid, now, graph = self._names.uuid_of(entity.value), self._speaker.now, self._names.graph("semantic")
        found = False
        for known in aliases_of(self._store, self._names, entity):
            if known.surface_form == value.value and known.holds(now):
                found = True
                source, kind = about(self._store, known.node, graph).text(prism("source")), known.kind
                said = Alias(uuid, known.surface_form, "former", self._speaker.tier, "", source, known.valid_from, now)
                yield said if kind == "former" else replace(said, kind="synonym")
        if not found:
            raise _no_verb(
                entity, ALT_LABEL, f"{value.value!r} is a name of what is merged into it: end it there, or unmerge"
            )

    def _references(self, entity: NamedNode, said: _Told) -> Iterator[Reference]:
        by, uuid_of, source = self._speaker, self._names.uuid_of, self._names.uuid_of(entity.value)
        new = [
            Reference(source, uuid_of(self._target(entity, kind, value).value), kind, by.now, None, by.tier, by.source)
            for kind in sorted(self._kinds & said.come.keys(), key=str)
            for value in said.come.pop(kind)
        ]
        check_references(self._store, self._names, new, lambda node: uuid_of(node.value))
        yield from new
        for kind in sorted(self._kinds & said.gone.keys(), key=str):
            for value in said.gone.pop(kind):
                target = self._target(entity, kind, value)
                for known in references(self._store, self._names, entity, target, kind):
                    if known.holds(by.now):
                        span = (known.valid_from, by.now)
                        ends = (source, uuid_of(target.value))
                        yield Reference(*ends, kind, *span, by.tier, known.provenance, known.cause_commit)

    def _target(self, entity: NamedNode, kind: NamedNode, value: Term) -> NamedNode:
        if isinstance(value, NamedNode) and value.value.startswith(self._names.entity("").value):
            return value
        raise RefusedError(
            f"{short(kind.value)} leads from {entity.value} to {value}, which is no entity of the project",
            rule="a reference is between two entities of one project",
            mend="name the entity by its IRI, or put the triple into a free graph",
            node=entity.value,
        )

    def _assertions(self, entity: NamedNode, kind: EntityType, said: _Told) -> Iterator[Assertion]:
        now = self._speaker.now
        declared = {prop.iri: prop for prop in kind.properties}
        for prop in sorted(said.come.keys() | said.gone.keys(), key=str):
            come, gone = said.come.get(prop, []), said.gone.get(prop, [])
            if prop not in declared and come:
                _refuse_undeclared(entity, kind, prop)
            if prop in declared and declared[prop].multi:
                yield from (Assertion(prop, value, "remove", now) for value in gone)
                yield from (Assertion(prop, value, "add", now) for value in come)
            elif len(come) > 1:
                raise ValidationError([_too_many(entity, kind, prop, come)])
            elif come:
                yield Assertion(prop, come[0], "set", now)
            else:
                yield Assertion(prop, None, "clear", now)

    def _event(self, entity: NamedNode, event_type: str, assertions: tuple[Assertion, ...]) -> Event:
        by, uuid = self._speaker, self._names.uuid_of(entity.value)
        return Event(uuid, event_type, Edge(by.now), assertions, source=by.source, tier=by.tier)


def _form(entity: NamedNode, label: NamedNode, value: Term) -> str:
    if not isinstance(value, Literal) or value.datatype != _STRING:
        raise _no_verb(entity, label, "a name is a plain string, without a language")
    check_alias(value.value)
    return value.value.strip()


def _refuse_undeclared(entity: NamedNode, kind: EntityType, prop: NamedNode) -> None:
    try:
        kind.property(prop)
    except ValidationError as error:
        raise ValidationError([replace(each, node=entity.value) for each in error.report]) from None


def _too_many(entity: NamedNode, kind: EntityType, prop: NamedNode, values: Sequence[Term]) -> Violation:
    name = local_name(prop.value)
    return Violation(
        entity.value,
        prop.value,
        str(values[1]),
        f"single-valued properties of {kind.name}",
        f"{name} of {article(kind.name)} takes one value, not {len(values)}",
        f"insert one value; what it was is replaced, whether {name} is deleted or not",
    )


def _no_verb(entity: NamedNode, prop: NamedNode, mend: str) -> RefusedError:
    return RefusedError(
        f"{short(prop.value)} of {entity.value} is not changed by an update",
        rule="an update of the world does what the verbs of a project do, so that it is checked and keeps its history",
        mend=mend,
        node=entity.value,
    )
