"""The commands that keep the store open for others, and that say what is installed: serve, version."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prism_rdf.cli.options import Common, command
from prism_rdf.cli.terminal import json_text, print_json, print_pairs

if TYPE_CHECKING:
    from prism_rdf.storage.folder import StoreFolder

_DEPENDENCIES = ("pyoxigraph", "pyshacl", "rdflib", "whoosh-reloaded", "flask", "uvicorn")


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the application."""
    command(
        app,
        "serve",
        """
        prism serve --port 9000 --service https://query.wikidata.org/sparql
        prism serve --unmanaged --temporary
        curl -s 'http://127.0.0.1:8080/sparql?as-of=2025-10-30' --data-urlencode 'query=ASK { ?s ?p ?o }' -G
        """,
    )(serve)
    command(
        app,
        "version",
        """
        prism version
        prism version --json
        """,
    )(version)


def _limit(name: str, what: str, least: float, text: str, default: float) -> Any:
    """Return an option for a limit of queries, which the environment sets where it is not given."""
    env = f"PRISM_{name.removeprefix('--').replace('-', '_').upper()}"
    return typer.Option(name, metavar=what, min=least, help=f"{text} [env var: {env}] [default: {default:g}]")


def serve(
    common: Common,
    host: Annotated[
        str, typer.Option("--host", metavar="HOST", help="Address to listen on; beyond loopback only with tokens.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65535, help="Port; 0 takes any free one.")
    ] = 8080,
    require_tokens: Annotated[
        bool, typer.Option("--require-tokens", help="Answer no request without a token, on loopback neither.")
    ] = False,
    unmanaged: Annotated[
        bool, typer.Option("--unmanaged", help="A store of free graphs only, made where there is none.")
    ] = False,
    temporary: Annotated[
        bool, typer.Option("--temporary", help="An empty store that is gone when the server ends.")
    ] = False,
    query_timeout: Annotated[
        float | None, _limit("--query-timeout", "SECONDS", 0.001, "Stop a query that takes longer.", 60)
    ] = None,
    query_memory: Annotated[int | None, _limit("--query-memory", "MIB", 128, "Memory a query may have.", 2048)] = None,
    query_workers: Annotated[int | None, _limit("--query-workers", "N", 1, "Queries that run at once.", 4)] = None,
    query_queue: Annotated[int | None, _limit("--query-queue", "N", 0, "Queries that may wait.", 64)] = None,
    query_size: Annotated[int | None, _limit("--query-size", "MIB", 1, "Size of an answer.", 1024)] = None,
    query_rows: Annotated[int | None, _limit("--query-rows", "N", 0, "Rows of an answer; 0: any.", 0)] = None,
    query_slow: Annotated[
        float | None, _limit("--query-slow", "SECONDS", 0, "Log a query that takes longer.", 5)
    ] = None,
    service: Annotated[
        list[str] | None,
        typer.Option(
            "--service",
            metavar="IRI",
            help="A server that queries may ask (SERVICE); repeatable. [env var: PRISM_SERVICES] [default: none]",
        ),
    ] = None,
) -> int:
    """Serve SPARQL, a JSON API, MCP and a page over HTTP.

    It owns the store meanwhile, and answers the other commands and programs too. Runs until Ctrl-C or SIGTERM, then
    closes the store and exits with 0.
    """
    from prism_server import serve as run

    from prism_rdf.config import query_limits
    from prism_rdf.owner.daemon import hosted

    given = {
        "timeout": query_timeout,
        "memory": query_memory,
        "workers": query_workers,
        "queue": query_queue,
        "size": query_size,
        "rows": query_rows,
        "slow": query_slow,
    }
    limits = query_limits(given, services=service)
    with _folder(common, unmanaged, temporary) as folder, hosted(folder, limits) as own:

        def announce(url: str) -> None:
            own.announce(url)
            if common.json:
                print(json_text({"url": url, "sparql": f"{url}sparql", "health": f"{url}health"}), flush=True)
            else:
                print(f"Serving {url} (SPARQL at {url}sparql). Ctrl-C stops it.", flush=True)

        run(own.prism, host, port, announce, require_tokens=require_tokens)
    return 0


@contextmanager
def _folder(common: Common, unmanaged: bool, temporary: bool) -> Iterator[StoreFolder]:
    """Have the folder of the store that was named, or of one that lives as long as the context."""
    from pathlib import Path
    from tempfile import TemporaryDirectory

    from prism_rdf.storage.folder import open_folder

    if not temporary:
        settings = common.settings
        managed = False if unmanaged else None
        yield open_folder(settings.home, settings.tenant, create=unmanaged, managed=managed)
        return
    with TemporaryDirectory(prefix="prism-") as home:
        yield open_folder(Path(home), common.settings.tenant, create=True, managed=not unmanaged)


def version(common: Common) -> int:
    """Say which version this is, and what it is built of."""
    import platform

    versions = {"prism": version_of("prism-rdf"), "python": platform.python_version()}
    versions.update((name, version_of(name)) for name in _DEPENDENCIES)
    if common.json:
        print_json(versions)
    else:
        print_pairs(versions)
    return 0


def version_of(distribution: str) -> str:
    """Return the installed version of a distribution, or a word that it is not there."""
    from importlib import metadata  # slow to import, and help does not need it

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "not installed"
