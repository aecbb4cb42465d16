"""Each error has its heading in docs/errors.md, and the table there says what the classes say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from prism_server import failures

from prism_rdf import errors
from prism_rdf.errors import PrismError

PAGE = (Path(__file__).parents[2] / "docs" / "errors.md").read_text("utf-8")
HEADINGS = re.findall(r"^## ([a-z-]+)$", PAGE, re.MULTILINE)


def _tree(root: type[PrismError]) -> list[type[PrismError]]:
    return [root, *(below for child in root.__subclasses__() for below in _tree(child))]


OF_ALL_DOORS = [kind for kind in _tree(PrismError) if kind.__module__ == errors.__name__]
OF_HTTP = [kind for kind in _tree(PrismError) if kind.__module__ == failures.__name__]


def test_headings_are_exactly_the_codes() -> None:
    codes = [kind.code for kind in [*OF_ALL_DOORS, *OF_HTTP]]
    assert len(OF_ALL_DOORS) >= 14
    assert len(OF_HTTP) == 9
    assert len(set(codes)) == len(codes)
    assert sorted(HEADINGS) == sorted(codes)


@pytest.mark.parametrize("kind", OF_ALL_DOORS, ids=lambda kind: kind.code)
def test_table_shows_class_exit_code_and_http_status(kind: type[PrismError]) -> None:
    row = f"| [{kind.code}](#{kind.code}) | `{kind.__name__}` | {kind.exit_status} | {kind.http_status} |"
    assert row in PAGE
