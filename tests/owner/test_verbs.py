"""The table of verbs is complete, and nothing beside it can be called from outside."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from prism_rdf.errors import BadArgument
from prism_rdf.owner import verbs
from prism_rdf.owner.remote import RemotePrism, RemoteProject
from prism_rdf.owner.serving import _called
from prism_rdf.prism import Prism
from prism_rdf.project import Project

CLASSES = [(Prism, RemotePrism, verbs.PRISM), (Project, RemoteProject, verbs.PROJECT)]


@pytest.mark.parametrize(("local", "remote", "table"), CLASSES, ids=["Prism", "Project"])
def test_every_public_name_has_its_place(local: type, remote: type, table: Any) -> None:
    public = {name for name in dir(local) if not name.startswith("_")}
    placed = [set(table), verbs.HERE[local.__name__], verbs.INSIDE[local.__name__]]
    assert sum(map(len, placed)) == len(set().union(*placed))
    assert set().union(*placed) == public, "a new verb takes a line in prism_rdf/owner/verbs.py"


@pytest.mark.parametrize(("local", "remote", "table"), CLASSES, ids=["Prism", "Project"])
def test_a_verb_looks_the_same_from_outside(local: type, remote: type, table: Any) -> None:
    for name in table:
        here, there = getattr(local, name), getattr(remote, name)
        assert here is not there, name
        assert inspect.getdoc(here) == inspect.getdoc(there)
        if not isinstance(here, property):
            assert inspect.signature(here) == inspect.signature(there)


def test_every_write_of_a_project_takes_a_key() -> None:
    for name in (name for name, effect in verbs.PROJECT.items() if effect == "writes"):
        kinds = inspect.signature(getattr(Project, name)).parameters
        assert "idempotency_key" in kinds or any(each.kind is each.VAR_KEYWORD for each in kinds.values()), name


@pytest.mark.parametrize("name", ["commit", "answering", "close", "open", "__init__", "store", "_log", "nothing"])
def test_what_is_not_in_the_table_cannot_be_called(name: str) -> None:
    with Prism.in_memory() as prism:
        for pid in (None, "demo"):
            with pytest.raises(BadArgument, match="no verb"):
                _called(prism, {"pid": pid, "verb": name, "options": {}})
