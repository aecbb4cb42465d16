"""The doors beside each other: the command line, `prism serve` and programs use one store at once."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest

from prism_rdf.errors import BusyError

HEAVY = {"rdflib", "pyshacl", "whoosh", "flask", "pygit2", "owlready2"}


@pytest.fixture
def server(home: Any) -> Iterator[subprocess.Popen[str]]:
    """`prism serve`, which found a daemon at work."""
    home.open().close()
    command = [sys.executable, "-m", "prism_rdf.cli", "serve", "--port", "0", "--json", "--home", str(home.path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


def test_the_command_line_works_beside_prism_serve(home: Any, server: subprocess.Popen[str]) -> None:
    assert server.stdout is not None
    url = json.loads("".join(server.stdout.readline() for _ in range(5)))["url"]
    with home.open() as prism:
        assert home.log().count("asked to") == 1, "the daemon gave way"
        assert json.loads(home.cli("state", "Counter", "--json").out)["props"]["name"] == "Counter"
        assert prism.project("demo").fact("Counter", "name", "Prism").commit == 2
        query = urlencode({"query": "SELECT ?name { ?p prism:name ?name }", "format": "csv"})
        with urlopen(f"{url}sparql?{query}", timeout=20) as answer:
            assert answer.read().decode().split() == ["name", "Prism"]
        owner = json.loads(home.cli("owner", "status", "--json").out)["owner"]
        assert (owner["pid"], owner["door"], owner["url"]) == (server.pid, "serve", url)
        with pytest.raises(BusyError, match=f"process {server.pid}, `prism serve` at {url}"):
            home.open(exclusive=True)
        stopped = home.cli("owner", "stop")
        assert stopped.status == 7
        assert url in stopped.err
        server.send_signal(signal.SIGTERM)
        _, complaint = server.communicate(timeout=20)
        assert (server.returncode, complaint) == (0, "")
        assert prism.projects() == ["demo"], "a daemon takes over"
        assert home.pid() not in (0, server.pid)


def test_owner_status_and_stop(home: Any) -> None:
    with home.open() as prism:
        assert prism.projects() == ["demo"]
        owner = json.loads(home.cli("owner", "status", "--json").out)["owner"]
        assert (owner["pid"], owner["door"], owner["commit"]) == (home.pid(), "daemon", 1)
        assert owner["requests"] >= 1
        assert f"pid          {home.pid()}" in home.cli("owner", "status").out
        assert home.cli("owner", "stop").out == "stopped\n"
        assert home.pid() == 0
        assert "no process" in home.cli("owner", "status").out
        assert json.loads(home.cli("owner", "status", "--json").out) == {"owner": None}
        assert json.loads(home.cli("owner", "stop", "--json").out) == {"stopped": False}
        assert prism.projects() == ["demo"]


def test_a_door_that_asks_the_owner_loads_nothing_heavy(home: Any) -> None:
    home.open().close()
    script = (
        "import sys; from prism_rdf.cli import main; "
        f"assert main(['state', 'Counter', '--pid', 'demo', '--home', {str(home.path)!r}]) == 0; "
        "print(sorted({name.split('.')[0] for name in sys.modules}), file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    loaded = set(json.loads(ran.stderr.replace("'", '"')))
    assert "prism_rdf" in loaded
    assert loaded & HEAVY == set()
    assert home.log().count("owns the store") == 1, "it asked the owner there was"
