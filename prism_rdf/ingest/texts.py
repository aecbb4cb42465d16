"""Bytes into text, and what can be wrong with them; what a text says is read elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

MAX_BYTES = 2 * 1024 * 1024
ENCODINGS = ("utf-8", "latin-1")

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


class Unreadable(Exception):
    """A version of a document that cannot be read: the thing, the rule and the mend; ``line`` 0 when unknown."""

    def __init__(self, reason: str, rule: str, mend: str, line: int = 0) -> None:
        super().__init__(reason)
        self.reason, self.rule, self.mend, self.line = reason, rule, mend, line


def too_large(size: int) -> Unreadable:
    return Unreadable(
        f"the file has {size:,} bytes",
        f"a document has at most {MAX_BYTES:,}",
        "split it, or move its data into a file of another kind",
    )


def decode(data: bytes, encodings: Sequence[str] = ENCODINGS[:1]) -> str:
    """Return the text of a file with ``\\n`` line ends and no byte order mark; raise Unreadable.

    It is UTF-8, or else Latin-1 where ``encodings`` says so: then every byte is a letter, and nothing is refused.

    >>> decode(b"\\xef\\xbb\\xbfa\\r\\nb"), decode(b"\\xdcbung", ("utf-8", "latin-1"))
    ('a\\nb', 'Übung')
    """
    if len(data) > MAX_BYTES:
        raise too_large(len(data))
    if b"\0" in data and not data.startswith(_UTF_16):
        raise Unreadable(
            "the file is binary", "a document is text in UTF-8", "give it another suffix, or write it again as text"
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if "latin-1" not in encodings or data.startswith(_UTF_16):
            raise _not_utf_8(data, error) from error
        text = data.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _not_utf_8(data: bytes, error: UnicodeDecodeError) -> Unreadable:
    line = data.count(b"\n", 0, error.start) + 1
    return Unreadable(
        f"the file is not UTF-8: byte 0x{data[error.start]:02x} in line {line}",
        "a document is text in UTF-8",
        "save it as UTF-8, for instance with `iconv -f LATIN1 -t UTF-8`,"
        ' or allow `encodings = ["utf-8", "latin-1"]` in a mapping',
        line,
    )
