"""What commands that write share: NAME=VALUE arguments, options, how a receipt looks; no command lives here."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from prism_rdf.cli.options import Common
from prism_rdf.cli.terminal import one_line, print_json, print_line, value_text
from prism_rdf.errors import BadArgument, NotFoundError

if TYPE_CHECKING:
    from prism_rdf import Project
    from prism_rdf.model import Receipt

Said = dict[str, Any]  # the options that were given, by the verbs' names for them
Props = Annotated[
    list[str],
    typer.Argument(
        metavar="NAME=VALUE",
        help="A property and its value. Repeat a name for several values; NAME= takes what it held away.",
    ),
]

_SHOWN = 60  # characters of a value that are repeated to the caller
_OPTIONS: dict[str, Any] = {
    "event_type": Annotated[
        str | None, typer.Option("--event-type", metavar="NAME", help="What kind of change it is, such as rename.")
    ],
    "valid_from": Annotated[
        str | None,
        typer.Option("--valid-from", metavar="TIME", help="Since when it holds; 2025 is the first instant of 2025."),
    ],
    "valid_until": Annotated[
        str | None,
        typer.Option(
            "--valid-until", metavar="TIME", help="How long it holds; 2025 is the end of 2025. Left out: open."
        ),
    ],
    "description": Annotated[str | None, typer.Option("--description", metavar="TEXT", help="Why, in words.")],
    "cause_memory": Annotated[
        str | None, typer.Option("--cause-memory", metavar="MEMORY", help="The memory behind it: its IRI or uuid.")
    ],
    "cause_commit": Annotated[
        str | None, typer.Option("--cause-commit", metavar="SHA", help="The commit of a repository behind it.")
    ],
    "source": Annotated[str | None, typer.Option("--source", metavar="TEXT", help="Who or what says so.")],
    "tier": Annotated[
        int | None,
        typer.Option(
            "--tier", metavar="N", min=1, max=3, help="1: a person says so (default); 2: an artifact does; 3: a guess."
        ),
    ],
    "quote": Annotated[
        str | None, typer.Option("--quote", metavar="TEXT", help="The words that a guess or a claim is read from.")
    ],
    "extractor": Annotated[
        str | None, typer.Option("--extractor", metavar="NAME", help="Of a guess: the pattern or program that made it.")
    ],
    "confidence": Annotated[
        float | None,
        typer.Option("--confidence", metavar="N", min=0, max=1, help="Of a guess or a claim: how sure, from 0 to 1."),
    ],
    "offsets": Annotated[
        tuple[int, int] | None,
        typer.Option("--offsets", metavar="START END", help="Where the quote stands, in characters of the source."),
    ],
    "idempotency_key": Annotated[
        str | None,
        typer.Option("--idempotency-key", metavar="KEY", help="Saying it again under the same key changes nothing."),
    ],
}
_EVENT_REST = ("description", "cause_memory", "cause_commit", "source", "tier", "idempotency_key")
EVENT = ("valid_from", *_EVENT_REST)
GUESS = ("quote", "extractor", "confidence", "offsets")
BOUNDED_EVENT = ("valid_from", "valid_until", *_EVENT_REST)


def saying(*names: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Give a command these options; the function gets those that were given as one mapping ``said``."""

    def wrap(function: Callable[..., int]) -> Callable[..., int]:
        hints = get_type_hints(function, include_extras=True)
        own = [each for each in inspect.signature(function).parameters.values() if each.name != "said"]

        def run(common: Common, **values: Any) -> int:
            said = {name: value for name in names if (value := values.pop(name)) is not None}
            return function(common, **values, said=said)

        added = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in names]
        run.__signature__ = inspect.Signature([*own, *added])  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: hints[each.name] for each in own} | {name: _OPTIONS[name] for name in names}
        run.__doc__ = function.__doc__
        return run

    return wrap


def props_of(texts: Iterable[str]) -> dict[str, Any]:
    """Return what NAME=VALUE arguments say: a name given more than once has a list, an empty value is None.

    The verbs read the texts by the declared datatypes. Raises BadArgument.

    >>> props_of(["title=Use a graph", "tags=rdf", "tags=time", "status="])
    {'title': 'Use a graph', 'tags': ['rdf', 'time'], 'status': None}
    """
    found: dict[str, list[str]] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise BadArgument(
                f"{text!r} is not NAME=VALUE",
                rule="a property is given as its name, an equals sign and the value",
                mend="write it as status=Accepted, or 'title=Use a graph' where there are spaces",
            )
        found.setdefault(name.strip(), []).append(value)
    return {name: _value(name, values) for name, values in found.items()}


def _value(name: str, values: list[str]) -> str | list[str] | None:
    if len(values) == 1:
        return values[0] or None
    if "" in values:
        raise BadArgument(
            f"{name} is both taken away and given a value",
            rule=f"{name}= stands alone: new values replace the old ones without it",
            mend=f"leave out the empty {name}=",
        )
    return values


@contextmanager
def founded(common: Common, rehearse: Callable[[Project], object]) -> Iterator[Project]:
    """Open the project to write in; a store or project that is not there is made.

    A store is made only for a write that it would take: ``rehearse`` tries it on one in memory first.
    """
    from prism_rdf.prism import Prism

    settings = common.settings
    with ExitStack() as stack:
        try:
            prism = stack.enter_context(common.store())
        except NotFoundError:
            with Prism.in_memory(settings.tenant) as trial:
                rehearse(trial.project(settings.require_pid()))
            prism = stack.enter_context(common.store(create=True))
        known = prism.projects()
        yield prism.project(known[0] if not settings.pid and len(known) == 1 else settings.require_pid())


def name_of(project: Project, entity: str) -> str:
    """Return what an entity is called now; its uuid where it has no name."""
    found = project.resolve_alias(entity)
    return str(found["identifier"] or found["uuid"])


def told(common: Common, receipt: Receipt | Mapping[str, Any], who: str, what: str, when: str = "") -> int:
    """Print what was written, as one line or as the receipt, and return the exit status."""
    body = receipt if isinstance(receipt, Mapping) else receipt.as_dict()
    if common.json:
        print_json(body)
        return 0
    if body["commit"] is None:
        outcome = "nothing changed" if body["notes"] else "nothing changed: it was so already"
    else:
        again = ", written before under this key" if body["replayed"] else ""
        guessed = [f"candidate {each.rsplit('/', 1)[-1][:8]}" for each in body.get("candidates", ())]
        outcome = ", ".join(filter(None, (when, *guessed, f"commit {body['commit']}"))) + again
    print_line((one_line(who), "bold"), (f": {one_line(what)}", ""), (f"  {outcome}", "dim"))
    for note in body["notes"]:
        print(one_line(f"note: {note}"), file=sys.stderr)
    return 0


def props_text(props: Mapping[str, Any]) -> str:
    """Return what was said of properties, for eyes; long values are cut."""
    return ", ".join(f"{name} = {_cut(value)}" if value is not None else f"no {name}" for name, value in props.items())


def _cut(value: Any) -> str:
    text = one_line(value_text(value))
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def when_text(said: Mapping[str, Any], default: str = "from now") -> str:
    """Return the interval that was said, for eyes."""
    from prism_rdf.clock import end_of, start_of

    start, until = said.get("valid_from"), said.get("valid_until")
    begins = f"from {start_of(start).instant}" if start is not None else default
    return f"{begins} until {end_of(until).instant}" if until is not None else begins
