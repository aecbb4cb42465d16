"""A real server over a store of free graphs, which all suites ask; where the suites lie is not part of this project."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
from asking import Server

SPARQL = Path(__file__).parents[3] / "shared" / "suites" / "sparql" / "sparql"


@pytest.fixture(scope="session")
def sparql11() -> Path:
    if not SPARQL.is_dir():
        pytest.skip("no W3C suites in ../shared/suites")
    return SPARQL / "sparql11"


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PRISM_")}
    environment["PRISM_OWNER"] = "never"
    command = [sys.executable, "-m", "prism_rdf.cli", "serve", "--unmanaged", "--temporary", "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as process:
        assert process.stdout is not None
        said = ""
        while not said.endswith("}\n"):
            line = process.stdout.readline()
            assert line, "the server ended before it said where it is"
            said += line
        Thread(target=process.stdout.read, daemon=True).start()
        asked = Server(json.loads(said)["url"])
        yield asked
        asked.close()
        process.terminate()
