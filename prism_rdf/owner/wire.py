"""Messages over one connection: a length, a kind, then JSON or bytes; what they mean is not known here.

The codec, and with it the engine, is loaded only when a value comes that JSON lacks.
"""

from __future__ import annotations

import json
import select
import socket
import struct
from typing import Any

_PEER = struct.Struct("3i")  # its process, user and group
_HEADER = struct.Struct(">QB")  # length of what follows, kind
_JSON, _BYTES = 0, 1
_PIECE = 1 << 20  # bytes to read at once

TAG = "$prism"  # the key of what JSON lacks: {"$prism": kind, "v": …}
Message = dict[str, Any]


def dumps(value: Any) -> bytes:
    """Return the value as JSON. Raises BadArgument for one that has no form on the wire."""
    try:
        text = json.dumps(value, default=_tagged, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:  # a key that is no text, a list that holds itself
        from prism_rdf.owner.codec import unspeakable

        raise unspeakable(str(error)) from error
    return text.encode("utf-8", "surrogatepass")


def loads(data: bytes) -> Any:
    """Return the value that ``dumps`` was given. Raises BadArgument for what it never wrote."""
    return json.loads(data.decode("utf-8", "surrogatepass"), object_hook=_untagged)


def _tagged(value: Any) -> Any:
    from prism_rdf.owner.codec import tagged

    return tagged(value)


def _untagged(found: dict[str, Any]) -> Any:
    if TAG not in found:
        return found
    from prism_rdf.owner.codec import untagged

    return untagged(found)


class Channel:
    """One end of a connection; one thread at a time uses it."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._reader = connection.makefile("rb")

    def send(self, message: Message) -> None:
        """Send one message whole. Raises OSError when the other end is gone: it did not get all of it."""
        self._send(_JSON, dumps(message))

    def send_bytes(self, data: bytes) -> None:
        """Send bytes as they are. Raises OSError as ``send`` does."""
        self._send(_BYTES, data)

    def receive(self) -> Message | bytes | None:
        """Return the next message, or None when the other end closed between two. Raises OSError when it broke off."""
        header = self._reader.read(_HEADER.size)
        if not header:
            return None
        if len(header) < _HEADER.size:
            raise ConnectionResetError("the connection broke off")
        length, kind = _HEADER.unpack(header)
        body = self._read(length)
        if kind == _BYTES:
            return body
        message = loads(body)
        assert isinstance(message, dict)
        return message

    def wait_at_most(self, seconds: float | None) -> None:
        """Raise TimeoutError where a message takes longer than this; None: wait for ever."""
        self._connection.settimeout(seconds)

    def has_message(self, seconds: float) -> bool:
        """Return whether the next message, or the end, comes within this time; asked between two messages."""
        return bool(select.select([self._connection], [], [], seconds)[0])

    def is_gone(self) -> bool:
        """Return whether the other end has closed, though no message is waited for."""
        try:
            return self._connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True

    def peer(self) -> str:
        """Return who is at the other end, where the system tells."""
        try:
            return f"process {_PEER.unpack(self._connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]}"
        except (AttributeError, OSError):
            return "another process"

    def hear_no_more(self) -> None:
        """Let a reader that waits for the next message see the end; what is being sent still goes out."""
        try:
            self._connection.shutdown(socket.SHUT_RD)
        except OSError:
            return  # it is closed already

    def close(self) -> None:
        self._reader.close()
        self._connection.close()

    def _send(self, kind: int, data: bytes) -> None:
        if len(data) < _PIECE:
            self._connection.sendall(_HEADER.pack(len(data), kind) + data)
        else:
            self._connection.sendall(_HEADER.pack(len(data), kind))
            self._connection.sendall(data)

    def _read(self, length: int) -> bytes:
        pieces = []
        while length:
            piece = self._reader.read(min(length, _PIECE))
            if not piece:
                raise ConnectionResetError("the connection broke off")
            pieces.append(piece)
            length -= len(piece)
        return b"".join(pieces)
