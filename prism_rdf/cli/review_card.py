"""How one candidate looks: what it proposes, the words that speak for it, what is believed now; nothing is decided."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from prism_rdf.cli.terminal import Part, interval, one_line, print_line, value_text

_SHORT = 8
_MARK = "bold underline"
_STYLES = {"pending": "yellow", "promoted": "green", "rejected": "red", "withdrawn": "dim"}


def print_card(found: Mapping[str, Any], progress: str = "") -> None:
    """Print a candidate as ``Project.candidate`` has it; ``progress`` such as 3 of 17 comes first."""
    head: list[Part] = [(f"{progress}  ", "dim")] if progress else []
    head += [(found["kind"], ""), (f"  {found['uuid'][:_SHORT]}  ", "dim"), (found["status"], _STYLES[found["status"]])]
    if found["confidence"] is not None:
        head.append((f"  confidence {found['confidence']:.2f}", "dim"))
    print_line(*head)
    print_line((found["proposal"], "bold"), indent=2)
    print_line((interval(found["valid_from"], found["valid_until"]), "dim"), indent=2)
    _print_section("believed", [[(line, "")] for line in found["believed"]] or [[("nothing of the kind", "dim")]])
    _print_section("because", list(_clues(found)))
    if found["rulings"]:
        _print_section("ruled", [[(_ruling(each), "")] for each in found["rulings"]])
    if found.get("misfit") and found["status"] == "pending":
        print_line((one_line(found["misfit"]), "red"), indent=2)


def _print_section(title: str, lines: list[list[Part]]) -> None:
    print_line((title, "dim"))
    for line in lines:
        print_line(*line, indent=2)


def _clues(found: Mapping[str, Any]) -> Iterator[list[Part]]:
    wanted = _words(found)
    for clue in found["clues"]:
        if clue["quote"]:
            yield [("“", "dim"), *marked(one_line(clue["quote"]), wanted), ("”", "dim")]
        where = _where(clue)
        yield [(f"  {where}" if clue["quote"] else where, "dim")]


def _where(clue: Mapping[str, Any]) -> str:
    source = clue["source"] or clue["cause_memory"] or "no source"
    if clue["start_offset"] is not None:
        source += f" at {clue['start_offset']}-{clue['end_offset']}"
    confidence = None if clue["confidence"] is None else f"{clue['confidence']:.2f}"
    commit = clue["cause_commit"] and f"commit {clue['cause_commit']}"
    said = (source, commit, clue["extractor"], confidence, clue["description"])
    return one_line(", ".join(each for each in said if each))


def _words(found: Mapping[str, Any]) -> list[str]:
    """Return the words of the proposal, which a quote is likely to hold; the longest first."""
    if found["kind"] == "fact":
        values = found["value"] if isinstance(found["value"], list) else [found["value"]]
        said = [found["entity"]["identifier"], *(value_text(value) for value in values if value is not None)]
    elif found["kind"] == "alias":
        said = [found["surface_form"], found["entity"]["identifier"]]
    else:
        said = [found["source"]["identifier"], found["target"]["identifier"]]
    return sorted({str(each) for each in said if each}, key=len, reverse=True)


def marked(text: str, words: list[str]) -> list[Part]:
    """Return the text in parts, those styled that are one of the words, in any case.

    >>> marked("Prism, formerly prismgr", ["PrismGR", "Prism"])
    [('Prism', 'bold underline'), (', formerly ', ''), ('prismgr', 'bold underline')]
    """
    if not words:
        return [(text, "")]
    pattern = re.compile("|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in words), re.IGNORECASE)
    parts: list[Part] = []
    end = 0
    for match in pattern.finditer(text):
        parts += [(text[end : match.start()], ""), (match[0], _MARK)]
        end = match.end()
    return [part for part in (*parts, (text[end:], "")) if part[0]]


def _ruling(ruling: Mapping[str, Any]) -> str:
    status = "taken back" if ruling["status"] == "pending" else ruling["status"]
    by = f" by {ruling['reviewer']}" if ruling["reviewer"] else ", by a revert or a retraction"
    edited = f", edited {', '.join(ruling['edited'])}" if ruling["edited"] else ""
    note = f": {ruling['note']}" if ruling["note"] else ""
    return one_line(f"{status}{by} at {ruling['recorded_at']}{edited}{note}")
