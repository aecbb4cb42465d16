"""The highest tier of a connection holds through the owner, which answers each by what it may claim."""

from __future__ import annotations

from typing import Any

import pytest

from prism_rdf import RefusedError


def test_each_connection_claims_what_it_may(home: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRISM_TIER", "2")  # the daemon is started by this connection, and is not limited by it
    with home.open() as agent:
        demo = agent.project("demo")
        assert agent.tier == 2
        with pytest.raises(RefusedError, match="highest is 2"):
            demo.fact("Counter", "description", "one", tier=1)
        demo.fact("Counter", "description", "one")
        assert demo.blame("Counter", "description")["events"][0]["tier"] == 2
        monkeypatch.delenv("PRISM_TIER")
        with home.open() as person, home.open(tier=3) as pattern:
            assert person.project("demo").fact("Counter", "description", "two").candidates == ()
            assert demo.blame("Counter", "description")["events"][0]["tier"] == 1
            guessed = pattern.project("demo").alias("Zähler", "Counter", quote="auch Zähler genannt")
            assert len(guessed.candidates) == 1
            with pytest.raises(RefusedError, match="only guesses"):
                pattern.project("demo").review(guessed.candidates[0], "promote", reviewer="pattern")
            told = demo.review(guessed.candidates[0], "promote", reviewer="agent")
            assert told["status"] == "promoted"
            assert person.project("demo").resolve_alias("zähler")["identifier"] == "Counter"
