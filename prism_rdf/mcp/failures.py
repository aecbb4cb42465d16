"""How an error is told to an agent: what is wrong, the rule, the mend in names of tools, and what to call instead."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from pydantic import ValidationError as BadInput

from prism_rdf.errors import BadArgument, NotFoundError, PrismError, RefusedError

# What the mends of errors, which speak of the command line, are called here.
_TOOLS = {
    "review list": "prism_list_fact_candidates",
    "review": "prism_review_fact_candidate",
    "entities": "prism_list_entities",
    "recall": "semantic_recall",
    "drafts": "prism_start",
    "types": "prism_list_types",
    "blame": "prism_blame",
    "history": "prism_history",
    "transition": "prism_transition",
    "merge": "prism_merge",
    "sparql": "prism_sparql",
    "queries": "prism_queries",
    "forget": "prism_forget",
    "update": "prism_fact or prism_transition",
}
_COMMAND = re.compile(rf"\bprism ({'|'.join(_TOOLS)})\b(?! (?:add|remove))")
_OPTION = re.compile(r"--([a-z]+(?:-[a-z]+)*)")
_TOOL = re.compile(r"\b(?:prism_[a-z_]+|semantic_recall)\b")
_HELPING: Mapping[str, tuple[str, ...]] = {
    "unknown-entity": ("prism_resolve_alias", "semantic_recall", "prism_list_entities"),
    "unknown-type": ("prism_list_types",),
    "validation": ("prism_list_types",),
    "ambiguous": ("prism_state_as_of",),
    "bad-query": ("prism_queries",),
    "busy": ("prism_start",),
}


def told(error: PrismError, offered: Collection[str]) -> dict[str, Any]:
    """Return the JSON of an error as every door has it, without empty fields, and with the tools that help.

    ``offered`` are the tools that the caller has; no other is named under ``call_instead``.
    """
    body = {name: value for name, value in error.as_dict()["error"].items() if value not in ("", [], None, 0)}
    body["mend"] = in_tools(error.mend) or "call it again with other arguments"
    helping = [*_TOOL.findall(body["mend"]), *_HELPING.get(error.code, ())]
    body["call_instead"] = [name for name in dict.fromkeys(helping) if name in offered]
    return {"error": body}


def in_tools(text: str) -> str:
    """Return a mend in the names of tools and arguments.

    >>> in_tools("prism entities lists what there is; or add --valid-from")
    'prism_list_entities lists what there is; or add valid_from'
    """
    named = _COMMAND.sub(lambda found: _TOOLS[found[1]], text)
    return _OPTION.sub(lambda found: found[1].replace("-", "_"), named)


def unknown_tool(name: str, offered: Iterable[str]) -> NotFoundError:
    """Return the error for a tool that is not there."""
    by_end = {_end(each): each for each in sorted(offered)}
    close = difflib.get_close_matches(_end(name), by_end, n=3, cutoff=0.5)
    meant = f"did you mean {' or '.join(by_end[each] for each in close)}? " if close else ""
    return NotFoundError(
        f"there is no tool {name!r}",
        rule=f"the tools are {', '.join(by_end.values())}",
        mend=f"{meant}tools/list has them all",
    )


def not_offered(name: str, offered: Iterable[str]) -> RefusedError:
    """Return the error for a tool that is there, and not for this caller."""
    return RefusedError(
        f"this connection has no {name}",
        rule=f"a connection does what it was set up for; its tools are {', '.join(sorted(offered))}",
        mend="tell the person you work for that it takes a connection that may",
    )


def _end(name: str) -> str:
    """Return the name of a tool without its beginning, which nearly all have."""
    return re.sub(r"^(prism|semantic)_", "", name)


def bad_input(tool: str, error: BadInput, schema: Mapping[str, Any]) -> BadArgument:
    """Return the error for arguments that do not fit the input schema of a tool, naming each."""
    known = list(schema.get("properties", {}))
    said = [_complaint(each, known) for each in error.errors(include_url=False)]
    required = ", ".join(schema.get("required", ())) or "none"
    return BadArgument(
        f"{tool}: {'; '.join(said)}",
        rule=f"required: {required}; known: {', '.join(known)}",
        mend=f"call {tool} again with arguments that fit",
    )


def _complaint(detail: Any, known: Collection[str]) -> str:
    name = str(detail["loc"][0]) if detail["loc"] else "the arguments"
    if detail["type"] == "missing":
        return f"{name} is missing"
    if detail["type"] == "extra_forbidden":
        close = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
        return f"there is no argument {name}" + (f", did you mean {close[0]}?" if close else "")
    return f"{name} is {detail['input']!r}: {detail['msg'][:1].lower()}{detail['msg'][1:]}"
