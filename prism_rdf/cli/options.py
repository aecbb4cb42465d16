"""The options every command shares, and how a command gets its store and project; no command lives here."""

from __future__ import annotations

import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from prism_rdf.cli.completing import entities, projects
from prism_rdf.cli.pages import Page
from prism_rdf.cli.terminal import drop_stdout
from prism_rdf.config import Settings, resolve
from prism_rdf.errors import BadArgument, NotFoundError

if TYPE_CHECKING:
    from prism_rdf import Prism, Project
    from prism_rdf.storage.folder import StoreFolder

_BROKEN_PIPE = 141  # 128 + SIGPIPE, as shells count
_FIRST_WRITE = "fill one with `prism ingest PATH --pid PID`"

HomeOption = Annotated[
    Path | None, typer.Option("--home", metavar="DIR", help="Folder of the stores. [env var: PRISM_HOME]")
]
TenantOption = Annotated[
    str | None,
    typer.Option("--tenant", metavar="NAME", help="Whose store in it: one store a tenant. [env var: PRISM_TENANT]"),
]
PidOption = Annotated[
    str | None,
    typer.Option(
        "--pid",
        metavar="PID",
        autocompletion=projects,
        help="Project; not needed while the store has only one. [env var: PRISM_PID]",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for pipes; errors are JSON on stderr too.")]

AsOf = Annotated[
    str | None,
    typer.Option(
        "--as-of", metavar="TIME", help="Look at the world at this valid time: 2025-10-30 is the end of that day."
    ),
]
KnownAt = Annotated[
    str | None,
    typer.Option("--known-at", metavar="TIME", help="As known at this system time; digits alone are a commit number."),
]
Limit = Annotated[int, typer.Option("--limit", metavar="N", min=1, help="At most so many.")]
RefOption = Annotated[
    str | None, typer.Option("--ref", metavar="BRANCH", help="What to read in place of the checked-out branch.")
]
MappingOption = Annotated[
    str, typer.Option("--mapping", metavar="FILE", help="What the files mean: a TOML file, or peps, which ships.")
]
EntityArgument = Annotated[
    str, typer.Argument(metavar="ENTITY", autocompletion=entities, help="A uuid, IRI, identifier or alias.")
]

SourceArgument = Annotated[
    str, typer.Argument(metavar="SOURCE", autocompletion=entities, help="The entity that refers.")
]
KindArgument = Annotated[str, typer.Argument(metavar="KIND", help="How, such as SUPERSEDES or DEPENDS_ON.")]
TargetArgument = Annotated[
    str, typer.Argument(metavar="TARGET", autocompletion=entities, help="The entity that it refers to.")
]


def known_at_of(text: str | None) -> str | int | None:
    """Return a commit number where there are only digits, else the text of a time.

    >>> known_at_of("12"), known_at_of("2026-01")
    (12, '2026-01')
    """
    return int(text) if text is not None and text.isdecimal() else text


@dataclass(frozen=True)
class Common:
    """What was said of home, tenant, project and output, before the command's name or after it."""

    home: Path | None = None
    tenant: str | None = None
    pid: str | None = None
    json: bool = False

    def with_later(self, later: Common) -> Common:
        """Return these options overridden by those given after the command's name."""
        given = {name: value for name, value in vars(later).items() if value not in (None, False)}
        return replace(self, **given)

    @property
    def settings(self) -> Settings:
        """Return what holds once the environment and the defaults are added."""
        return resolve(self.home, self.tenant, self.pid)

    def folder(self) -> StoreFolder:
        """Return the folder of the store, which must be there, without opening it."""
        from prism_rdf.storage.folder import open_folder

        settings = self.settings
        return open_folder(settings.home, settings.tenant, create=False)

    @contextmanager
    def store(self, *, create: bool = False) -> Iterator[Prism]:
        """Open the store for one command; a store that is not there is made only when ``create`` says so."""
        from prism_rdf.prism import Prism

        settings = self.settings
        with Prism.open(settings.home, settings.tenant, create=create) as prism:
            yield prism

    @contextmanager
    def project(self) -> Iterator[Project]:
        """Open the store and the project that was named, or the only one there is."""
        with self.store() as prism:
            yield prism.project(self.named_pid(prism) or _only_project(prism.projects()))

    def named_pid(self, prism: Prism) -> str | None:
        """Return the named project or None when none was named; raise NotFoundError for one that is not there."""
        pid, known = self.settings.pid, prism.projects()
        if pid and pid not in known:
            raise NotFoundError(
                f"there is no project {pid!r} in this store",
                rule="a project begins with its first write",
                mend=f"use one of: {', '.join(known)}" if known else _FIRST_WRITE,
            )
        return pid or None


def _only_project(known: Sequence[str]) -> str:
    if not known:
        raise NotFoundError(
            "the store has no project yet", rule="a project begins with its first write", mend=_FIRST_WRITE
        )
    if len(known) > 1:
        raise BadArgument(
            f"the store has {len(known)} projects",
            rule="without --pid a command works only where there is one project",
            mend=f"add --pid, one of: {', '.join(known)}",
        )
    return known[0]


def command(
    app: typer.Typer, name: str, examples: str, **settings: bool
) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Register a function ``f(common, …) -> exit status`` as a command that also takes the common options.

    The settings are those of the parser, such as ``ignore_unknown_options``.
    """

    def register(function: Callable[..., int]) -> Callable[..., int]:
        hints = get_type_hints(function, include_extras=True)
        own = [
            parameter.replace(annotation=hints[parameter.name], kind=inspect.Parameter.KEYWORD_ONLY)
            for parameter in list(inspect.signature(function).parameters.values())[1:]
        ]

        def run(ctx: typer.Context, **values: Any) -> int:
            later = Common(*(values.pop(option.name) for option in _COMMON))
            try:
                status = function(ctx.obj.with_later(later), **values)
                sys.stdout.flush()
            except BrokenPipeError:
                drop_stdout()
                return _BROKEN_PIPE
            return status

        context = inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
        run.__signature__ = inspect.Signature([context, *own, *_COMMON])  # type: ignore[attr-defined]
        run.__doc__ = function.__doc__
        shown = f"Examples:\n\n\b\n{textwrap.indent(inspect.cleandoc(examples), '  ')}"
        app.command(name, cls=Page, epilog=shown, context_settings=dict(settings))(run)
        return function

    return register


def _option(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


_COMMON = (
    _option("home", HomeOption, None),
    _option("tenant", TenantOption, None),
    _option("pid", PidOption, None),
    _option("json_output", JsonOption, False),
)
