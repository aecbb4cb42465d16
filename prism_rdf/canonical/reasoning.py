"""The reasoner HermiT, asked whether types can be true together; it needs Java, and runs in a process of its own.

Run as a program this module reads N-Triples from stdin and prints the verdict as JSON.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Literal

from pyoxigraph import NamedNode, RdfFormat, Triple, serialize

from prism_rdf.canonical.own_shapes import closure, roots
from prism_rdf.canonical.vocabulary import CLASS, Vocabulary
from prism_rdf.namespaces import PRISM, RDF_TYPE, SH

_PATIENCE = 120.0  # seconds
_MISSING = (
    "Java is missing, so the reasoner HermiT was not asked; the checks in Python were made. Install a Java runtime to "
    "have it, for example the package default-jre-headless"
)
Status = Literal["consistent", "inconsistent", "java-missing", "failed"]


@dataclass(frozen=True)
class Verdict:
    """What the reasoner says; ``classes`` are those that can have no member, none if all of it contradicts itself."""

    status: Status
    message: str
    classes: tuple[str, ...] = ()


def reason(own: Vocabulary) -> Verdict:
    """Ask HermiT about some files together with what ships; say so where there is no Java."""
    if shutil.which("java") is None:
        return Verdict("java-missing", _MISSING)
    data = serialize(_axioms(own), format=RdfFormat.N_TRIPLES)
    assert data is not None
    command = [sys.executable, "-m", "prism_rdf.canonical.reasoning"]
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=_PATIENCE, check=True)
        said = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        return Verdict("failed", f"the reasoner HermiT gave no answer within {_PATIENCE:.0f} seconds")
    except (subprocess.CalledProcessError, ValueError) as error:
        last = (getattr(error, "stderr", None) or b"").decode(errors="replace").strip().splitlines()[-1:]
        return Verdict("failed", f"the reasoner HermiT could not be asked: {''.join(last) or error}")
    return Verdict(said["status"], said["message"], tuple(said["classes"]))


def _axioms(own: Vocabulary) -> Iterator[Triple]:
    """Yield the ontology without the shapes, which are none of a reasoner's business.

    That a class is a prism:Type, and so an individual too, is left out: owlready2 would take what HermiT says of it for
    its superclass, and never tell that nothing can be one.
    """
    found = roots(own)
    shapes = set(closure(own, tuple(node for node in found if CLASS not in own.nodes(node, RDF_TYPE))))
    for triple in (*Vocabulary.shipped(), *own):
        if triple.subject in shapes or triple.predicate.value.startswith(SH):
            continue
        if (
            triple.predicate == RDF_TYPE
            and isinstance(triple.object, NamedNode)
            and triple.object.value.startswith(PRISM)
        ):
            continue
        yield triple


def _ask(ntriples: bytes) -> dict[str, Any]:
    import owlready2

    world = owlready2.World()
    world.get_ontology("urn:prism:types#").load(fileobj=BytesIO(ntriples))
    try:
        owlready2.sync_reasoner_hermit(world, infer_property_values=False, debug=0, ignore_unsupported_datatypes=True)
    except owlready2.OwlReadyInconsistentOntologyError:
        message = "the reasoner HermiT finds that the types contradict themselves"
        return {"status": "inconsistent", "message": message, "classes": []}
    empty = sorted(cls.iri for cls in world.inconsistent_classes() if cls is not owlready2.Nothing)
    if empty:
        message = f"the reasoner HermiT finds that nothing can be one of {', '.join(empty)}"
        return {"status": "inconsistent", "message": message, "classes": empty}
    return {"status": "consistent", "message": "the reasoner HermiT finds no contradiction", "classes": []}


if __name__ == "__main__":
    print(json.dumps(_ask(sys.stdin.buffer.read())))
