"""What a project means by a name, and what refers to what: resolving, references, impact; nothing here writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyoxigraph import NamedNode

from prism_rdf import answers, naming, relating
from prism_rdf.clock import Instant, TimeInput, as_of_instant
from prism_rdf.errors import AmbiguousError, BadArgument, RefusedError, UnknownEntity
from prism_rdf.model import Alias, Receipt
from prism_rdf.namespaces import Names
from prism_rdf.semantic.merges import chain_from, merge_of, preferred
from prism_rdf.storage.embedded import EmbeddedStore

if TYPE_CHECKING:
    from prism_rdf.canonical.catalog import TypeCatalog
    from prism_rdf.prism import Prism


class MeaningVerbs:
    """The verbs of names and references. ``entity`` arguments take a uuid, an IRI, an identifier or an alias.

    What is merged into another entity means that one, as of ``known_at``.
    """

    def __init__(self, prism: Prism, pid: str) -> None:
        self.prism = prism
        self.pid = pid
        self.names = Names(prism.base, pid)

    @property
    def _catalog(self) -> TypeCatalog:
        """What this project knows of types now."""
        return self.prism.schema(self.pid).catalog

    def resolve(self, ref: str, as_of: TimeInput | None = None, known_at: TimeInput | int | None = None) -> NamedNode:
        """Return the entity that ``ref`` names at ``as_of``, else now, else last before; merges are followed.

        Raises UnknownEntity, and AmbiguousError when several bear the name or then and now differ.
        """
        return self.who(ref, as_of, known_at)[0].entity

    def who(
        self, ref: str, as_of: TimeInput | None = None, known_at: TimeInput | int | None = None
    ) -> tuple[naming.Bearer, ...]:
        """Return the one bearer of a name, with why; raises as ``resolve`` does.

        A name that nobody bore as believed at ``known_at`` is looked up as it is believed now.
        """
        if not isinstance(ref, str):
            raise BadArgument(
                f"{ref!r} names no entity",
                rule="an entity is named by a text: its uuid, IRI, identifier or an alias",
                mend="give one, such as the uuid that entity returned",
            )
        at, known = self._at(as_of), self.prism.system_time(known_at)
        found = self._followed(self._bearers(ref, None if as_of is None else at, known), known)
        if len(found) > 1:
            raise self._ambiguous(ref, found)
        return found

    def _bearers(self, ref: str, as_of: Instant | None, known_at: Instant | None) -> tuple[naming.Bearer, ...]:
        """Return who bears a name at ``as_of`` or now, else last before, each itself. Raises UnknownEntity."""
        direct = naming.by_iri_or_uuid(self._store, self.names, ref)
        if direct is not None:
            return (naming.Bearer(direct, naming.DIRECT, None, None, ref),)
        now = self.prism.clock.now()
        self.prism.bring_up_to_date()
        if as_of is None and known_at is None:
            borne = naming.bearers_now(self._store, self.names, ref, self._catalog.identifying, now)
            if len(self._followed(borne, None)) == 1:
                return borne
        known = self._borne(ref, known_at)
        at = as_of or now
        then_and_now = naming.at_instant(known, at) + naming.at_instant(known, now)
        found = then_and_now or naming.formerly(known, at) or naming.formerly(known, now) or known
        if not found:
            raise self._unknown(ref)
        return found

    def _borne(self, ref: str, known_at: Instant | None) -> tuple[naming.Bearer, ...]:
        """Return all who ever bore a name, as believed at ``known_at``, and where nobody did, as believed now."""
        identifying = self._catalog.identifying
        known = naming.bearers(self._store, self.names, ref, identifying, known_at)
        if not known and known_at is not None:
            known = naming.bearers(self._store, self.names, ref, identifying)
        return known

    def _followed(self, found: Sequence[naming.Bearer], known_at: Instant | None) -> tuple[naming.Bearer, ...]:
        return naming.followed(self._store, self.names, found, known_at)

    def bearer_uuid(self, identifier: str, at: Instant) -> str | None:
        """Return the uuid of the one entity that an identifier names at ``at``; None when there is none or several.

        It is the one that bears the name itself, whatever that is merged into: what is written down keeps who was
        named, and who reads it follows the merge.
        """
        try:
            found = self._bearers(identifier, at, None)
        except UnknownEntity:
            return None
        node = self._itself(found)
        return self.names.uuid_of(node.value) if node is not None else None

    def _itself(self, found: Sequence[naming.Bearer]) -> NamedNode | None:
        """Return who bears a name itself; of several that are one thing the preferred one; None of several things."""
        itself = {bearer.entity for bearer in found}
        if len(itself) == 1:
            return itself.pop()
        meant = self._followed(found, None)
        return meant[0].entity if len(meant) == 1 else None

    def _named_itself(self, ref: str, merged: bool = False) -> NamedNode:
        """Return the entity that bears a name itself; with ``merged`` of several the one that is merged into another.

        Raises UnknownEntity, AmbiguousError.
        """
        found = self._bearers(ref, None, None)
        if merged:
            of_merged = [each for each in found if merge_of(self._store, self.names, each.entity) is not None]
            found = tuple(of_merged) or found
        itself = {bearer.entity: bearer for bearer in found}
        node = found[0].entity if len(itself) == 1 else None if merged else self._itself(found)
        if node is None:
            raise self._ambiguous(ref, tuple(itself.values()))
        return node

    def resolve_alias(
        self, surface_form: str, as_of: TimeInput | None = None, known_at: TimeInput | int | None = None
    ) -> dict[str, Any]:
        """Return what a name means at ``as_of`` (default now): ``{"entity", "uuid", "identifier", "chain", "why"}``.

        ``entity`` is the preferred one; ``chain`` the steps to it, ``{"from", "to", "entity", "how", "since", "until",
        "recorded_at"}``: first who bears the name, since and until when, then each merge, which has only the time at
        which it was recorded. A name that was freed and is borne by another one now means whom it meant then. Raises
        UnknownEntity, which suggests names that are spelt alike, and AmbiguousError.
        """
        at, known = self._at(as_of), self.prism.system_time(known_at)
        direct = naming.by_iri_or_uuid(self._store, self.names, surface_form)
        if direct is not None:
            borne: tuple[naming.Bearer, ...] = (naming.Bearer(direct, naming.DIRECT, None, None, surface_form),)
        else:
            borne = self._borne(surface_form, known)
        found = self._followed(naming.meant_at(borne, at) or borne, known)
        if not found:
            raise self._unknown(surface_form)
        if len(found) > 1:
            raise self._ambiguous(surface_form, found)
        entity, chain = found[0].entity, self._chain(found[0], at, known)
        return {
            "entity": entity.value,
            "uuid": self.names.uuid_of(entity.value),
            "identifier": self._called(entity, at),
            "chain": chain,
            "why": self._why(found[0], chain, borne, known),
        }

    def _chain(self, bearer: naming.Bearer, at: Instant, known_at: Instant | None) -> list[dict[str, Any]]:
        steps = [
            {
                "from": bearer.form,
                "to": self._called(bearer.itself, at),
                "entity": bearer.itself.value,
                "how": bearer.how,
                "since": answers.iso(bearer.start),
                "until": answers.iso(bearer.until),
                "recorded_at": None,
            }
        ]
        steps += [
            {
                "from": self._called(merge.merged, at),
                "to": self._called(merge.into, at),
                "entity": merge.into.value,
                "how": "merged",
                "since": None,
                "until": None,
                "recorded_at": merge.recorded_at.iso(),
            }
            for merge in chain_from(self._store, self.names, bearer.itself, known_at)
        ]
        return steps

    def _why(
        self,
        bearer: naming.Bearer,
        chain: Sequence[dict[str, Any]],
        borne: Sequence[naming.Bearer],
        known_at: Instant | None,
    ) -> str:
        """Return why a name means what it means, in words; and whom it means now where that is another one."""
        now = self.prism.clock.now()
        said = [bearer.why(now)]
        said += [f"merged into {step['to'] or step['entity']} ({step['recorded_at']})" for step in chain[1:]]
        others = self._followed(naming.at_instant(borne, now), known_at)
        said += [
            f"now {bearer.form!r} names {self._called(other.entity, now) or other.entity.value}"
            for other in others
            if other.entity != bearer.entity
        ]
        return "; ".join(said)

    def _called(self, entity: NamedNode, at: Instant) -> str | None:
        return answers.identifier_now(self._store, self.names, entity, at)

    def _unknown(self, ref: str) -> UnknownEntity:
        other = naming.project_of(self.names, ref)
        if other:
            return UnknownEntity(
                f"{ref} is of the project {other}, not of {self.pid}",
                rule="names, references and merges stay within one project",
                mend=f"ask in that project (--pid {other}), or name an entity of {self.pid}",
                node=ref,
            )
        close = naming.close_names(self._store, self.names, ref, self._catalog.identifying)
        suggested = f"did you mean {' or '.join(map(repr, close))}? " if close else ""
        return UnknownEntity(
            f"no entity of {self.pid} is called {ref!r}",
            rule="an entity is named by uuid, IRI, identifier (number, name, title, …) or alias",
            mend=f"{suggested}prism entities lists what there is; prism recall finds it by words",
            node=ref,
        )

    def _ambiguous(self, ref: str, found: Sequence[naming.Bearer]) -> AmbiguousError:
        """Return the error that lists the entities, each with the interval in which it bears or bore the name."""
        now = self.prism.clock.now()
        candidates = [
            {
                "entity": bearer.entity.value,
                "uuid": self.names.uuid_of(bearer.entity.value),
                "identifier": self._called(bearer.entity, now),
                "why": bearer.why(now),
            }
            for bearer in found
        ]
        return AmbiguousError(
            f"{ref!r} names {len(found)} entities of {self.pid}",
            candidates=sorted(candidates, key=lambda each: (str(each["identifier"]), str(each["uuid"]))),
            rule="a name must mean one thing, at the instant asked for and now",
            mend="use the uuid of the one that you mean",
        )

    def _refuse_taken(self, alias: Alias, node: NamedNode) -> None:
        """Raise RefusedError for an alias that is an entity's uuid or IRI, or is what its entity is called now."""
        now, form = self.prism.clock.now(), alias.surface_form
        direct = naming.by_iri_or_uuid(self._store, self.names, form)
        if direct is not None:
            raise RefusedError(
                f"{form!r} is the uuid or the IRI of {self._called(direct, now) or 'an entity'}",
                rule="a uuid and an IRI mean their own entity, whatever else bears them as a name",
                mend="to say that two entities are one thing, merge them (prism merge)",
                node=direct.value,
            )
        if not _holds(alias, now):
            return
        borne = naming.bearers_now(self._store, self.names, form, self._catalog.identifying, now)
        if any(each.entity == node and each.how == naming.IDENTIFIER and each.form == form for each in borne):
            raise RefusedError(
                f"{form!r} is what {self._called(node, now)} is called now",
                rule="a name that an entity bears by a property is no alias of it",
                mend="there is nothing to do: it is found by it now, and also once it is renamed",
                node=node.value,
            )

    def _with_namesakes(self, receipt: Receipt, alias: Alias) -> Receipt:
        """Return the receipt of an alias with a note on each other entity that bears the name now."""
        now, uuid_of = self.prism.clock.now(), self.names.uuid_of
        if not _holds(alias, now):
            return receipt
        own = preferred(self._store, self.names, self.names.entity(alias.target))
        borne = naming.namesakes(self._store, self.names, alias.surface_form, self._catalog.identifying, now)
        notes = [
            f"{each.form!r} is also {'the name' if each.how == naming.IDENTIFIER else 'another name'} of "
            f"{self._called(each.entity, now)} ({uuid_of(each.entity.value)}): both are meant from now on, and a uuid "
            "tells them apart"
            for each in self._followed(borne, None)
            if each.entity != own
        ]
        return replace(receipt, notes=(*receipt.notes, *notes)) if notes else receipt

    def _noted(self, receipt: Receipt, *meant: naming.Bearer) -> Receipt:
        """Return the receipt of a write with a note on each entity that was named and is merged into another one."""
        now = self.prism.clock.now()
        notes = [
            f"{self._called(each.merged, now) or each.form} is merged into {self._called(each.entity, now)}: "
            f"this is recorded of {each.entity.value}"
            for each in meant
            if each.merged is not None
        ]
        return replace(receipt, notes=(*receipt.notes, *dict.fromkeys(notes))) if notes else receipt

    def list_references(
        self,
        source: str | None = None,
        target: str | None = None,
        kind: str | None = None,
        as_of: TimeInput | None = None,
        known_at: TimeInput | int | None = None,
        entity: str | None = None,
    ) -> list[dict[str, Any]]:
        """Return the references that hold at ``as_of`` and fit, as believed at ``known_at`` (both default to now).

        ``entity`` asks for those from it and to it. Each is ``{"reference", "source", "target", "kind", "via",
        "valid_from", "valid_until", "tier", "provenance"}``, with what the ends are called then; one triple that two
        sources say is there twice. Where an end was said of an entity that is merged, ``source`` or ``target`` is the
        preferred one, and ``via`` the merged one, by ``source`` or ``target``. They are in the order of their kinds and
        of what the ends are called.
        """
        if entity is not None and (source is not None or target is not None):
            raise BadArgument(
                "entity was given together with source or target",
                rule="entity asks for both directions at once",
                mend="leave out either",
            )
        at, known = self._at(as_of), self.prism.system_time(known_at)
        one, other, either = (self.resolve(ref, as_of, known_at) if ref else None for ref in (source, target, entity))
        kind_iri = self._catalog.kind(kind) if kind else None
        found = relating.references_of(self._store, self.names, one, other, either, kind_iri, known)
        told = [relating.reference_json(self._store, self.names, each, at, known) for each in found if each.holds(at)]
        return sorted(told, key=relating.order)

    def impact(
        self,
        entity: str,
        as_of: TimeInput | None = None,
        known_at: TimeInput | int | None = None,
        kinds: Sequence[str] | None = None,
        depth: int | None = None,
    ) -> dict[str, Any]:
        """Return what depends on an entity at ``as_of``, directly and through others, nearest first.

        ``{"entity", "as_of", "kinds", "depth", "affected"}``; each affected is ``{"entity", "uuid", "type", "depth",
        "kind", "of", "path"}``, once, by its shortest path, whose steps are ``{"kind", "source", "target"}``. ``kinds``
        (default: all kinds of which one end depends on the other, see docs/architecture.md) limits it to some, and
        ``depth`` to so many steps. Raises BadArgument.
        """
        if depth is not None and depth < 1:
            raise BadArgument(
                f"depth {depth} reaches nothing", rule="a depth is 1 or more", mend="leave it out for all"
            )
        node, at = self.resolve(entity, as_of, known_at), self._at(as_of)
        catalog = self._catalog
        wanted = [catalog.kind(kind) for kind in kinds] if kinds else None
        known = self.prism.system_time(known_at)
        return relating.impact(self._store, self.names, catalog, node, at, known, wanted, depth)

    @property
    def _store(self) -> EmbeddedStore:
        return self.prism.store

    def _at(self, as_of: TimeInput | None) -> Instant:
        return self.prism.clock.now() if as_of is None else as_of_instant(as_of)


def _holds(alias: Alias, now: Instant) -> bool:
    return (alias.start is None or alias.start <= now) and (alias.until is None or now < alias.until)
