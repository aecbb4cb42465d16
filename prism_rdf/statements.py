"""From what a caller says (names, Python values, times) to assertions and interval ends; bad input ends here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyoxigraph import Literal, NamedNode

from prism_rdf.canonical.catalog import EntityType, Property
from prism_rdf.clock import Edge, Instant, TimeInput, end_of, start_of
from prism_rdf.errors import BadArgument, BadTime
from prism_rdf.model import Assertion, Op, Value, term_of

Props = Mapping[str, Value | Sequence[Value] | None]


def begin(valid_from: TimeInput | None) -> Instant | None:
    return None if valid_from is None else start_of(valid_from).instant


def end(valid_until: TimeInput | None) -> Instant | None:
    return None if valid_until is None else end_of(valid_until).instant


def check_order(start: Instant | None, until: Instant | None) -> None:
    if start is not None and until is not None and until <= start:
        raise BadTime(
            f"it cannot hold from {start} until {until}",
            rule="an interval ends after it starts",
            mend="swap the two, or leave the end out",
        )


def check_alias(surface_form: str, tier: int) -> None:
    if not surface_form.strip():
        raise BadArgument(
            "an alias needs a surface form", rule="a name is not empty", mend="give the name as it is written"
        )
    if tier == 3:
        raise BadArgument(
            "an alias of tier 3 does not write directly",
            rule="what a pattern guessed awaits review",
            mend="file it as tier 1 (you are a person) or 2 (an artifact says so)",
        )


def assertions(known: EntityType, props: Props, start: Edge, until: Instant | None) -> tuple[Assertion, ...]:
    """Return what the props say: None clears, a list replaces all values of a multi-valued property."""
    said: list[Assertion] = []
    for name, value in props.items():
        prop = known.property(name)
        if value is None or prop.multi:
            said.append(Assertion(prop.iri, None, "clear", start.instant, until))
        if value is None:
            continue
        values = list(value) if isinstance(value, Sequence) and not isinstance(value, str) else [value]
        if not prop.multi and len(values) != 1:
            raise BadArgument(
                f"{prop.name} of a {known.name} takes one value, not {len(values)}",
                rule=f"{prop.name} is single-valued",
                mend="give one value",
            )
        op: Op = "add" if prop.multi else "set"
        said += [Assertion(prop.iri, _term(prop, each), op, start.instant, until) for each in values]
    return tuple(said)


def _term(prop: Property, value: Value) -> NamedNode | Literal:
    if isinstance(value, str) and prop.object_class is not None:
        return NamedNode(value)
    if isinstance(value, str) and prop.datatype is not None:
        return Literal(value, datatype=prop.datatype)
    return term_of(value)
