"""Where a program's settings come from: arguments, then the environment, then defaults; no file is read.

| setting | environment | default |
|---|---|---|
| home: the folder that holds the stores | ``PRISM_HOME`` | ``$XDG_DATA_HOME/prism``, else ``~/.local/share/prism`` |
| tenant: whose store | ``PRISM_TENANT`` | ``default`` |
| pid: the project, which is the namespace | ``PRISM_PID`` | none: a verb that needs one says so |
| tier: the highest tier of authority to claim | ``PRISM_TIER`` | 1 |
| embedder: the model of the vector leg | ``PRISM_EMBEDDER`` | what ``prism reindex`` was told, else ``minilm`` |

An embedder is ``minilm``, ``none`` or ``sentence-transformers:NAME``.

Limits of SPARQL queries, of the process that answers them:

| limit | environment | default |
|---|---|---|
| timeout: seconds a query may take, waiting included | ``PRISM_QUERY_TIMEOUT`` | 60 |
| longest: seconds that a query may ask for | ``PRISM_QUERY_LONGEST`` | 3600 |
| memory: MiB that a query may have | ``PRISM_QUERY_MEMORY`` | 2048 |
| workers: queries that run at once | ``PRISM_QUERY_WORKERS`` | 4 |
| queue: queries that may wait for that | ``PRISM_QUERY_QUEUE`` | 64 |
| size: MiB that an answer may have | ``PRISM_QUERY_SIZE`` | 1024 |
| rows: rows after which an answer is cut; 0: never | ``PRISM_QUERY_ROWS`` | 0 |
| slow: seconds from which a query is logged | ``PRISM_QUERY_SLOW`` | 5 |
| services: other servers that a query may ask (SERVICE), IRIs between spaces | ``PRISM_SERVICES`` | none |
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from urllib.parse import urlsplit

from prism_rdf.errors import BadArgument
from prism_rdf.namespaces import check_name

DEFAULT_TENANT = "default"


@dataclass(frozen=True)
class Settings:
    """Which store, which project in it, and the highest tier to claim. ``pid`` is empty where none was given."""

    home: Path
    tenant: str = DEFAULT_TENANT
    pid: str = ""
    tier: int = 1

    def require_pid(self) -> str:
        """Return the project id; raise BadArgument when none was given."""
        if not self.pid:
            raise BadArgument(
                "no project was given",
                rule="entities belong to a project",
                mend="add --pid NAME, or set PRISM_PID",
            )
        return self.pid


@dataclass(frozen=True)
class Limits:
    """What a query may take, as the table above says."""

    timeout: float = 60.0
    longest: float = 3600.0
    memory: int = 2048
    workers: int = 4
    queue: int = 64
    size: int = 1024
    rows: int = 0
    slow: float = 5.0
    services: tuple[str, ...] = ()


_SERVICE = re.compile(r"https?://(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]+)?(?:[/?][^\x00-\x20<>\"{}|^`\\#]*)?")
_LEAST = {"queue": 0, "rows": 0, "slow": 0, "memory": 128, "timeout": 0.001, "longest": 0.001}


def query_limits(
    given: Mapping[str, float | None] | None = None,
    environ: Mapping[str, str] | None = None,
    services: Sequence[str] | None = None,
) -> Limits:
    """Return the limits of queries: those ``given``, else of the environment, else the defaults. Raises BadArgument.

    ``services`` None or empty: those of the environment.

    >>> query_limits({"timeout": 5}, {"PRISM_QUERY_WORKERS": "2"})
    Limits(timeout=5.0, longest=3600.0, memory=2048, workers=2, queue=64, size=1024, rows=0, slow=5.0, services=())
    """
    env, known = os.environ if environ is None else environ, given or {}
    found: dict[str, float] = {}
    for each in (field for field in fields(Limits) if field.name != "services"):
        variable = f"PRISM_QUERY_{each.name.upper()}"
        said = known.get(each.name)
        text = env.get(variable, "") if said is None else str(said)
        if text:
            found[each.name] = _limit(variable, text, _LEAST.get(each.name, 1), whole=isinstance(each.default, int))
    found["longest"] = max(found.get("longest", Limits.longest), found.get("timeout", Limits.timeout))
    listed = services or env.get("PRISM_SERVICES", "").split()
    return Limits(**found, services=tuple(map(_service, listed)))  # type: ignore[arg-type]


def _limit(variable: str, text: str, least: float, *, whole: bool) -> float:
    try:
        value = int(text) if whole else float(text)
    except ValueError:
        value = -1
    if not least <= value < float("inf"):
        raise BadArgument(
            f"{variable} is {text!r}",
            rule=f"it is a {'whole ' if whole else ''}number, {least:g} at least",
            mend="set it to one, or unset it",
        )
    return value


def _service(iri: str) -> str:
    """Return the IRI of a server, if it is one that can be asked; it is compared with what a query says as it is."""
    try:
        known = _SERVICE.fullmatch(iri) is not None and urlsplit(iri).port != 0
    except ValueError:  # a port beyond 65535
        known = False
    if not known:
        raise BadArgument(
            f"{iri!r} is not a server that queries may ask",
            rule="PRISM_SERVICES and --service take http:// and https:// IRIs without a user, a password or a fragment",
            mend="write the address of its SPARQL endpoint in full, such as https://example.org/sparql",
        )
    return iri


def resolve(
    home: str | os.PathLike[str] | None = None,
    tenant: str | None = None,
    pid: str | None = None,
    *,
    tier: int | None = None,
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """Return the settings that hold; an empty text counts as not given. Raises BadArgument for an unusable name.

    ``environ`` is the process's environment unless given. Nothing is created.

    >>> resolve(pid="atlas", environ={"PRISM_HOME": "/data/prism", "PRISM_PID": "other"})
    Settings(home=PosixPath('/data/prism'), tenant='default', pid='atlas', tier=1)
    """
    env = os.environ if environ is None else environ
    chosen_home = os.fspath(home) if home else env.get("PRISM_HOME") or _default_home(env)
    chosen_pid = pid or env.get("PRISM_PID", "")
    return Settings(
        home=Path(chosen_home).expanduser(),
        tenant=check_name("tenant", tenant or env.get("PRISM_TENANT") or DEFAULT_TENANT),
        pid=check_name("project", chosen_pid) if chosen_pid else "",
        tier=_tier(str(tier) if tier is not None else env.get("PRISM_TIER") or "1"),
    )


def embedder_setting(environ: Mapping[str, str] | None = None, *, default: str = "") -> str:
    """Return which embedder is chosen: PRISM_EMBEDDER, else ``default``, else ``minilm``.

    >>> embedder_setting({})
    'minilm'
    """
    return (os.environ if environ is None else environ).get("PRISM_EMBEDDER") or default or "minilm"


def _tier(text: str) -> int:
    if text not in ("1", "2", "3"):
        raise BadArgument(
            f"the highest tier is {text!r}",
            rule="it is 1 (a person), 2 (an agent with an artifact) or 3 (only guesses, which await review)",
            mend="set PRISM_TIER to one of them, or unset it",
        )
    return int(text)


def _default_home(env: Mapping[str, str]) -> str:
    data = env.get("XDG_DATA_HOME", "")
    root = Path(data) if Path(data).is_absolute() else Path("~/.local/share")
    return str(root / "prism")
