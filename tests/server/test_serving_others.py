"""``prism serve`` for other machines, as a process: not without a token, and then to who has one alone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from prism_rdf.prism import Prism

pytestmark = pytest.mark.slow  # each starts a program


def prism(home: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(home, *args), capture_output=True, text=True, env=environment(), timeout=60)


def command(home: Path, *args: str) -> list[str]:
    return [sys.executable, "-m", "prism_rdf.cli", *args, "--home", str(home), "--json"]


def environment() -> dict[str, str]:
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("PRISM_")},
        "PRISM_OWNER": "never",
    }


def status_of(url: str, token: str = "") -> int:
    try:
        with urlopen(Request(url, headers={"Authorization": f"Bearer {token}"} if token else {}), timeout=20) as answer:
            return int(answer.status)
    except HTTPError as error:
        with error:
            return error.code


def test_other_machines_need_a_token(tmp_path: Path) -> None:
    with Prism.open(tmp_path, exclusive=True) as store:
        store.project("demo").entity("ADR", {"number": "ADR-001", "title": "A", "status": "Accepted"})
    for args in (("--host", "0.0.0.0"), ("--require-tokens",)):
        refused = prism(tmp_path, "serve", "--port", "0", *args)
        assert refused.returncode == 5
        assert "prism token create" in json.loads(refused.stderr)["error"]["mend"]
    secret = json.loads(prism(tmp_path, "token", "create", "ada", "--scope", "read").stdout)["secret"]
    with subprocess.Popen(
        command(tmp_path, "serve", "--port", "0", "--host", "0.0.0.0"),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment(),
    ) as server:
        try:
            assert server.stdout is not None
            port = json.loads("".join(server.stdout.readline() for _ in range(5)))["url"].rstrip("/").rsplit(":", 1)[1]
            url = f"http://127.0.0.1:{port}"
            assert status_of(f"{url}/api/-/projects") == 401
            assert status_of(f"{url}/mcp") == 401
            assert status_of(f"{url}/api/-/projects", secret) == 200
            assert status_of(f"{url}/api/demo/list_types", secret + "x") == 401
            assert prism(tmp_path, "token", "revoke", "ada").returncode == 0
            assert status_of(f"{url}/api/-/projects", secret) == 401
            server.send_signal(signal.SIGTERM)
            assert server.wait(30) == 0
        finally:
            server.kill()
