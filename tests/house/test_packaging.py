"""The installed package works from any working directory: from a wheel, and from an editable install."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

pytestmark = [pytest.mark.packaging, pytest.mark.slow]

PROGRAM = """
import json, prism_rdf, prism_server
from pathlib import Path
from prism_rdf import resources
names = [name for folder in resources.FOLDERS for end in (".ttl", ".rq") for name in resources.names(folder, end)]
print(json.dumps({
    "version": prism_rdf.__version__,
    "package": prism_rdf.__file__,
    "server": prism_server.__file__,
    "pages": [path.name for path in sorted(Path(prism_server.__file__).parent.glob("[st]*/*"))],
    "shipped": sorted(name for name in names if resources.text(name)),
}))
"""


def _shipped(checkout: Path) -> list[str]:
    return sorted(
        file.relative_to(checkout).as_posix()
        for folder in ("ontology", "shapes", "queries")
        for file in (checkout / folder).rglob("*")
        if file.suffix in {".ttl", ".rq"}
    )


@pytest.fixture(scope="module")
def source(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what git would hand out, so that neither build leaves anything in the checkout."""
    copy = tmp_path_factory.mktemp("source") / "prism-rdf"
    ignored = shutil.ignore_patterns(".*", "build", "dist", "*.egg-info", "__pycache__")
    shutil.copytree(checkout, copy, ignore=ignored)
    return copy


@pytest.fixture(scope="module", params=["wheel", "editable"])
def python(request: pytest.FixtureRequest, source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a fresh environment in which the package was installed in the way of the parameter."""
    place = tmp_path_factory.mktemp(request.param)
    venv.create(place / "venv", with_pip=True)
    interpreter = place / "venv" / "bin" / "python"
    pip = [str(interpreter), "-m", "pip", "-q", "--disable-pip-version-check"]
    if request.param == "wheel":
        _run([sys.executable, "-m", "build", "--wheel", "--outdir", str(place / "dist"), str(source)], place)
        (wheel,) = (place / "dist").glob("prism_rdf-*.whl")
        _run([*pip, "install", str(wheel)], place)
    else:
        _run([*pip, "install", "-e", str(source)], place)
    return interpreter


def _run(command: list[str], cwd: Path, **extra: str) -> str:
    environ = {key: value for key, value in os.environ.items() if not key.startswith(("PRISM_", "PYTHON"))}
    environ["PRISM_OWNER_IDLE"] = "2"  # seconds: the daemon that a command starts shall not outlive the test by much
    done = subprocess.run(command, cwd=cwd, env=environ | extra, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command} failed:\n{done.stdout}{done.stderr}"
    return done.stdout


def test_every_shipped_file_and_the_server_are_found(python: Path, checkout: Path, tmp_path: Path) -> None:
    answer = json.loads(_run([str(python), "-c", PROGRAM], tmp_path))
    assert answer["shipped"] == _shipped(checkout)
    assert len(answer["shipped"]) >= 10
    assert answer["pages"] == [path.name for path in sorted((checkout / "server").glob("[st]*/*"))]
    assert len(answer["pages"]) >= 2
    assert not answer["package"].startswith(str(checkout))
    assert not answer["server"].startswith(str(checkout))


def test_the_command_says_its_version(python: Path, tmp_path: Path) -> None:
    version = _run([str(python), "-c", "import prism_rdf; print(prism_rdf.__version__)"], tmp_path).strip()
    assert version in _run([str(python.parent / "prism"), "version"], tmp_path)


def test_the_types_are_listed_in_a_new_store(python: Path, tmp_path: Path) -> None:
    program = (
        "from prism_rdf import Prism\n"
        "with Prism.open('home') as prism:\n"
        "    print(len(prism.project('demo').list_types()))\n"
    )
    assert _run([str(python), "-c", program], tmp_path).strip() == "14"
