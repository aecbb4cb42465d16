"""gzip for clients that take it, piece by piece, so that streams stay streams; what is small is left as it is."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

from werkzeug.datastructures import Accept

SMALLEST = 1024  # bytes; below that the frame of gzip outweighs what it saves
_GZIP = 16 + zlib.MAX_WBITS
_LEVEL = 4  # text shrinks to an eighth or so, at twice the speed of the default


def takes_gzip(accepted: Accept) -> bool:
    return accepted.quality("gzip") > 0


def compressed(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the pieces compressed; what interrupts them interrupts this, so that a broken answer stays broken."""
    packer = zlib.compressobj(_LEVEL, wbits=_GZIP)
    for piece in pieces:
        if packed := packer.compress(piece):
            yield packed
    yield packer.flush()
