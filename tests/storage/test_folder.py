"""A store is made only where it may be, and read only by a release that can."""

from __future__ import annotations

import json

import pytest

from prism_rdf.errors import BadArgument, NotAStore, NotFoundError, StoreVersionError
from prism_rdf.storage.folder import open_folder


def test_a_new_home_becomes_a_store_and_stays_the_same(tmp_path):
    made = open_folder(tmp_path / "home", "acme", create=True)
    assert made.base == "urn:prism:acme"
    assert open_folder(tmp_path / "home", "acme", create=False) == made
    assert open_folder(tmp_path / "home", "other", create=True).base == "urn:prism:other"


def test_reading_makes_nothing(tmp_path):
    with pytest.raises(NotFoundError):
        open_folder(tmp_path / "home", "acme", create=False)
    assert not (tmp_path / "home").exists()


def test_a_folder_with_other_things_is_no_store(tmp_path):
    (tmp_path / "photo.jpg").write_text("x")
    with pytest.raises(NotAStore, match="not empty"):
        open_folder(tmp_path, "acme", create=True)
    assert [child.name for child in tmp_path.iterdir()] == ["photo.jpg"]


def test_a_file_is_no_home(tmp_path):
    (tmp_path / "home").write_text("x")
    with pytest.raises(NotAStore, match="is a file"):
        open_folder(tmp_path / "home", "acme", create=True)


def test_a_newer_store_is_left_alone(tmp_path):
    made = open_folder(tmp_path, "acme", create=True)
    (made.path / "prism.json").write_text(json.dumps({"format": 99, "tenant": "acme", "base": "urn:x"}))
    with pytest.raises(StoreVersionError, match="format 99"):
        open_folder(tmp_path, "acme", create=True)


def test_a_damaged_description_is_named(tmp_path):
    made = open_folder(tmp_path, "acme", create=True)
    (made.path / "prism.json").write_text("{")
    with pytest.raises(NotAStore, match=r"prism\.json"):
        open_folder(tmp_path, "acme", create=True)


def test_the_base_is_fixed(tmp_path):
    open_folder(tmp_path, "acme", create=True, base="https://data.example.org/x")
    with pytest.raises(BadArgument, match="has base"):
        open_folder(tmp_path, "acme", create=True, base="https://other.example.org")
    with pytest.raises(BadArgument, match="not usable as a base"):
        open_folder(tmp_path, "other", create=True, base="ends/with/")


@pytest.mark.parametrize("tenant", ["../up", "", "a b", "-x", "a/b"])
def test_a_tenant_that_could_leave_the_home_is_refused(tmp_path, tenant):
    with pytest.raises(BadArgument):
        open_folder(tmp_path, tenant, create=True)
