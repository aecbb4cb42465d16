"""Names and references come to an end: from a time on, or as a mistake that is no longer believed; both are commits."""

from __future__ import annotations

from collections.abc import Sequence

from pyoxigraph import NamedNode

from prism_rdf import answers
from prism_rdf.clock import Instant, TimeInput
from prism_rdf.errors import AmbiguousError, NotFoundError
from prism_rdf.model import Alias, Intent, Receipt, Reference, Withdrawal
from prism_rdf.namespaces import local_name, prism
from prism_rdf.reading import ReadingVerbs
from prism_rdf.relating import references_of
from prism_rdf.semantic.aliases import KnownAlias, aliases_named
from prism_rdf.semantic.merges import preferred
from prism_rdf.semantic.references import KnownReference
from prism_rdf.statements import check_order, end
from prism_rdf.storage.about import about


class EndingVerbs(ReadingVerbs):
    """The verbs that take a name or a reference away."""

    def unalias(
        self,
        surface_form: str,
        entity: str | None = None,
        *,
        valid_until: TimeInput | None = None,
        idempotency_key: str = "",
    ) -> Receipt:
        """Stop believing an alias: it was recorded by mistake. With ``valid_until`` it was the name until then.

        ``entity`` says whose, where several bear it. An identifier is no alias: a transition changes it. Raises
        NotFoundError, AmbiguousError, BadTime.
        """
        until = end(valid_until)
        whose = None if entity is None else self.resolve(entity)

        def intents() -> Sequence[Intent]:
            found = self._aliases(surface_form, whose)
            if until is None:
                return [Withdrawal(each.node, self.names.uuid_of(each.target.value)) for each in found]
            return [self._ended_alias(each, until) for each in found if _lasts(each, until)]

        payload = [surface_form, whose and whose.value, valid_until]
        return self.prism.commit(self.pid, intents, "unalias", idempotency_key, payload)

    def _aliases(self, surface_form: str, whose: NamedNode | None) -> list[KnownAlias]:
        known = aliases_named(self._store, self.names, surface_form)
        found = [e for e in known if whose is None or preferred(self._store, self.names, e.target) == whose]
        if not found:
            raise NotFoundError(
                f"there is no alias {surface_form!r} in {self.pid}"
                + (f" of {self.names.uuid_of(whose.value)}" if whose is not None else ""),
                rule="only a recorded alias can be taken away; an identifier is changed by a transition",
                mend="prism timeline ENTITY lists the aliases of an entity",
            )
        targets = dict.fromkeys(each.target for each in found)
        if len(targets) > 1:
            now = self.prism.clock.now()
            named = [(each, answers.identifier_now(self._store, self.names, each, now)) for each in targets]
            raise AmbiguousError(
                f"{surface_form!r} is an alias of {len(targets)} entities",
                candidates=[{"identifier": name, "uuid": self.names.uuid_of(each.value)} for each, name in named],
                rule="an alias is taken from one entity at a time",
                mend="say whose it is: --entity",
            )
        return found

    def _ended_alias(self, known: KnownAlias, until: Instant) -> Alias:
        said = about(self._store, known.node, self.names.graph("semantic"))
        check_order(known.valid_from, until)
        return Alias(
            target=self.names.uuid_of(known.target.value),
            surface_form=known.surface_form,
            kind="former" if known.kind == "former" else "synonym",
            tier=self.prism.tier,
            source=said.text(prism("source")),
            start=known.valid_from,
            until=until,
        )

    def unreference(
        self, source: str, target: str, kind: str, *, valid_until: TimeInput | None = None, idempotency_key: str = ""
    ) -> Receipt:
        """Stop believing a reference: it was recorded by mistake. With ``valid_until`` it held until then.

        Where it was said more than once, each is meant. Raises NotFoundError, UnknownEntity, AmbiguousError, BadTime.
        """
        until, kind_iri = end(valid_until), self._catalog.kind(kind)
        ends = self.resolve(source), self.resolve(target)

        def intents() -> Sequence[Intent]:
            found = references_of(self._store, self.names, *ends, None, kind_iri, None)
            if not found:
                raise NotFoundError(
                    f"{source} does not refer to {target} by {local_name(kind_iri.value)}",
                    rule="only a recorded reference can be taken away",
                    mend=f"prism references {source} lists those that hold",
                )
            if until is None:
                return [Withdrawal(each.node, self.names.uuid_of(each.source.value)) for each in found]
            return [self._ended_reference(each, until) for each in found if _lasts(each, until)]

        payload = [*(each.value for each in ends), kind, valid_until]
        return self.prism.commit(self.pid, intents, "unreference", idempotency_key, payload)

    def _ended_reference(self, known: KnownReference, until: Instant) -> Reference:
        check_order(known.valid_from, until)
        return Reference(
            self.names.uuid_of(known.source.value),
            self.names.uuid_of(known.target.value),
            known.kind,
            known.valid_from,
            until,
            tier=self.prism.tier,
            provenance=known.provenance,
            cause_commit=known.cause_commit,
        )


def _lasts(known: KnownAlias | KnownReference, until: Instant) -> bool:
    return known.valid_until is None or known.valid_until > until
