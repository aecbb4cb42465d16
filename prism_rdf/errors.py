"""Every error a user can meet, as one tree; each names the thing, the rule and the mend.

    PrismError                        exit
    ├── UsageError                     2   the call itself is wrong
    │   ├── BadArgument
    │   │   └── BadQuery                   not SPARQL; says where
    │   └── BadTime                        naive, unparsable, or out of order
    ├── AmbiguousError                 4   one name, several things
    ├── RefusedError                   5   understood, and not allowed
    │   ├── ValidationError                the SHACL gate or an invariant said no
    │   ├── IdempotencyConflict
    │   ├── Unreadable                     RDF that is not written in its format; says where
    │   ├── QueryTooLarge                  more memory or a larger answer than a query may take
    │   ├── StorageFailed                  the disk is full, or does not take or give what it should
    │   ├── NotAStore
    │   └── StoreVersionError
    ├── NotFoundError                  6
    │   ├── UnknownEntity
    │   ├── UnknownType
    │   └── NotARepository
    └── BusyError                      7   says after how many seconds it may be worth asking again
        ├── QueryTimeout
        ├── QueryStopped                   by somebody, with `prism stop-query` or the like
        ├── ServiceFailed                  another server, which the query asks, did not answer
        └── TooManyQueries

Exit 3 (partial) and 8 (findings) are results, not errors. Each class has a heading in docs/errors.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Violation:
    """One finding of the gate: terms are N-Triples or plain text; ``path`` and ``value`` may be empty.

    ``component`` is the sh:ConstraintComponent that was not met; empty where the engine itself holds the rule.
    """

    node: str
    path: str
    value: str
    shape: str
    message: str
    mend: str = ""
    component: str = ""


class PrismError(Exception):
    """Root of the tree: ``str(error)`` is one line; ``as_dict()`` is the JSON shape of every door."""

    code = "error"
    exit_status = 1
    http_status = 500

    def __init__(self, message: str, *, rule: str = "", mend: str = "", node: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.rule = rule
        self.mend = mend
        self.node = node

    def details(self) -> Mapping[str, Any]:
        """Return what a subclass adds to the JSON shape."""
        return {}

    def as_dict(self) -> dict[str, Any]:
        """Return ``{"error": {code, message, rule, mend, node, docs, …}}``."""
        body: dict[str, Any] = {
            "code": self.code,
            "message": self.message,
            "rule": self.rule,
            "mend": self.mend,
            "node": self.node,
            "docs": f"docs/errors.md#{self.code}",
        }
        body.update(self.details())
        return {"error": body}


class UsageError(PrismError):
    code = "usage"
    exit_status = 2
    http_status = 400


class BadArgument(UsageError):
    code = "bad-argument"


class BadQuery(BadArgument):
    """A query that is not SPARQL; ``line`` and ``column`` count from 1, and are 0 where the place is not known."""

    code = "bad-query"

    def __init__(self, message: str, *, line: int = 0, column: int = 0, rule: str = "", mend: str = "") -> None:
        super().__init__(message, rule=rule, mend=mend)
        self.line = line
        self.column = column

    def details(self) -> Mapping[str, Any]:
        return {"line": self.line, "column": self.column}


class BadTime(UsageError):
    code = "bad-time"


class AmbiguousError(PrismError):
    """One name stands for several entities; ``candidates`` says which."""

    code = "ambiguous"
    exit_status = 4
    http_status = 409

    def __init__(
        self, message: str, *, candidates: Sequence[Mapping[str, Any]], rule: str = "", mend: str = ""
    ) -> None:
        super().__init__(message, rule=rule, mend=mend)
        self.candidates = [dict(candidate) for candidate in candidates]

    def details(self) -> Mapping[str, Any]:
        return {"candidates": self.candidates}


class RefusedError(PrismError):
    code = "refused"
    exit_status = 5
    http_status = 422


class ValidationError(RefusedError):
    """The gate refused a write; nothing was written. ``report`` lists every violation, told once each."""

    code = "validation"

    def __init__(self, report: Sequence[Violation], *, message: str = "") -> None:
        told: dict[tuple[str, ...], Violation] = {}
        for each in report:  # a shape and a part of it may say the same of one thing
            told.setdefault((each.node, each.path, each.value, each.message, each.mend), each)
        first, *others = told.values()
        more = f" (and {len(others)} more)" if others else ""
        super().__init__(
            message or f"{first.message}{more}",
            rule=first.shape,
            mend=first.mend,
            node=first.node,
        )
        self.report = (first, *others)

    def details(self) -> Mapping[str, Any]:
        return {"report": [asdict(violation) for violation in self.report]}


class IdempotencyConflict(RefusedError):
    """The same idempotency key came with another payload."""

    code = "idempotency-conflict"
    http_status = 409


class Unreadable(RefusedError):
    """RDF that is not written in the format that it is said to be in."""

    code = "unreadable"
    http_status = 400


class QueryTooLarge(RefusedError):
    code = "query-too-large"
    http_status = 413


class StorageFailed(RefusedError):
    """The disk is full, or did not take or give what it should; nothing was acknowledged, and nothing is lost."""

    code = "storage-failed"
    http_status = 507


class NotAStore(RefusedError):
    code = "not-a-store"


class StoreVersionError(RefusedError):
    code = "store-version"


class NotFoundError(PrismError):
    code = "not-found"
    exit_status = 6
    http_status = 404


class UnknownEntity(NotFoundError):
    code = "unknown-entity"


class UnknownType(NotFoundError):
    code = "unknown-type"


class NotARepository(NotFoundError):
    code = "not-a-repository"


class BusyError(PrismError):
    """Not now; ``retry_after`` is in how many seconds it may be worth asking again."""

    code = "busy"
    exit_status = 7
    http_status = 503
    retry_after = 1


class QueryTimeout(BusyError):
    code = "query-timeout"
    http_status = 504


class QueryStopped(BusyError):
    code = "query-stopped"


class ServiceFailed(BusyError):
    """Another server, which a query asks by SERVICE, did not answer, or not as it should."""

    code = "service-failed"
    http_status = 502


class TooManyQueries(BusyError):
    code = "too-many-queries"
