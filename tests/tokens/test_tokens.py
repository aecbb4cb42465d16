"""A token's secret is shown once, only its hash is kept, and what it may ends when it is revoked or expires."""

from __future__ import annotations

import json
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from prism_rdf.clock import Instant, ManualClock
from prism_rdf.errors import BusyError, NotFoundError, PrismError, RefusedError
from prism_rdf.tokens.keeping import FILE, Tokens

START = Instant.parse("2026-01-01T00:00:00Z")
BAD: dict[str, dict[str, Any]] = {
    "unknown scope": {"scopes": ["read", "root"]},
    "no scope": {"scopes": []},
    "no namespace": {"namespaces": []},
    "namespace that is none": {"namespaces": ["a/b"]},
    "store's own namespace": {"namespaces": ["-"]},
    "tier": {"tier": 0},
    "rate": {"rate": 0},
    "rate too high": {"rate": 10_000_000},
    "expires before now": {"expires": "2025"},
    "expires is no time": {"expires": "soon"},
}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START)


@pytest.fixture
def tokens(tmp_path: Path, clock: ManualClock) -> Tokens:
    return Tokens(tmp_path, clock)


def test_only_the_hash_of_a_secret_is_kept(tokens: Tokens, tmp_path: Path) -> None:
    token, secret = tokens.create("ada", scopes=["read", "write"], namespaces=["demo"])
    file = tmp_path / FILE
    assert len(secret) >= 43
    assert secret not in file.read_text()
    assert secret.removeprefix("prism_") not in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert tokens.find(secret) == token
    assert [each.name for each in tmp_path.iterdir()] == [FILE]
    assert token.digest not in json.dumps(token.as_dict(START))


def test_another_process_sees_a_token_at_once_and_its_end(tokens: Tokens, tmp_path: Path, clock: ManualClock) -> None:
    other = Tokens(tmp_path, clock)
    assert other.active() == ()
    token, secret = tokens.create("ada")
    assert other.find(secret) == token
    assert tokens.revoke(token.id).revoked_at is not None
    assert other.find(secret) is None
    assert [each.status(clock.now()) for each in other.all()] == ["revoked"]


def test_a_token_ends_with_its_last_day(tokens: Tokens, clock: ManualClock) -> None:
    _, secret = tokens.create("ada", expires="2026-01-02")
    clock.advance(days=1)
    assert tokens.find(secret) is not None
    clock.advance(days=1)
    assert tokens.find(secret) is None
    assert tokens.active() == ()


def test_a_name_means_one_active_token(tokens: Tokens) -> None:
    tokens.create("ada")
    with pytest.raises(RefusedError, match="already"):
        tokens.create("ada")
    tokens.revoke("ada")
    tokens.create("ada")
    with pytest.raises(NotFoundError, match="bob"):
        tokens.revoke("bob")


@pytest.mark.parametrize("options", BAD.values(), ids=BAD.keys())
def test_what_a_token_cannot_be_is_refused(tokens: Tokens, options: dict[str, Any]) -> None:
    with pytest.raises(PrismError) as caught:
        tokens.create("ada", **options)
    assert caught.value.rule
    assert caught.value.mend
    assert tokens.all() == ()


@pytest.mark.parametrize("secret", ["", "prism_", "prism_" + "a" * 43, "\ud800", "x" * 100_000])
def test_what_was_never_given_is_no_token(tokens: Tokens, secret: str) -> None:
    tokens.create("ada")
    assert tokens.find(secret) is None


@pytest.mark.parametrize(
    "text", ["", "[]", '{"format": 2, "tokens": []}', '{"format": 1, "tokens": [{"id": "x"}]}', "\x00"]
)
def test_a_file_that_cannot_be_read_lets_nobody_in(tokens: Tokens, tmp_path: Path, text: str) -> None:
    _, secret = tokens.create("ada")
    (tmp_path / FILE).write_text(text)
    with pytest.raises(BusyError, match=FILE):
        tokens.find(secret)


def test_many_make_tokens_at_once_and_none_is_lost(tmp_path: Path, clock: ManualClock) -> None:
    def make(name: str) -> None:
        Tokens(tmp_path, clock).create(name)

    makers = [threading.Thread(target=make, args=(f"t{number}",)) for number in range(16)]
    for maker in makers:
        maker.start()
    for maker in makers:
        maker.join()
    assert {each.name for each in Tokens(tmp_path, clock).all()} == {f"t{number}" for number in range(16)}
