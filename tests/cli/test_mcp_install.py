"""An agent's program is told of the store by one entry: the rest of its settings, and the file before, are kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return tmp_path


@pytest.mark.parametrize(
    ("client", "where", "key"),
    [
        ("claude-code", ".mcp.json", "mcpServers"),
        ("cursor", ".cursor/mcp.json", "mcpServers"),
        ("vscode", ".vscode/mcp.json", "servers"),
    ],
)
def test_the_entry_starts_the_server_for_the_project(run: Run, folder: Path, client: str, where: str, key: str) -> None:
    done = run("mcp", "install", "--client", client, "--pid", "demo", "--agent", "ada", "--read-only")
    assert done.status == 0, done.err
    entry = json.loads((folder / where).read_text())[key]["prism"]
    assert Path(entry["command"]).is_absolute()
    assert entry["args"][-5:] == ["--pid", "demo", "--agent", "ada", "--read-only"]
    assert "mcp" in entry["args"]
    assert entry.get("type") == ("stdio" if client == "vscode" else None)
    assert not list((folder / where).parent.glob("*.bak*")), "there was nothing before"


def test_the_rest_of_the_settings_and_the_file_before_are_kept(run: Run, folder: Path) -> None:
    path = folder / ".mcp.json"
    before = '{"theme": "därk", "mcpServers": {"other": {"command": "x"}}}'
    path.write_text(before, "utf-8")
    path.chmod(0o600)
    assert run("mcp", "install", "--client", "claude-code", "--pid", "demo").status == 0
    settings = json.loads(path.read_text("utf-8"))
    assert settings["theme"] == "därk"
    assert settings["mcpServers"].keys() == {"other", "prism"}
    assert (folder / ".mcp.json.bak").read_text("utf-8") == before
    assert {(folder / name).stat().st_mode & 0o777 for name in (".mcp.json", ".mcp.json.bak")} == {0o600}
    again = run("mcp", "install", "--client", "claude-code", "--pid", "demo")
    assert "so already" in again.out
    assert run("mcp", "install", "--client", "claude-code", "--pid", "other").status == 0
    assert sorted(each.name for each in folder.glob("*.bak*")) == [".mcp.json.bak", ".mcp.json.bak.1"]


def test_a_dry_run_shows_and_writes_nothing(run: Run, folder: Path) -> None:
    done = run("mcp", "install", "--client", "claude-desktop", "--pid", "demo", "--dry-run")
    assert json.loads(done.out)["mcpServers"].keys() == {"prism"}
    assert "claude_desktop_config.json" in done.err
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("text", ['{"mcpServers": {},}', "// mine\n{}", "[]", '{"mcpServers": []}', "\xff"])
def test_settings_that_are_not_understood_are_left_alone(run: Run, folder: Path, text: str) -> None:
    path = folder / ".mcp.json"
    path.write_text(text, "latin-1")
    done = run("mcp", "install", "--client", "claude-code", "--pid", "demo")
    assert done.status == 5
    assert "cannot be read as settings" in done.err
    assert path.read_text("latin-1") == text
    assert [each.name for each in folder.iterdir()] == [".mcp.json"]
