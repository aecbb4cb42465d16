"""Recall end to end, over the small world: what is found, how it is told apart, and what happens without a part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import pytest
from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, Store

from prism_rdf.clock import Instant
from prism_rdf.errors import BadArgument
from prism_rdf.namespaces import Names, meta_graph, prism
from prism_rdf.recall import AbsentLeg, LegHealth, Question, Recipe
from prism_rdf.storage.changelog import LoggedChange
from prism_rdf.values import instant_literal

NAMES = Names("urn:prism:test", "demo")
NOW = Instant.parse("2026-11-30T12:00:00Z")
THEN = "2025-12-15T00:00:00Z"
HIT_KEYS = {
    "id", "content", "score", "state_flag", "state_summary", "entity", "source", "valid_from", "valid_until",
    "superseded_by", "evidence", "legs",
}  # fmt: skip


class Asking(Protocol):
    legs: list[Any]
    index: Any

    def recall(self, **options: Any) -> Any: ...

    def ask(
        self, text: str, as_of: str | Instant = ..., known_at: str | None = ..., **options: Any
    ) -> dict[str, Any]: ...

    def hits(
        self, text: str, as_of: str | Instant = ..., known_at: str | None = ..., **options: Any
    ) -> dict[str, Any]: ...


def flags(hits: Mapping[str, Any]) -> dict[str, str | None]:
    return {name: hit["state_flag"] for name, hit in hits.items()}


def test_the_example_of_the_first_brief(asking: Asking) -> None:
    hit = asking.hits("PrismGR installation")["install-old"]
    assert hit["state_flag"] == "historical"
    assert hit["state_summary"] == "[historical: current Project is Prism, this reflects PrismGR]"
    assert hit["content"] == "PrismGR installation: run the installer, then set PGR_HOME."


def test_the_shape_of_an_answer(asking: Asking) -> None:
    answer = asking.ask("ADR-808 grounding")
    assert set(answer) == {"query", "as_of", "time", "anchors", "hits", "cursor", "legs"}
    assert (answer["query"], answer["as_of"]) == ("ADR-808 grounding", "2026-11-30T12:00:00Z")
    assert answer["anchors"] == [
        {
            "entity": NAMES.entity("truth").value,
            "type": "ADR",
            "identifier": "ADR-808",
            "matched": "ADR-808",
            "form_kind": "number",
        }
    ]
    assert all(set(hit) == HIT_KEYS for hit in answer["hits"])
    first = answer["hits"][0]
    assert (first["id"], first["entity"]) == (NAMES.memory("truth-v3").value, NAMES.entity("truth").value)
    assert (first["valid_from"], first["valid_until"]) == ("2026-06-15T00:00:00Z", None)
    assert (first["source"], first["evidence"]) == ("docs/adr/ADR-808-truth.md@aaa3", None)
    assert first["legs"] == {"lexical": 2, "graph": 1}
    assert answer["legs"]["graph"] == {"status": "ok", "position": 7, "behind": 0, "found": 5}
    assert [hit["score"] for hit in answer["hits"]] == sorted((hit["score"] for hit in answer["hits"]), reverse=True)


def test_an_old_number_finds_the_texts_of_then_and_of_now(asking: Asking) -> None:
    found = flags(asking.hits("ADR-044 grounding"))
    assert found["truth-v1"] == found["truth-v2"] == found["vocab-v1"] == found["stale"] == "historical"
    assert found["truth-v3"] == found["vocab-v2"] == "current"


def test_as_of_then_the_old_number_was_the_number(asking: Asking) -> None:
    answer = asking.ask("ADR-044 grounding", THEN)
    assert [(anchor["identifier"], anchor["form_kind"]) for anchor in answer["anchors"]] == [("ADR-044", "number")]
    hits = asking.hits("ADR-044 grounding", THEN)
    assert flags(hits)["truth-v2"] == flags(hits)["stale"] == "current"
    assert flags(hits)["truth-v1"] == "historical"
    assert hits["truth-v1"]["state_summary"] == "[historical: ADR ADR-044, said until 2025-11-15, superseded since]"
    assert "truth-v3" not in hits


def test_a_number_of_the_future_is_understood(asking: Asking) -> None:
    """Nobody bore ADR-808 then, so it means what it means now, and finds it under the name of then."""
    answer = asking.ask("ADR-808", THEN)
    assert [(anchor["identifier"], anchor["matched"]) for anchor in answer["anchors"]] == [("ADR-044", "ADR-808")]
    assert next(iter(asking.hits("ADR-808", THEN))) == "truth-v2"


def test_a_reused_number_means_what_it_meant_when_it_was_said(asking: Asking) -> None:
    hits = asking.hits("ADR-044", limit=20)
    assert hits["backup-note"]["state_summary"] == "[current: ADR ADR-044]"
    assert hits["stale"]["state_summary"] == "[historical: current ADR is ADR-808, this reflects ADR-044]"
    assert flags(asking.hits("ADR-808 backups"))["backup-note"] is None


def test_what_holds_ranks_above_what_it_superseded(asking: Asking) -> None:
    names = list(asking.hits("which port does it listen on"))
    assert names.index("ended-next") < names.index("ended-late")
    names = list(asking.hits("probabilistic truth convergence grounding vote"))
    assert names.index("truth-v3") < min(names.index("truth-v1"), names.index("truth-v2"))


def test_a_synonym_is_a_present_name(asking: Asking) -> None:
    answer = asking.ask("install the Lattice")
    assert [(anchor["identifier"], anchor["form_kind"]) for anchor in answer["anchors"]] == [("Prism", "synonym")]
    assert flags(asking.hits("install the Lattice"))["lattice"] == "current"


def test_a_draft_is_told_apart(asking: Asking) -> None:
    assert flags(asking.hits("Tarn")) == {"tarn": "wip", "glacier": "current"}
    assert flags(asking.hits("Glacier", prefer_wip=False)) == {"glacier": "current", "tarn": "wip"}
    assert asking.ask("Tarn", "2026-08-01T00:00:00Z")["anchors"][0]["identifier"] == "Glacier"


def test_a_bare_number_needs_its_type(asking: Asking) -> None:
    assert asking.ask("6")["anchors"] == asking.ask("6 apples")["anchors"] == []
    assert flags(asking.hits("plan 6")) == {"plan-6": "current", "six": None}


def test_a_name_that_is_no_longer_believed_is_no_anchor(asking: Asking) -> None:
    assert asking.ask("Obelisk")["anchors"] == []
    assert flags(asking.hits("Obelisk")) == {"obelisk": None}
    assert asking.ask("Obelisk", known_at="2026-02-15T00:00:00Z")["anchors"][0]["identifier"] == "Obelisk"


def test_no_anchor_no_flag_but_for_what_ended(asking: Asking) -> None:
    found = flags(asking.hits("grounding", limit=20))
    assert found["stale"] is None
    assert found["truth-v1"] == found["vocab-v1"] == "historical"


def test_what_is_not_yet_said_is_never_found(asking: Asking) -> None:
    assert "future" not in asking.hits("Prism rewritten in spring", limit=50)
    assert "future" in asking.hits("Prism rewritten in spring", "2027-06-01T00:00:00Z")


def test_system_time(asking: Asking) -> None:
    now = asking.hits("Prism", limit=50)
    before = asking.hits("Prism", known_at="2025-12-15T00:00:00Z", limit=50)
    assert "recorded-late" in now
    assert "recorded-late" not in before
    assert "withdrawn" in before
    assert "withdrawn" not in now
    assert (now["ended-late"]["state_flag"], now["ended-late"]["valid_until"]) == ("historical", "2025-12-01T00:00:00Z")
    assert (before["ended-late"]["state_flag"], before["ended-late"]["valid_until"]) == ("current", None)


def test_explain_says_where_a_score_comes_from(asking: Asking) -> None:
    hit = asking.hits("Tarn", explain=True)["tarn"]
    told = hit["explain"]
    assert set(told["legs"]) == {"lexical", "graph"}
    assert told["legs"]["lexical"]["weight"] == 0.5
    shares = sum(leg["share"] for leg in told["legs"].values())
    assert hit["score"] == pytest.approx(shares * (0.8 + 0.2 * told["recency"]))


@pytest.mark.parametrize("limit", [0, 1, 3])
def test_the_limit(asking: Asking, limit: int) -> None:
    assert list(asking.hits("Prism", limit=limit)) == list(asking.hits("Prism"))[:limit]


def test_a_negative_limit_is_refused(asking: Asking) -> None:
    with pytest.raises(BadArgument, match="negative"):
        asking.ask("Prism", limit=-1)


@pytest.mark.parametrize(
    "text",
    ["", " ", "\x00", "🦉", "the of and", "ADR-044 " * 1_500, "x" * 10_000, 'id:* AND ("', "\u202eקרקוע", "\ud800"],
)
def test_any_text_is_a_question(asking: Asking, text: str) -> None:
    answer = asking.ask(text)
    assert answer["query"] == text
    assert all(leg["status"] == "ok" for leg in answer["legs"].values())


@dataclass
class OddLeg:
    """A leg that is as it is told to be."""

    name: str = "vector"
    status: Any = "ok"
    error: Exception | None = None
    ranking: list[tuple[str, float]] = field(default_factory=list)

    def search(self, question: Question, as_of: Instant, limit: int) -> list[tuple[str, float]]:
        if self.error:
            raise self.error
        return self.ranking

    def health(self) -> LegHealth:
        return LegHealth(self.status, 4, "" if self.status == "ok" else "as told")


def with_leg(asking: Asking, leg: Any, text: str = "Tarn") -> dict[str, Any]:
    recall = asking.recall()
    recall._legs = (*recall._legs, leg)
    answer: dict[str, Any] = recall.ask(text, NOW)
    return answer


def test_a_third_leg_takes_its_seat(asking: Asking) -> None:
    weather = NAMES.memory("weather").value
    answer = with_leg(asking, OddLeg(ranking=[(weather, 0.9), (NAMES.memory("nowhere").value, 0.8)]))
    assert [hit["legs"] for hit in answer["hits"] if hit["id"] == weather] == [{"vector": 1}]
    assert answer["legs"]["vector"] == {"status": "ok", "position": 4, "behind": 3, "found": 2}


@pytest.mark.parametrize("status", ["absent", "lagging", "failed"])
def test_a_leg_that_is_not_well_is_named_and_left_out(asking: Asking, status: str) -> None:
    answer = with_leg(asking, OddLeg(status=status, ranking=[(NAMES.memory("weather").value, 0.9)]))
    assert answer["legs"]["vector"] == {"status": status, "position": 4, "behind": 3, "found": 0, "detail": "as told"}
    assert answer["hits"] == asking.ask("Tarn")["hits"]


def test_a_leg_that_breaks_is_named_and_left_out(asking: Asking) -> None:
    answer = with_leg(asking, OddLeg(error=ZeroDivisionError("by zero")))
    assert answer["legs"]["vector"]["status"] == "failed"
    assert "by zero" in answer["legs"]["vector"]["detail"]
    assert answer["hits"] == asking.ask("Tarn")["hits"]


def test_an_absent_leg_says_what_to_do(asking: Asking) -> None:
    answer = with_leg(asking, AbsentLeg("vector", "no model: run prism model install"))
    assert answer["legs"]["vector"]["detail"] == "no model: run prism model install"


def test_no_leg_at_all_is_an_answer_too(asking: Asking) -> None:
    recall = asking.recall()
    recall._legs = ()
    answer = recall.ask("Tarn", NOW)
    assert (answer["hits"], answer["legs"]) == ([], {})
    assert answer["anchors"][0]["identifier"] == "Tarn"


def test_when_states_cannot_be_read_hits_come_without_flags(asking: Asking) -> None:
    def broken(*_: Any) -> Mapping[str, Any]:
        raise RuntimeError("no states today")

    recall = asking.recall()
    recall._state_at = broken
    answer = recall.ask("Tarn evicts", NOW)
    assert [hit["state_flag"] for hit in answer["hits"]] == [None, None]
    assert answer["legs"]["anchors"] == {"status": "failed", "detail": "RuntimeError: no states today"}


def test_weights_are_configuration(asking: Asking) -> None:
    graph_only = asking.recall(recipe=Recipe(weights={"lexical": 0.0, "graph": 1.0})).ask("ADR-808 snow", NOW)
    assert graph_only["hits"][0]["id"] == NAMES.memory("truth-v3").value


@pytest.fixture
def changing(identifying: frozenset[NamedNode], tmp_path: Path, asking: Asking) -> Any:
    """A world of its own, that a test may change."""
    store = Store()
    copy = asking.__class__
    store.load(path=str(Path(__file__).parent.parent / "cases" / "recall" / "world.trig"), format=RdfFormat.TRIG)
    made = copy(store, tmp_path / "lexical", identifying)  # type: ignore[call-arg]
    yield made
    made.index.close()


def commit(store: Store, number: int, *adds: Quad) -> LoggedChange:
    meta, base = meta_graph(NAMES.base), NamedNode(NAMES.base)
    for quad in list(store.quads_for_pattern(base, prism("lastCommit"), None, meta)):
        store.remove(quad)
    store.extend([*adds, Quad(base, prism("lastCommit"), Literal(number), meta)])
    return LoggedChange(number, NOW, "demo", "remember", adds, ())


def memory(name: str, content: str) -> tuple[Quad, ...]:
    node, graph, at = NAMES.memory(name), NAMES.graph("memory"), instant_literal(NOW.plus(days=-1))
    pairs = (("content", Literal(content)), ("validFrom", at), ("recordedAt", at))
    return tuple(Quad(node, prism(key), value, graph) for key, value in pairs)


@pytest.mark.parametrize("with_log", [True, False])
def test_what_is_written_is_found_once_the_index_has_followed(changing: Any, with_log: bool) -> None:
    log: list[LoggedChange] = []
    options = {"changes": lambda since: [each for each in log if each.number > since]} if with_log else {}
    recall = changing.recall(**options)
    assert recall.ask("Beryl", NOW)["hits"] == []
    name = Quad(NAMES.entity("prism"), prism("name"), Literal("Beryl"), NAMES.state("prism2"))
    log.append(commit(changing.store, 8, name, *memory("new", "Beryl shines.")))
    behind = recall.ask("Beryl", NOW)
    assert [behind["legs"]["lexical"][key] for key in ("status", "behind")] == ["lagging", 1]
    changing.index.apply(log)
    answer = recall.ask("Beryl", NOW)
    assert [(hit["content"], hit["state_flag"]) for hit in answer["hits"]] == [("Beryl shines.", "current")]
    assert answer["legs"]["lexical"]["status"] == "ok"


def test_the_answer_of_an_earlier_commit_is_not_kept(changing: Any) -> None:
    recall = changing.recall()
    changing.index.apply([commit(changing.store, 8, *memory("new", "Beryl shines."))])
    assert recall.ask("beryl", NOW)["hits"][0]["valid_until"] is None
    until = Quad(NAMES.memory("new"), prism("validUntil"), instant_literal(NOW), NAMES.graph("memory"))
    changing.index.apply([commit(changing.store, 9, until)])
    assert recall.ask("beryl", NOW)["hits"][0]["state_flag"] == "historical"


def test_recall_works_without_the_lexical_index(changing: Any) -> None:
    changing.store.extend(memory("new", "It shines."))
    changing.store.add(Quad(NAMES.memory("new"), prism("about"), NAMES.entity("prism"), NAMES.graph("memory")))
    changing.index.close()
    answer = changing.recall().ask("Prism", NOW)
    assert answer["legs"]["lexical"]["status"] != "ok"
    assert [hit["content"] for hit in answer["hits"]] == ["It shines."]
