"""What the shell offers for an argument that is being typed: projects and names of entities; nobody is started for it.

A running owner is asked; where there is none, nothing is offered, since opening a store takes longer than typing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from prism_rdf import Prism


def projects(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the projects whose id begins so."""
    prism = _running(ctx)
    if prism is None:
        return []
    with prism:
        return [pid for pid in prism.projects() if pid.startswith(incomplete)]


def entities(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the names that entities bear now and that begin so, whatever the case."""
    prism = _running(ctx)
    if prism is None:
        return []
    from prism_rdf.mcp.listing import completions

    with prism:
        found = completions(prism, _said(ctx, "pid") or "", incomplete)
    return [_typed(name, incomplete) for name in found]


def _typed(name: str, incomplete: str) -> str:
    """Return a name in capitals with its beginning as it was typed: shells mind the case, and names in capitals do not.

    >>> _typed("ADR-7", "adr"), _typed("Use a graph", "use")
    ('adr-7', 'Use a graph')
    """
    return incomplete + name[len(incomplete) :] if name == name.upper() else name


def _running(ctx: typer.Context) -> Prism | None:
    """Return the store that the words before mean, where its owner runs."""
    from prism_rdf import owner
    from prism_rdf.config import resolve
    from prism_rdf.errors import PrismError
    from prism_rdf.owner.place import Place
    from prism_rdf.storage.folder import open_folder

    try:
        settings = resolve(_said(ctx, "home"), _said(ctx, "tenant"))
        folder = open_folder(settings.home, settings.tenant, create=False)
        return owner.connect(folder) if Place.of(folder.path).is_held() else None
    except (PrismError, OSError):
        return None


def _said(ctx: Any, name: str) -> Any:
    """Return an option that was given to the command or before its name."""
    while ctx is not None:
        if ctx.params.get(name):
            return ctx.params[name]
        ctx = ctx.parent
    return None
