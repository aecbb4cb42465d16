"""The files that ship with the package: ontology/, shapes/ and queries/; nothing of a user's store is found here.

In a wheel they lie inside the package; in a checkout or an editable install they lie beside it.
"""

from __future__ import annotations

from pathlib import Path

from prism_rdf.errors import NotFoundError

FOLDERS = ("ontology", "shapes", "queries")

_PACKAGE = Path(__file__).parent


def path(name: str) -> Path:
    """Return where a shipped file or folder lies on this machine.

    ``name`` is relative, with forward slashes, and starts with one of FOLDERS. Raises NotFoundError.

    >>> path("ontology").is_dir()
    True
    """
    parts = name.strip("/").split("/")
    if parts[0] in FOLDERS and ".." not in parts:
        for root in (_PACKAGE, _PACKAGE.parent):
            found = root.joinpath(*parts)
            if found.exists():
                return found
    raise NotFoundError(
        f"the package has no file {name!r}",
        rule=f"shipped files lie in {', '.join(FOLDERS)}",
        mend="check the name; if it is right, the installation is incomplete: install prism-rdf again",
    )


def text(name: str) -> str:
    """Return the content of a shipped file. Raises NotFoundError."""
    return path(name).read_text(encoding="utf-8")


def names(folder: str, suffix: str) -> list[str]:
    """Return the names of the shipped files under a folder, at any depth, sorted; each is good for `text`.

    >>> all(name.startswith("ontology/") and name.endswith(".ttl") for name in names("ontology", ".ttl"))
    True
    """
    top = path(folder)
    prefix = folder.strip("/")
    found = (file.relative_to(top).as_posix() for file in top.rglob(f"*{suffix}") if file.is_file())
    return sorted(f"{prefix}/{name}" for name in found)
