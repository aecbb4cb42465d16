"""Which verb stands at which route, and what it takes: made of the owner's table of verbs and of their signatures.

A new verb has its route at once. One that cannot be told in JSON, or has a better place, is named here with the reason.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, Field

from prism_rdf.owner import verbs
from prism_rdf.prism import Prism
from prism_rdf.project import Project

from .arguments import KEY, NoForm, Text, fields_of, model

STORE = "-"  # stands in place of a project, which cannot be named so

ELSEWHERE: Mapping[str, str] = {
    "sparql": "at /sparql, in every format",
    "update": "at /sparql, as the SPARQL protocol has it",
    "load": "at /store, as the graph store protocol has it",
    "changes": "at /changes, as a feed",
    "queries": "at /queries",
    "run_query": "at /queries/NAME, in every format",
    "bind_query": "at /queries/NAME: it takes parameters of any name",
    "version": "the ETag of every answer",
    "write": "takes intents of the engine: SPARQL UPDATE writes many things as one",
    "bookmarks": "of the engine: what ingestion remembers of a source",
    "bearer_elsewhere": "of the engine: what ingestion asks of names",
    "bearer_uuid": "of the engine: what ingestion asks of names",
    "entity_records": "of the engine: what the search for duplicates reads",
    "property_held": "of the engine: what ingestion asks of a value",
    "said_by": "of the engine: what ingestion asks of a source",
    "state_json_at": "of the engine: state_as_of asks the same",
    "who": "of the engine: resolve asks the same",
}
_SCOPES: Mapping[str, str] = {
    "review": "review",
    "different": "review",
    **dict.fromkeys(("add_types", "backup", "export", "forget", "rebuild", "reindex", "remove_types"), "admin"),
    **dict.fromkeys(("running", "stop_query"), "admin"),  # they show the queries of everybody
}
_ACTS = frozenset({"stop_query"})  # they change no knowledge, and do something all the same
JOBS = frozenset({"backup", "check", "export", "forget", "rebuild", "reindex"})
_OPTIONS = {  # what the verbs take that take what others take
    "fact": ("transition", frozenset({"entity", "props"})),
    "correct": ("transition", frozenset({"entity", "props", "event_type"})),
}
_OF_A_MARK = ("valid_from", "description", "cause_memory", "cause_commit", "source", "sequence", "tier", KEY)
_PATHS = {"backup": "target", "export": "target"}  # a path of the server is none of a client
_MOST_ITEMS = 10_000


@dataclass(frozen=True)
class Endpoint:
    """One verb as a route; ``items`` says that it yields, so that an answer is the first so many."""

    verb: str
    of_store: bool
    effect: verbs.Effect
    scope: str
    request: type[BaseModel]
    keyed: bool
    names_pid: bool
    items: bool
    returns: Any
    doc: str

    @property
    def job(self) -> bool:
        return self.verb in JOBS

    @property
    def method(self) -> Literal["GET", "POST"]:
        return "GET" if _is_asked(self.verb, self.effect) else "POST"

    @property
    def path(self) -> str:
        return f"/api/{STORE if self.of_store else '{pid}'}/{self.verb}"

    @property
    def summary(self) -> str:
        """Return the first sentence of what the verb says of itself."""
        return re.split(r"\.\s|: ``", self.doc.strip() + " ", maxsplit=1)[0].replace("``", "").replace("\n", " ")


def all_endpoints() -> Mapping[tuple[bool, str], Endpoint]:
    """Return every route by whether it is of the whole store, and its verb."""
    found: dict[tuple[bool, str], Endpoint] = {}
    for of, table in ((Prism, verbs.PRISM), (Project, verbs.PROJECT)):
        for verb, effect in table.items():
            if verb not in ELSEWHERE:
                with suppress(NoForm):  # it has no route until it is named above; a test says so
                    found[of is Prism, verb] = _endpoint(of, verb, effect)
    return found


def _is_asked(verb: str, effect: verbs.Effect) -> bool:
    return effect == "reads" and verb not in JOBS | _ACTS


def _endpoint(of: type, verb: str, effect: verbs.Effect) -> Endpoint:
    target = getattr(of, verb)
    read = _is_asked(verb, effect)
    function: Callable[..., Any] = target.fget if isinstance(target, property) else target  # type: ignore[assignment]
    fields = fields_of(function, frozenset({_PATHS.get(verb, "")}))
    if verb in _OPTIONS:
        source, without = _OPTIONS[verb]
        fields |= {name: field for name, field in fields_of(getattr(of, source)).items() if name not in without}
    elif any(each.kind is each.VAR_KEYWORD for each in inspect.signature(function).parameters.values()):
        options = fields_of(Project.transition)
        fields |= {name: options[name] for name in _OF_A_MARK}
    if verb == "fact":
        fields["event_type"] = (Text, "fact")
    if verb == "backup":
        fields["name"] = (Text, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$", description="a folder to be made"))
    returns = inspect.signature(function, eval_str=True).return_annotation
    items = "Iterator" in str(returns)
    if items:
        fields["limit"] = (int, Field(1_000, ge=1, le=_MOST_ITEMS))
    return Endpoint(
        verb=verb,
        of_store=of is Prism,
        effect=effect,
        scope=_SCOPES.get(verb, "read" if effect == "reads" else "write"),
        request=model(verb, fields, in_url=read),
        keyed=KEY in fields,
        names_pid="pid" in fields,
        items=items,
        returns=returns,
        doc=inspect.getdoc(target) or "",
    )
