"""The verb with which work starts: where a project stands, what is new for an agent, what wants attention; in a page.

The answer is cut to a budget of tokens (its JSON, four characters to a token) and says how much was left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pyoxigraph import NamedNode

from prism_rdf import answers, outstanding
from prism_rdf.claiming import ClaimingVerbs
from prism_rdf.clock import Instant, TimeInput, as_of_instant
from prism_rdf.errors import BadArgument
from prism_rdf.evidence.bookmarks import bookmarks_of
from prism_rdf.evidence.bookmarks import place_of as source_of
from prism_rdf.model import Bookmark
from prism_rdf.namespaces import PREFIXES, local_name
from prism_rdf.news import START, News, commit_before, entity_news, is_quiet, memory_news, news_since
from prism_rdf.proposals import in_words
from prism_rdf.review.queue import CLASSES, queue, read_candidate
from prism_rdf.temporal.drafts import Thread, threads
from prism_rdf.temporal.read import snapshot, state_at

STALE_DAYS = 30
LEAST = 500  # tokens
_CHARACTERS = 4  # to a token
_RECENT = 20  # commits that are told to who was never here
_SHOWN = 10  # of each list, before the budget is looked at
_TEXT = 160  # characters of a value


class StartingVerbs(ClaimingVerbs):
    """The verb of a project that begins a session."""

    def start(
        self,
        agent: str = "",
        since: TimeInput | int | None = None,
        as_of: TimeInput | None = None,
        budget: int = 1500,
        *,
        idempotency_key: str = "",
    ) -> dict[str, Any]:
        """Return where the project stands and what is new, in at most ``budget`` tokens (characters / 4 of its JSON).

        ``{"pid", "agent", "as_of", "commit", "since", "project", "changed", "open_wip", "rules_reminders", "counts",
        "how_to_proceed", "left_out"}``. New is what was recorded since this ``agent`` last started, which is
        remembered; a first time, and without an agent, the last 20 commits. With ``since`` (a commit or a system time)
        it is what came after, and nothing is written. ``rules_reminders`` have a category (stale_wip: drafts untouched
        for 30 days; pending_reviews; contested_claims; resting_on_superseded: what depends on what is superseded or
        retired), a count, what to do, and the first few. ``as_of`` (default now) is when project, drafts, claims and
        references are looked at. Raises BadArgument, BadTime, NotFoundError.
        """
        if budget < LEAST:
            raise BadArgument(
                f"a start cannot be told in {budget} tokens",
                rule=f"its budget is {LEAST} tokens or more",
                mend="leave budget out for 1500",
            )
        last = self.prism.commit_number
        first, known = self._beginning(agent.strip(), since, last, idempotency_key)
        at = self._at(as_of)
        self.prism.bring_up_to_date()
        recorded = self.prism.system_time(first) if first else None
        open_now = self._open_at(at, as_of is not None)
        answer: dict[str, Any] = {
            "pid": self.pid,
            "agent": agent.strip() or None,
            "as_of": at.iso(),
            "commit": last,
            "since": {"commit": first, "recorded_at": answers.iso(recorded), "known": known},
            "project": self._stand(at, as_of),
            "changed": self._changed(news_since(self._store, self.names, first, last)),
            "open_wip": [self._draft_told(each, at) for each in reversed(open_now[-_SHOWN:])],
            "rules_reminders": self._reminders(open_now, at, as_of),
            "counts": {**self._counted(as_of), "open_wip": len(open_now)},
        }
        return fitted({**answer, "how_to_proceed": _proceed(answer)}, budget)

    def _beginning(self, agent: str, since: TimeInput | int | None, last: int, key: str) -> tuple[int, bool]:
        """Return the commit after which all is new, and whether it was given or remembered."""
        if isinstance(since, int):
            self.prism.system_time(since or None)
            return since, True
        if since is not None:
            return commit_before(self._store, self.prism.base, last, as_of_instant(since)), True
        place = self._move_on(agent, key) if agent else None
        return (place, True) if place is not None else (max(0, last - _RECENT), False)

    def _move_on(self, agent: str, key: str) -> int | None:
        """Set the agent's place to the last commit and return where it was; None for one that was never here.

        A place that only places of agents came after stays, so that starting often is not written often.
        """
        source, was = source_of(agent), None

        def intents() -> Sequence[Bookmark]:
            nonlocal was
            kept = bookmarks_of(self._store, self.names, source)
            was = int(kept[0].commit) if kept else None
            now = self.prism.commit_number
            if was is not None and is_quiet(self._store, self.names, was, now):
                return ()
            return (Bookmark(source, START, str(now), json.dumps({"before": was})),)

        receipt = self.prism.commit(self.pid, intents, START, key, [agent])
        if receipt.replayed:  # asked again since nobody heard the answer
            said = json.loads(bookmarks_of(self._store, self.names, source)[0].counts)["before"]
            was = None if said is None else int(said)
        return was

    def _asking(self, as_of: TimeInput | None) -> outstanding.Ask:
        if as_of is not None:
            return lambda query: self.prism.sparql(query, pid=self.pid, as_of=as_of).rows()
        return lambda query: [tuple(row) for row in self._store.query(query, prefixes=PREFIXES)]  # type: ignore[union-attr]

    def _stand(self, at: Instant, as_of: TimeInput | None) -> dict[str, Any] | None:
        """Return the state of the Project entity of this project, with what its draft says; None where there is none.

        It is the one whose pid this is, else the only one.
        """
        found = outstanding.project_entities(self._asking(as_of), self.names)
        own = [node for node, pid in found if pid == self.pid] or [node for node, _ in found]
        if len(own) != 1:
            return None
        state = self._state_json(own[0], at, None, prefer_wip=False)
        if state is None:
            return None
        told = {key: state[key] for key in ("uuid", "identifier", "valid_from", "flag")}
        draft = state_at(self._store, self.names, own[0], at, None, prefer_wip=True)
        says = draft is not None and draft.commit_status == "wip"
        told["props"] = {name: _short(value) for name, value in state["props"].items()}
        told["wip"] = self._draft_says(NamedNode(draft.iri), at) if says and draft is not None else None
        return told

    def _draft_says(self, version: NamedNode, at: Instant) -> dict[str, Any]:
        props = snapshot(self._store, version)
        shown = {
            local_name(prop.value): [answers.value_json(self._store, self.names, value, at) for value in values]
            for prop, values in props.items()
        }
        return {name: _short(values[0] if len(values) == 1 else values) for name, values in sorted(shown.items())}

    def _changed(self, news: News) -> dict[str, Any]:
        now = self.prism.clock.now()
        shown = [entity_news(self._store, self.names, news, each, now) for each in list(news.entities)[:_SHOWN]]
        for each in shown:
            each["what"] = [_short(words) for words in each["what"]]
        latest = (memory_news(self._store, self.names, each) for each in news.latest)
        return {
            "commits": news.commits,
            "entities": shown,
            "entities_total": len(news.entities),
            "memories": [{**each, "content": _short(each["content"])} for each in latest],
            "memories_total": news.memories,
            "at_least": news.partial,
        }

    def _open_at(self, at: Instant, past: bool) -> list[Thread]:
        """Return the drafts open at an instant, the longest untouched first."""
        found = threads(self._store, self.names, closed=past)
        if not past:
            return list(found)
        running = (each for each in found if each.closed_at is None or each.closed_at > at)
        return [each for each in running if self._was_draft(each.entity, at)]

    def _was_draft(self, entity: NamedNode, at: Instant) -> bool:
        state = state_at(self._store, self.names, entity, at, None, prefer_wip=True)
        return state is not None and state.commit_status == "wip"

    def _draft_told(self, thread: Thread, at: Instant) -> dict[str, Any]:
        told = self._draft_json(thread)
        says = self._draft_says(thread.version, at) if thread.version is not None else {}
        return {key: told[key] for key in ("wip", "identifier", "source", "touched_at")} | {"says": says}

    def _counted(self, as_of: TimeInput | None) -> dict[str, Any]:
        ask = self._asking(as_of)
        by_type = outstanding.counts(ask, self.names, self._catalog)
        waiting = queue(self._store, self.names, status="pending")
        return {
            "entities": by_type,
            "entities_total": sum(by_type.values()),
            "memories": outstanding.memories(ask, self.names),
            "candidates": len(waiting),
        }

    def _reminders(self, open_now: Sequence[Thread], at: Instant, as_of: TimeInput | None) -> list[dict[str, Any]]:
        limit = at.plus(days=-STALE_DAYS)
        stale = [each for each in open_now if each.touched_at < limit]
        waiting = {kind: list(queue(self._store, self.names, kind, "pending")) for kind in CLASSES}
        resting = outstanding.resting(self._asking(as_of), self.names, self._catalog)
        contested = [each for each in self.list_claims(as_of=as_of) if each["status"] in ("CONTESTED", "CONTRADICTORY")]
        kinds = ", ".join(f"{len(nodes)} {kind}" for kind, nodes in waiting.items() if nodes)
        found = (
            ("stale_wip", len(stale), _STALE, [self._draft_json(each)["identifier"] for each in stale[:_SHOWN]]),
            (
                "pending_reviews",
                sum(map(len, waiting.values())),
                f"{kinds}: promote or reject each (review)",
                self._waiting(next((nodes for nodes in waiting.values() if nodes), [])[:3]),
            ),
            ("contested_claims", len(contested), _CONTESTED, [_claim_told(each) for each in contested[:_SHOWN]]),
            ("resting_on_superseded", len(resting), _RESTING, [self._rests(each, at) for each in resting[:_SHOWN]]),
        )
        names = ("category", "count", "message", "items")
        return [dict(zip(names, each, strict=True)) for each in found if each[1]]

    def _waiting(self, nodes: Iterable[NamedNode]) -> list[str]:
        found = (read_candidate(self._store, self.names, node) for node in nodes)
        setting = self._setting
        return [_short(in_words(setting, each.proposal)) for each in found if each is not None]

    def _rests(self, told: Mapping[str, Any], at: Instant) -> str:
        entity, on, by = (
            None if (node := told[end]) is None else self._called(node, at) or self.names.uuid_of(node.value)
            for end in ("entity", "on", "by")
        )
        why = f"superseded by {by}" if by else told["why"]
        return f"{entity} rests on {on} by {local_name(told['kind'].value)}: {why}"


_STALE = f"untouched for {STALE_DAYS} days: go on (wip), seal or discard"
_CONTESTED = "sources disagree: read both sides (evidence) before you rely on one"
_RESTING = "in force, and depends on what no longer is: point it to what holds now, or supersede it too (impact)"


def _claim_told(claim: Mapping[str, Any]) -> str:
    whose = claim["identifier"] or claim["uuid"]
    return f"{whose} {claim['property']} {_short(claim['value'])}: {claim['status'].lower()}"


def _short(value: Any) -> Any:
    """Return a value of bounded length: texts are cut, of lists the first few are told."""
    if isinstance(value, str):
        return value if len(value) <= _TEXT else f"{value[: _TEXT - 1]}…"
    if isinstance(value, Mapping):
        return _short(str(value.get("identifier") or value.get("ref") or ""))
    if isinstance(value, Sequence):
        more = [f"and {len(value) - 5} more"] if len(value) > 5 else []
        return [_short(each) for each in value[:5]] + more
    return value


def _proceed(answer: Mapping[str, Any]) -> list[str]:
    """Return what to do next, in the names of the verbs."""
    steps = ["recall before you decide or claim: every hit says whether it is current, historical or wip"]
    if answer["project"] is None and not answer["counts"]["entities_total"]:
        steps.append("nothing is here yet: entity makes a thing with its first state, remember keeps a passage")
    if answer["open_wip"]:
        steps.append("go on with an open draft (wip), then seal it; discard what came to nothing")
    if answer["rules_reminders"]:
        steps.append("see rules_reminders: settle what touches your task before you build on it")
    steps.append("record changes with fact or transition, thoughts in progress with wip, what was learnt with remember")
    return steps


def fitted(answer: dict[str, Any], budget: int) -> dict[str, Any]:
    """Return the answer within the budget: the longest list gives first, then the project's properties and types.

    ``left_out`` counts by list what is not shown, whether it was never taken in or gave way.
    """
    reminders = {each["category"]: each for each in answer["rules_reminders"]}
    lists = {"changed": answer["changed"]["entities"], "memories": answer["changed"]["memories"]}
    lists["open_wip"] = answer["open_wip"]
    lists |= {category: each["items"] for category, each in reminders.items()}
    totals = {"changed": answer["changed"]["entities_total"], "memories": answer["changed"]["memories_total"]}
    totals["open_wip"] = answer["counts"]["open_wip"]
    totals |= {category: each["count"] for category, each in reminders.items()}
    props = (answer["project"] or {}).get("props", {})
    types = answer["counts"]["entities"]
    cut = {"types": (types, len(types)), "props": (props, len(props))}

    def count() -> None:
        left = {name: totals[name] - len(items) for name, items in lists.items()}
        left |= {name: before - len(now) for name, (now, before) in cut.items()}
        answer["left_out"] = {name: n for name, n in left.items() if n}

    count()
    while tokens(answer) > budget:
        longest = max(lists.values(), key=lambda items: len(json.dumps(items, ensure_ascii=False)))
        if longest:
            longest.pop()
        elif props:
            props.pop(max(props, key=lambda name: len(json.dumps(props[name]))))
        elif types:
            types.popitem()
        else:
            break
        count()
    return answer


def tokens(answer: Any) -> int:
    """Return the size of an answer as JSON, in tokens of four characters.

    >>> tokens({"a": 1})
    2
    """
    return len(json.dumps(answer, ensure_ascii=False, default=str)) // _CHARACTERS
