"""Where a store keeps its tokens: ``tokens.json`` in its folder, of which only hashes of the secrets are part."""

from __future__ import annotations

import fcntl
import hmac
import json
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from prism_rdf.clock import Clock, Instant
from prism_rdf.errors import BusyError, NotFoundError, PrismError, RefusedError
from prism_rdf.tokens.token import Token, digest_of, make, new_secret

FILE = "tokens.json"
_FORMAT = 1
_Seen = tuple[int, int, int]  # when it changed (ns), size, inode


class Tokens:
    """The tokens of the store in a folder; of none they are kept in memory. Many threads and processes may use one."""

    def __init__(self, folder: Path | None, clock: Clock) -> None:
        self._file = None if folder is None else folder / FILE
        self._clock = clock
        self._lock = threading.Lock()
        self._known: tuple[Token, ...] = ()
        self._seen: _Seen | None = None

    def all(self) -> tuple[Token, ...]:
        """Return every token that was ever made, oldest first. Raises BusyError when the file cannot be read."""
        with self._lock:
            self._refresh()
            return self._known

    def active(self) -> tuple[Token, ...]:
        """Return the tokens that may be used now."""
        now = self._clock.now()
        return tuple(token for token in self.all() if token.status(now) == "active")

    def create(self, name: str, **options: Any) -> tuple[Token, str]:
        """Make a token and return it with its secret, which is kept nowhere; the options are those of ``make``.

        Raises BadArgument, BadTime, and RefusedError for a name that an active token has.
        """
        secret = new_secret()
        token = make(name, secret, self._clock.now(), **options)
        with self._changing() as known:
            if any(each.name == name and each.status(token.created_at) == "active" for each in known):
                raise RefusedError(
                    f"there is an active token {name!r} already",
                    rule="a name in the audit log means one token at a time",
                    mend=f"choose another name, or first: prism token revoke {name}",
                )
            self._write((*known, token))
        return token, secret

    def revoke(self, ref: str) -> Token:
        """End a token by name or id, from the next request on. Raises NotFoundError when none such is active."""
        now = self._clock.now()
        with self._changing() as known:
            found = [each for each in known if ref in (each.name, each.id) and each.status(now) != "revoked"]
            if not found:
                names = sorted({each.name for each in known if each.status(now) == "active"})
                raise NotFoundError(
                    f"there is no token {ref!r} to revoke",
                    rule="a token is named by its name or its id",
                    mend=f"active are: {', '.join(names)}" if names else "there is no active token",
                )
            last = replace(found[-1], revoked_at=now)
            self._write(tuple(last if each is found[-1] else each for each in known))
        return last

    def find(self, secret: str) -> Token | None:
        """Return the active token of a secret; how long that takes does not depend on how much of it is right."""
        digest, now, found = digest_of(secret), self._clock.now(), None
        for token in self.all():
            if hmac.compare_digest(token.digest, digest):
                found = token
        return found if found is not None and found.status(now) == "active" else None

    @contextmanager
    def _changing(self) -> Iterator[tuple[Token, ...]]:
        """Yield the tokens as they are, while no other process changes them."""
        with self._lock:
            if self._file is None:
                yield self._known
                return
            handle = os.open(self._file.parent, os.O_RDONLY)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX)
                self._refresh()
                yield self._known
            finally:
                os.close(handle)

    def _write(self, tokens: Sequence[Token]) -> None:
        """Keep the tokens: readable by their owner only, whole or not at all, on disk when this returns."""
        if self._file is not None:
            fresh = self._file.with_name(f"{FILE}.{os.getpid()}.fresh")
            handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump({"format": _FORMAT, "tokens": [_kept(token) for token in tokens]}, file, indent=1)
                file.flush()
                os.fsync(file.fileno())
            os.replace(fresh, self._file)
        self._known = tuple(tokens)
        self._seen = self._look()

    def _look(self) -> _Seen | None:
        if self._file is None:
            return None
        try:
            found = self._file.stat()
        except FileNotFoundError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _refresh(self) -> None:
        seen = self._look()
        if self._file is None or seen == self._seen:
            return
        self._known = () if seen is None else _read(self._file)
        self._seen = seen


def _kept(token: Token) -> dict[str, Any]:
    return {
        **vars(token),
        "scopes": sorted(token.scopes),
        "namespaces": None if token.namespaces is None else sorted(token.namespaces),
        **{name: _text(getattr(token, name)) for name in ("created_at", "expires_at", "revoked_at")},
    }


def _text(instant: Instant | None) -> str | None:
    return None if instant is None else instant.iso()


def _read(file: Path) -> tuple[Token, ...]:
    """Return the tokens of a file; what cannot be read lets nobody in."""
    try:
        kept = json.loads(file.read_text("utf-8"))
        if kept["format"] != _FORMAT:
            raise ValueError(f"it is of format {kept['format']}")
        return tuple(_token(each) for each in kept["tokens"])
    except (OSError, ValueError, KeyError, TypeError, PrismError) as error:
        raise BusyError(
            f"the tokens in {file.name} cannot be read: {error}",
            rule="without them nobody is let in",
            mend="restore the file in the store's folder, or remove it and make new tokens",
        ) from error


def _token(kept: dict[str, Any]) -> Token:
    times = {name: kept[name] and Instant.parse(kept[name]) for name in ("created_at", "expires_at", "revoked_at")}
    bound = kept["namespaces"]
    sets = {"scopes": frozenset(kept["scopes"]), "namespaces": None if bound is None else frozenset(bound)}
    return Token(**{**kept, **sets, **times})
