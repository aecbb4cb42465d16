"""Where a program's settings come from: arguments, then the environment, then defaults; no file is read.

| setting | environment | default |
|---|---|---|
| home: the folder that holds the stores | ``PRISM_HOME`` | ``$XDG_DATA_HOME/prism``, else ``~/.local/share/prism`` |
| tenant: whose store | ``PRISM_TENANT`` | ``default`` |
| pid: the project, which is the namespace | ``PRISM_PID`` | none: a verb that needs one says so |
| tier: the highest tier of authority to claim | ``PRISM_TIER`` | 1 |
| embedder: the model of the vector leg | ``PRISM_EMBEDDER`` | what ``prism reindex`` was told, else ``minilm`` |

An embedder is ``minilm``, ``none`` or ``sentence-transformers:NAME``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

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
