"""What a tool has in its hands while it is called: the store, who asks, and the project that is meant."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prism_rdf.errors import BadArgument, NotFoundError
from prism_rdf.mcp.budget import Answer
from prism_rdf.mcp.callers import Caller
from prism_rdf.mcp.failures import in_tools
from prism_rdf.model import Receipt, Tier
from prism_rdf.prism import Prism
from prism_rdf.project import Project
from prism_rdf.tiers import claimed

_AGENT: Tier = 2


@dataclass(frozen=True)
class Call:
    """One call of a tool, a resource or a prompt."""

    prism: Prism
    caller: Caller

    def pids(self) -> list[str]:
        """Return the projects that the caller may see and that hold something."""
        return [pid for pid in self.prism.projects() if self.caller.sees(pid)]

    def project(self, pid: str = "", *, new: bool = False) -> Project:
        """Return the named project, else that of the connection, else the only one there is.

        One that holds nothing yet is meant only where it may be ``new``. Raises BadArgument, NotFoundError.
        """
        known = self.pids()
        wanted = pid or self.caller.pid or (known[0] if len(known) == 1 else "")
        if not wanted:
            raise BadArgument(
                f"the store has {len(known)} projects" if known else "the store has no project yet",
                rule="pid names the project, unless the connection has one",
                mend=f"add pid, one of: {', '.join(known)}" if known else "prism_entity with a new pid begins one",
            )
        if not self.caller.sees(wanted):
            raise self._no_project(wanted, known)
        if wanted not in known and not new:
            raise self._no_project(wanted, known)
        return self.prism.project(wanted)

    def _no_project(self, pid: str, known: Sequence[str]) -> NotFoundError:
        close = difflib.get_close_matches(pid, known, n=1)
        meant = f"did you mean {close[0]!r}? " if close else ""
        begun = "" if self.caller.pids is not None else "; prism_entity or prism_remember begin a new one"
        listed = f"the projects are: {', '.join(known)}" if known else "there is none yet"
        return NotFoundError(
            f"there is no project {pid!r} for this connection",
            rule="a project begins with its first write",
            mend=f"{meant}{listed}{begun}",
        )

    def tier(self, tier: int | None) -> Tier:
        """Return the tier to claim: as said, else that of an agent, 2, or 3 where no more may be claimed.

        Raises RefusedError above the highest of the connection.
        """
        return claimed(max(_AGENT, self.caller.tier) if tier is None else tier, self.caller.tier)

    @property
    def source(self) -> str:
        """Return what stands as the source of what the agent says and names no other source for."""
        return f"agent:{self.caller.agent}" if self.caller.agent else ""


def given(**options: Any) -> dict[str, Any]:
    """Return the options that were said: an empty text, and None, say nothing."""
    return {name: value for name, value in options.items() if value not in ("", None)}


def known_at_of(text: str) -> str | int | None:
    """Return a system time: digits alone are the number of a commit."""
    return int(text) if text.isdecimal() else text or None


def plain(value: Any) -> Any:
    """Return a value as the verbs take it: what an answer shows of a reference, ``{"ref": …}``, as its IRI."""
    if isinstance(value, Mapping) and isinstance(value.get("ref"), str):
        return value["ref"]
    if isinstance(value, Mapping):
        raise BadArgument(
            "a property has no object as its value",
            rule="a value is a text, number, boolean, time, the name of an entity, or a list of these",
            mend="give the parts as properties of their own",
        )
    return [plain(each) for each in value] if isinstance(value, list) else value


def props_of(props: Mapping[str, Any]) -> dict[str, Any]:
    """Return properties as the verbs take them."""
    return {name: plain(value) for name, value in props.items()}


def receipt(told: Receipt | Mapping[str, Any], review: str = "prism_review_fact_candidate") -> Answer:
    """Return the receipt of a write without what it has not; ``commit`` None: there was nothing to change.

    ``review`` is the tool that rules on what it guessed.
    """
    body = dict(told.as_dict() if isinstance(told, Receipt) else told)
    body["notes"] = [in_tools(note.replace("prism review)", f"{review})")) for note in body["notes"]]
    return {name: value for name, value in body.items() if name == "commit" or value not in (None, [], False)}
