"""The commands that write RDF as it is: update, load, and the list of free graphs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prism_rdf.cli.options import Common, command
from prism_rdf.cli.querying import text_of
from prism_rdf.cli.terminal import print_json
from prism_rdf.cli.writing import Said, saying, told

if TYPE_CHECKING:
    from prism_rdf.model import Receipt

_UPDATE = """
prism update 'INSERT { ?d prism:status "Accepted" } WHERE { ?d prism:number "ADR-7" }'
prism update 'INSERT DATA { GRAPH <https://example.org/notes> { <urn:a> rdfs:label "A" } }'
prism update -f nightly.ru --pid demo --source nightly
"""
_LOAD = """
prism load vocabulary.ttl --graph https://example.org/vocabulary
prism load people.nt --graph urn:people --replace --pid demo
prism load everything.nq
"""
_GRAPHS = """
prism graphs
prism graphs --pid demo --json | jq -r '.graphs[]'
"""


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the application."""
    command(app, "update", _UPDATE)(saying("source", "tier", "idempotency_key")(update))
    command(app, "load", _LOAD)(saying("idempotency_key")(load))
    command(app, "graphs", _GRAPHS)(graphs)


def update(
    common: Common,
    request: Annotated[
        str | None, typer.Argument(metavar="UPDATE", help="SPARQL UPDATE, or - to read it from stdin.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option("-f", "--file", metavar="FILE", help="Read the update from a file.")
    ] = None,
    using_graph: Annotated[
        list[str] | None, typer.Option("--using-graph", metavar="IRI", help="A graph to read, in place of USING.")
    ] = None,
    using_named_graph: Annotated[
        list[str] | None,
        typer.Option("--using-named-graph", metavar="IRI", help="A graph to read by name, in place of USING NAMED."),
    ] = None,
    *,
    said: Said,
) -> int:
    """Change the world of a project, or free graphs, by SPARQL UPDATE: all of it, as one commit, or nothing."""
    text = text_of("update", request, file, "update 'INSERT …'")
    with common.store(create=True) as prism:
        receipt = prism.update(
            text,
            pid=common.settings.pid or None,
            using_graphs=using_graph or (),
            using_named_graphs=using_named_graph or (),
            **said,
        )
    return _tell(common, receipt, "update")


def load(
    common: Common,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="RDF: .ttl .nt .rdf .jsonld .trig .nq")],
    graph: Annotated[
        str | None, typer.Option("--graph", metavar="IRI", help="Where statements go that name no graph themselves.")
    ] = None,
    form: Annotated[
        str | None, typer.Option("--format", metavar="NAME", help="ttl nt rdf jsonld trig nq; by the file's suffix.")
    ] = None,
    base_iri: Annotated[
        str | None, typer.Option("--base-iri", metavar="IRI", help="What relative IRIs start from: the file's own.")
    ] = None,
    replaces: Annotated[bool, typer.Option("--replace", help="Let nothing else be in the graph afterwards.")] = False,
    *,
    said: Said,
) -> int:
    """Read a file of RDF into free graphs, which queries find by GRAPH and FROM beside the rest."""
    with common.store(create=True) as prism:
        receipt = prism.load(
            file,
            graph,
            format=form,
            base_iri=base_iri,
            replaces=replaces,
            pid=common.settings.pid or None,
            **said,
        )
    return _tell(common, receipt, file.name)


def graphs(common: Common) -> int:
    """List the free graphs: of a project, or all."""
    with common.store() as prism:
        found = prism.free_graphs(common.named_pid(prism))
    if common.json:
        print_json({"graphs": found})
    else:
        print("\n".join(found) if found else "no free graphs; make one with `prism load FILE --graph IRI`")
    return 0


def _tell(common: Common, receipt: Receipt, who: str) -> int:
    """Print the receipt, for eyes with what it made, one a line."""
    counted, *notes = receipt.notes or ("",)
    status = told(common, receipt if common.json else replace(receipt, notes=tuple(notes)), who, counted)
    if not common.json:
        for entity in receipt.created:
            print(f"  {entity}")
    return status
