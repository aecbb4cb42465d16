"""The text of a version as a document, by the rule that its path calls for; a text is read once while it is fresh."""

from __future__ import annotations

import re
from collections import OrderedDict

from prism_rdf.ingest.blocks import BlockReader
from prism_rdf.ingest.documents import Document, parse
from prism_rdf.ingest.history import History
from prism_rdf.ingest.identifiers import SERIES, in_file_name, is_markdown, not_a_record
from prism_rdf.ingest.kinds import may_be_by_path
from prism_rdf.ingest.mapped import MappedReader, records
from prism_rdf.ingest.mapping import Mapping, Rule
from prism_rdf.ingest.texts import Unreadable

_SERIES = "|".join(SERIES).encode()
_MAY_BE_MARKED = re.compile(
    rb"^(?:\xef\xbb\xbf)?(?:(?:#[ \t]+)?(?:" + _SERIES + rb")(?:[-\s]|[ ]?#)?\d|#[ \t]+\d+\.[ \t]"
    rb"|#[ \t]+[A-Za-z][A-Za-z ]+:[ \t]|:?(?:id|number|adr|type|kind)[ \t]*:)",
    re.IGNORECASE | re.MULTILINE,
)
_MOST_KEPT = 512
RECORD = "#"  # joins the path of a file of records with the name of one of them


def may_hold_documents(path: str, mapping: Mapping) -> bool:
    """Return whether a file is looked at, judging by its path alone.

    >>> [may_hold_documents(path, Mapping()) for path in ("docs/a.md", "a.rst", "a.py")]
    [True, True, False]
    """
    return is_markdown(path) or path.lower().endswith(".rst") or mapping.rule_for(path) is not None


class Versions:
    """Reads the versions of one history."""

    def __init__(self, history: History, mapping: Mapping) -> None:
        self._history, self._mapping = history, mapping
        self._blocks, self._mapped = BlockReader(), MappedReader()
        self._fresh: OrderedDict[tuple[str, str], Document | Unreadable] = OrderedDict()
        self._records: dict[str, dict[str, bytes]] = {}

    def document(self, path: str, content: str) -> Document | Unreadable:
        """Return what a content says as the file of this path."""
        rule = self.rule(path)
        key = (content, f"{id(rule)}" if rule is not None else path.rsplit(".", 1)[-1].lower())
        found = self._fresh.get(key)
        if found is None:
            found = self._fresh[key] = self._read(path, content, rule)
            if len(self._fresh) > _MOST_KEPT:
                self._fresh.popitem(last=False)
        return found

    def rule(self, path: str) -> Rule | None:
        return self._mapping.rule_for(path.partition(RECORD)[0])

    def holds_records(self, path: str) -> bool:
        rule = self.rule(path)
        return rule is not None and rule.format in ("json", "jsonl") and bool(rule.record)

    def records(self, path: str, content: str | None) -> dict[str, bytes]:
        """Return the records of a file by name; none for a file that is gone. Raises Unreadable, OSError."""
        rule = self.rule(path)
        if content is None or rule is None:
            return {}
        return records(self._history.content(content), rule)

    def keep(self, path: str, found: dict[str, bytes]) -> None:
        """Keep the records of a file, to be asked for by their path."""
        self._records[path] = found

    def worth_reading(self, path: str, content: str, gone: bool) -> bool:
        """Return whether a file may be a document; ``gone``: it may also be one that lost its marks."""
        if self.rule(path) is not None:
            return True
        if not_a_record(path):
            return False
        if gone or in_file_name(path, decides=True) or may_be_by_path(path):
            return True
        try:
            return _MAY_BE_MARKED.search(self._history.content(content)) is not None
        except (OSError, Unreadable):
            return False

    def _read(self, path: str, content: str, rule: Rule | None) -> Document | Unreadable:
        try:
            file, _, record = path.partition(RECORD)
            known = self._records.get(file, {}).get(record) if rule is not None and record else None
            data = known if known is not None else self._history.content(content)
            if rule is None and is_markdown(path):
                return parse(data, self._blocks)
            return self._mapped.read(data, rule)
        except Unreadable as error:
            return error
        except OSError as error:
            return Unreadable(
                f"the file cannot be read: {error.strerror or error}",
                "each version of a document can be read",
                "mend its permissions, or fetch what the clone lacks",
            )
