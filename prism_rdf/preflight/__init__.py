"""The invariants that a change would break, found before it is logged; nothing is written here.

What an invariant is, is said by the query of its name in queries/checks/, which looks at a whole store. Here the same
is found from what a change to a sound store touches, so that it costs the same however much there is. A test holds the
two against each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from prism_rdf.errors import Violation
from prism_rdf.namespaces import Names
from prism_rdf.preflight import identities, states
from prism_rdf.preflight.touched import Found, Touched
from prism_rdf.storage.interface import GraphReader
from prism_rdf.storage.overlay import Overlay
from prism_rdf.validation.checks import Check, load_checks


def broken_by(before: GraphReader, after: Overlay, names: Names) -> tuple[Violation, ...]:
    """Return the invariants that are broken in ``after``, which lays a change over the sound store ``before``."""
    touched = Touched(before, after, names)
    return tuple(
        Violation(
            entity.value,
            "",
            detail,
            name,
            f"the write would break an invariant: {_checks()[name].summary}",
            "see `prism check --help`",
        )
        for name, finds in INVARIANTS.items()
        if not touched.layers.isdisjoint(_checks()[name].layers)
        for entity, detail in dict.fromkeys(finds(touched))
    )


@cache
def _checks() -> Mapping[str, Check]:
    return {check.name: check for check in load_checks()}


INVARIANTS: Mapping[str, Callable[[Touched], Found]] = {
    "alias-of-nothing": identities.alias_of_nothing,
    "current-without-identity": identities.current_without_identity,
    "cyclic-supersession": states.cyclic_supersession,
    "duplicate-uuid": identities.duplicate_uuid,
    "event-without-identity": identities.event_without_identity,
    "evidence-of-nothing": identities.evidence_of_nothing,
    "foreign-property-of-identity": identities.foreign_property,
    "gap-between-states": states.gap_between_states,
    "merge-across-types": identities.merge_across_types,
    "merge-of-nothing": identities.merge_of_nothing,
    "merged-twice": identities.merged_twice,
    "missing-snapshot": states.missing_snapshot,
    "not-one-type": identities.not_one_type,
    "overlapping-states": states.overlapping_states,
    "reference-to-itself": identities.reference_to_itself,
    "reference-to-nothing": identities.reference_to_nothing,
    "reversed-interval": states.reversed_interval,
    "snapshot-of-another-entity": states.snapshot_of_another,
    "state-of-two-entities": states.state_of_two_entities,
    "state-without-entity": states.state_without_entity,
    "state-without-identity": identities.state_without_identity,
    "states-with-one-successor": states.states_with_one_successor,
    "two-open-drafts": states.two_open_drafts,
    "two-open-sealed-states": states.two_open_sealed_states,
}
