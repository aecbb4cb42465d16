"""YAML front matter as plain text values, safely; what the keys mean is not known here."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import yaml

MAX_CHARACTERS = 64 * 1024
MAX_ALIASES = 50

_KEY = re.compile(r"[\"']?[A-Za-z_][\w .-]*[\"']?\s*:(?:\s|$)")

Value = str | list["Value"] | dict[str, "Value"]


class BadFrontMatter(Exception):
    """What stands between the dashes cannot be read; ``line`` counts from 1 in the whole document."""

    def __init__(self, reason: str, line: int, rule: str, mend: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.reason, self.line, self.rule, self.mend = reason, line, rule, mend


@dataclass(frozen=True)
class FrontMatter:
    """The fields, all scalars as the text that was written; ``lines`` is how many lines it takes with its dashes."""

    fields: dict[str, Value] = field(default_factory=dict)
    lines: int = 0
    texts: tuple[str, ...] = ()

    def line_of(self, key: str) -> int:
        """Return the line of a top-level key, 1 when it is not there."""
        return next((n for n, text in enumerate(self.texts, start=2) if text.startswith(f"{key}:")), 1)

    def text(self, key: str) -> str:
        """Return the first line of a scalar field; empty when there is none or it is a list."""
        value = self.fields.get(key, "")
        return value.strip().partition("\n")[0].strip() if isinstance(value, str) else ""


def split(text: str) -> tuple[FrontMatter, str]:
    """Return (front matter, the rest) of a document with ``\\n`` line ends; raise BadFrontMatter.

    A first line of dashes that is followed by a blank line is a rule across the page, not front matter.
    """
    lines = text.split("\n")
    if lines[0].rstrip() != "---" or len(lines) < 2 or not lines[1].strip():
        return FrontMatter(), text
    end = next((n for n, line in enumerate(lines[1:], start=1) if line.rstrip() in ("---", "...")), 0)
    if not end:
        if not _KEY.match(lines[1]):
            return FrontMatter(), text
        raise BadFrontMatter(
            "the front matter is not closed",
            1,
            "front matter stands between two lines of three dashes",
            "add a line --- after its last field",
        )
    inner = lines[1:end]
    return FrontMatter(_load("\n".join(inner)), end + 1, tuple(inner)), "\n".join(lines[end + 1 :])


def _load(text: str) -> dict[str, Value]:
    if len(text) > MAX_CHARACTERS:
        raise _refused(f"the front matter has {len(text)} characters", f"it has at most {MAX_CHARACTERS}")
    try:
        if "*" in text:
            aliases = sum(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=yaml.BaseLoader))
            if aliases > MAX_ALIASES:
                raise _refused(f"the front matter uses {aliases} aliases", f"it uses at most {MAX_ALIASES}")
        # BaseLoader builds text, lists and mappings only: no objects, and no 012 read as 10 or `no` as False.
        loaded = yaml.load(text, Loader=yaml.BaseLoader)
    except yaml.YAMLError as error:
        raise _not_yaml(error) from error
    except RecursionError as error:
        raise _refused("the front matter is nested too deep", "a field is a text or a list of texts") from error
    if loaded is None or loaded == "":
        return {}
    if not isinstance(loaded, dict):
        raise BadFrontMatter(
            f"the front matter is a {'list' if isinstance(loaded, list) else 'text'}, not fields",
            2,
            "front matter is YAML with one `key: value` per field",
            "write fields such as `status: Accepted`, or leave a blank line after the first dashes",
        )
    return {str(key): value for key, value in loaded.items()}


def _not_yaml(error: yaml.YAMLError) -> BadFrontMatter:
    mark = getattr(error, "problem_mark", None)
    reason = " ".join(str(getattr(error, "problem", None) or error).split())
    return BadFrontMatter(
        f"the front matter is not YAML: {reason}",
        mark.line + 2 if mark is not None else 2,
        "front matter is YAML with one `key: value` per field",
        "mend that line; put quotes around a value that holds `: `, # or a bracket",
    )


def _refused(reason: str, rule: str) -> BadFrontMatter:
    return BadFrontMatter(reason, 1, rule, "move what is not about the document as a whole into its text")
