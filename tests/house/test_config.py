"""Settings come from arguments, then the environment, then defaults."""

from __future__ import annotations

from pathlib import Path

import pytest

from prism_rdf import config
from prism_rdf.errors import BadArgument


def test_an_argument_wins_over_the_environment() -> None:
    settings = config.resolve("/a", "t1", "p1", environ={"PRISM_HOME": "/b", "PRISM_TENANT": "t2", "PRISM_PID": "p2"})
    assert settings == config.Settings(Path("/a"), "t1", "p1")


def test_the_environment_wins_over_the_defaults() -> None:
    settings = config.resolve(environ={"PRISM_HOME": "/b", "PRISM_TENANT": "t2", "PRISM_PID": "p2"})
    assert settings == config.Settings(Path("/b"), "t2", "p2")


@pytest.mark.parametrize(
    ("data_home", "expected"),
    [
        ("/data", "/data/prism"),
        ("", "~/.local/share/prism"),
        ("relative/is/to/be/ignored", "~/.local/share/prism"),
    ],
)
def test_the_default_home_follows_the_xdg_rules(data_home: str, expected: str) -> None:
    settings = config.resolve(environ={"XDG_DATA_HOME": data_home, "PRISM_TENANT": "", "PRISM_PID": ""})
    assert settings == config.Settings(Path(expected).expanduser(), "default", "")


@pytest.mark.parametrize(("tenant", "pid"), [("../other", "p"), ("t", "a/b"), ("-", "p"), ("t", "-")])
def test_a_name_that_could_leave_its_folder_is_refused(tenant: str, pid: str) -> None:
    with pytest.raises(BadArgument, match="not a usable name"):
        config.resolve("/a", tenant, pid, environ={})


def test_a_missing_project_says_how_to_give_one() -> None:
    with pytest.raises(BadArgument) as caught:
        config.resolve("/a", environ={}).require_pid()
    assert "--pid" in caught.value.mend
