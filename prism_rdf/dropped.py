"""Files of types that lie in the folder of a store, ``types/{pid}/*.ttl``: taken in when it is opened and they changed.

A file that does not pass leaves what was there before, and is told of. Taking one away from the folder removes nothing:
types are removed by name.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from prism_rdf.canonical.texts import KnownText, texts_of
from prism_rdf.errors import BadArgument, PrismError
from prism_rdf.namespaces import Names

if TYPE_CHECKING:
    from prism_rdf.prism import Prism

_LOG = logging.getLogger("prism_rdf.types")


def take_in(prism: Prism, folder: Path) -> dict[str, dict[str, str]]:
    """Add the files that changed since they were last read, and return by project and file why one was not taken in."""
    problems: dict[str, dict[str, str]] = {}
    for place in sorted(folder.iterdir()) if folder.is_dir() else ():
        if place.is_dir() and not place.name.startswith("."):
            try:
                found = _of_project(prism, place)
            except PrismError as error:
                found = {place.name: error.message}
            for name, why in found.items():
                _LOG.error("types of %s in %s are not taken in: %s", place.name, place / name, why)
            problems[place.name] = found
    return problems


def _of_project(prism: Prism, place: Path) -> dict[str, str]:
    problems: dict[str, str] = {}
    changed: dict[str, str] = {}
    known = texts_of(prism.store, Names(prism.base, prism.project(place.name).pid))
    for name, text in _read(place, problems):
        if _is_new(name, text, known):
            changed[name] = text
    together = _add(prism, place, changed) if changed else ""
    if together and len(changed) > 1:  # one of them is at fault, not all
        problems |= {name: why for name, text in changed.items() if (why := _add(prism, place, {name: text}))}
    elif together:
        problems |= dict.fromkeys(changed, together)
    return problems


def _read(place: Path, problems: dict[str, str]) -> Iterator[tuple[str, str]]:
    for file in sorted(place.glob("*.ttl")):
        try:
            yield file.name, file.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            problems[file.name] = f"it cannot be read: {error}"


def _is_new(name: str, text: str, known: tuple[KnownText, ...]) -> bool:
    """Return whether a file says what it did not say when it was last read; what others added since stays then."""
    versions = [each for each in known if each.file_name == name]
    read = [each for each in versions if each.source]
    return read[-1].content != text if read else all(each.content != text for each in versions)


def _add(prism: Prism, place: Path, texts: Mapping[str, str]) -> str:
    """Add texts together; return why they are not taken in, empty when they are."""
    try:
        receipt = prism.project(place.name).add_types(texts, source=f"types/{place.name}")
    except BadArgument as error:
        return f"{error.message}: {error.rule}"
    except PrismError as error:
        more = f"; {error.mend}" if error.mend else ""
        return f"{error.message}{more}"
    _LOG.info("types of %s are taken in: %s, commit %s", place.name, ", ".join(texts), receipt["commit"])
    return ""
