"""Every verb at random against the naive model, on both axes: after each step the store and the model say the same.

The ordinary tests hold a reduced run. With PRISM_LONG=1 (make test-long) it is at least 100,000 operations; with
PRISM_SHRINK=1 a failure is made small, which takes minutes.
"""

from __future__ import annotations

import os
import time
from dataclasses import replace
from math import inf

import machine_inputs as inputs
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule
from hypothesis.stateful import run_state_machine_as_test as run
from machine_ground import Ground
from machine_inputs import KIND, MULTI, TYPE, index, laid_over, spoken
from naive_history import Draft, Said, Span

from prism_rdf.errors import BadArgument, BadTime, RefusedError, ValidationError
from prism_rdf.model import Alias, NewEntity

LONG = os.environ.get("PRISM_LONG") == "1"
STEPS, EXAMPLES = (50, 2_400) if LONG else (40, 8)
PHASES = (Phase.generate, Phase.shrink) if os.environ.get("PRISM_SHRINK") == "1" else (Phase.generate,)


class Histories(Ground):
    """Up to four entities, each with its history, names, references and drafts."""

    @initialize(seed=st.integers(0, 2**16))
    def begin(self, seed):
        self.sow(seed)
        self.make("Location", 0, inputs.MOMENTS[0])

    @invariant()
    def the_store_says_what_the_model_says(self):
        self.compare()

    @precondition(lambda self: len(self.types) < 4)
    @rule(kind=st.sampled_from(sorted(TYPE)), position=index, start=inputs.starts)
    def make(self, kind, position, start):
        start = start or self.just_now()
        if kind == "Component" and not self.types:
            return
        given = (inputs.GIVEN + inputs.FIXED)[position % len(inputs.GIVEN + inputs.FIXED)]
        made = self.project.entity(kind, given, valid_from=start.given)
        self.types[made["uuid"]] = kind
        self.happen(lambda: made, made["uuid"], "created", start, spoken(given, None, inf))

    @rule(
        at=index,
        position=index,
        start=inputs.starts,
        until=inputs.ends,
        correct=st.booleans(),
        sequence=st.integers(0, 1),
    )
    def change(self, at, position, start, until, correct, sequence):
        entity = self.entity_at(at)
        self.say(entity, *self.given(entity, position), start, until, correct, sequence)

    @rule(at=index, fixed=st.sampled_from(inputs.FIXED), start=inputs.starts, until=inputs.ends)
    def fix(self, at, fixed, start, until):
        self.say(self.entity_at(at), fixed, fixed, start, until, False, self.number)

    @rule(at=index, start=inputs.starts)
    def clear(self, at, start):
        entity = self.entity_at(at)
        given = dict.fromkeys(["name", "status", "tags", "port" if self.types[entity] == "Location" else "location"])
        self.say(entity, given, given, start, None, False, 0)

    def say(self, entity, given, told, start, until, correct, sequence):
        """Record what is ``given``; the model has it as ``told``."""
        levels = [said.level for said in self.believed.said(entity) if said.prop in told]
        kind, level = ("correction", 1 + max(levels, default=0)) if correct else ("transition", 0)
        bounds = {"valid_from": start and start.given, "valid_until": until and until.given, "sequence": sequence}

        def act():
            if correct:
                return self.project.correct(entity, given, **bounds)
            if len(given) == 1:
                return self.project.fact(entity, *next(iter(given.items())), event_type=kind, **bounds)
            return self.project.transition(entity, given, kind, **bounds)

        ends_at = until.after if until else inf
        if ends_at <= (start.first if start else self.clock.now().micros):
            self.refuse(act, BadTime)
        else:
            self.happen(act, entity, kind, start, spoken(told, None, ends_at, level, sequence))

    @rule(at=index, start=inputs.starts, retired=st.booleans())
    def retire_or_reopen(self, at, start, retired):
        entity = self.entity_at(at)
        verb, kind = (self.project.retire, "retired") if retired else (self.project.reopen, "reopened")
        said = Said("?", "retired", str(retired).lower(), "set", 0, inf)
        self.happen(lambda: verb(entity, valid_from=start and start.given), entity, kind, start, (said,))

    @rule(at=index)
    def retract(self, at):
        name = list(self.owner)[at % len(self.owner)]
        after = self.believed.having("events", name, None)
        self.write(lambda: self.project.retract(name), after, [self.owner[name]])

    @rule(back=index)
    def revert(self, back):
        commit = len(self.past) - back % len(self.past)
        self.write(lambda: self.project.revert(commit), self.believed.without(commit, self.number), self.types)

    @rule(at=index, position=index, touched=inputs.starts)
    def wip(self, at, position, touched):
        entity, number = self.entity_at(at), self.number
        given, told = self.given(entity, position)
        opened = ((k, d) for k, d in self.believed.drafts.items() if d.entity == entity and not d.closed)
        name, draft = next(opened, ("?", Draft(entity, 0, ())))
        props = laid_over(draft.versions[-1].props if draft.versions else {}, told)
        mark = touched.first if touched else self.clock.now().micros + 1

        def act():
            return self.project.wip(entity, given, "working_tree", at=touched and touched.given)

        if not props:
            return self.refuse(act, BadArgument)
        after = self.believed.having("drafts", name, draft.touch(mark, number, props))
        answer = self.write(act, after, [])
        if answer is not None:
            now = self.instant_of(self.names.draft(answer["wip"]), "touchedAt")
            assert mark <= now <= (mark if touched else self.clock.now().micros)
            fresh = draft.touch(now, number, props)
            self.amend(self.believed.having("drafts", "?", None).having("drafts", answer["wip"], fresh))
            self.threads += [answer["wip"]] if name == "?" else []
        return None

    @precondition(lambda self: self.threads)
    @rule(at=index, position=index, start=inputs.starts)
    def seal(self, at, position, start):
        wip = self.threads[at % len(self.threads)]
        draft = self.believed.drafts[wip]
        given, told = self.given(draft.entity, position) if position % 2 else ({}, {})
        act = lambda: self.project.seal(wip, given, valid_from=start and start.given)  # noqa: E731
        if draft.closed:
            self.refuse(act, RefusedError)
            return
        final = laid_over(draft.versions[-1].props, told)
        values = {prop: sorted(held) if prop in MULTI else next(iter(held)) for prop, held in sorted(final.items())}
        end = max(self.clock.now().micros, draft.touched)
        node = self.names.draft(wip)
        extra = {"source": node.value, "drift": final != draft.versions[-1].props}
        base = self.believed.having("drafts", wip, draft.close(end))
        said = spoken(values, None, inf)
        if self.happen(act, draft.entity, "wip_sealed", start, said, base=base, **extra) is not None:
            self.closed(wip, draft, end)

    @precondition(lambda self: self.threads)
    @rule(at=index)
    def discard(self, at):
        wip = self.threads[at % len(self.threads)]
        draft = self.believed.drafts[wip]
        if draft.closed:
            self.refuse(lambda: self.project.discard(wip), RefusedError)
            return
        end = max(self.clock.now().micros, draft.touched)
        self.write(lambda: self.project.discard(wip), self.believed.having("drafts", wip, draft.close(end)), [])
        self.closed(wip, draft, end)

    def closed(self, wip, draft, end):
        now = self.instant_of(self.names.draft(wip), "closedAt")
        assert end <= now <= max(self.clock.now().micros, draft.touched)
        self.amend(self.believed.having("drafts", wip, draft.close(now)))

    @rule(
        at=index,
        name=st.sampled_from("AB"),
        kind=st.sampled_from(["former", "synonym"]),
        start=inputs.spans,
        until=inputs.ends,
    )
    def alias(self, at, name, kind, start, until):
        entity = self.entity_at(at)
        span = Span(entity, ("alias", name, kind), start.first if start else -inf, ())
        bounds = {"valid_from": start and start.given, "valid_until": until and until.given}
        self.hold(lambda: self.project.alias(name, entity, kind=kind, **bounds), span, until)

    @rule(at=index, to=index, start=inputs.spans, until=inputs.ends)
    def reference(self, at, to, start, until):
        entity, target, start = self.entity_at(at), self.entity_at(to), start or self.just_now()
        span = Span(entity, ("reference", KIND, self.names.entity(target).value), start.first, ())
        bounds = {"valid_from": start.given, "valid_until": until and until.given}
        self.hold(lambda: self.project.reference(entity, target, KIND, **bounds), span, until, entity == target)

    def hold(self, act, span, until, itself=False):
        """Act, which records a span; one that is known is only given another end."""
        end, key = until.after if until else inf, (span.entity, *span.name, span.start)
        if end <= span.start:
            self.refuse(act, BadTime)
            return
        if itself:
            self.refuse(act, ValidationError)
            return
        known = self.believed.spans.get(key, span)
        same = known.ends and end in (inf, known.until)
        after = known if same else replace(known, ends=(*known.ends, (self.number, end)))
        self.write(act, self.believed.having("spans", key, after), [])

    @rule(drawn=inputs.batches, new=st.booleans())
    def batch(self, drawn, new):
        """Events made by hand: unknown starts, levels, bounds of each assertion; perhaps with a new entity."""
        number, after, intents = self.number, self.believed, []
        fresh = f"00000000-0000-4000-8000-{number:012d}"
        types = {**self.types, fresh: "Component"} if new and len(self.types) < 4 else self.types
        for place, one in enumerate(drawn):
            entity = list(types)[one[0] % len(types)]
            name = self.names.event(f"00000000-0000-5000-9000-{number:06d}{place:06d}").value
            event = inputs.drawn_event(entity, one, name, number)
            after = after.having("events", name, event)
            intents.append(inputs.to_event(name, event))
        if types is not self.types:
            intents += [NewEntity(fresh, TYPE["Component"]), Alias(fresh, "C", "synonym")]
            span = Span(fresh, ("alias", "C", "synonym"), -inf, ((number, inf),))
            after = after.having("spans", (fresh, *span.name, -inf), span)
        act = lambda: self.project.write(intents)  # noqa: E731
        if any(said.until <= said.start for event in after.events.values() for said in event.said):
            return self.refuse(act, ValidationError)
        if self.write(act, after, types) is not None:
            self.types = types
            self.owner |= {k: e.entity for k, e in after.events.items() if e.commit == number}
        return None

    @rule(days=st.sampled_from([1, 3, 40, 200]))
    def wait(self, days):
        self.clock.advance(days=days)

    @rule(at=index, bad=st.sampled_from(inputs.BAD))
    def bad_input(self, at, bad):
        _, act, error = bad
        self.refuse(lambda: act(self.project, self.entity_at(at)), error)


def test_the_store_and_the_model_say_the_same_after_every_operation(capsys):
    Histories.counts.clear()
    began = time.monotonic()
    profile = settings(
        max_examples=EXAMPLES,
        stateful_step_count=STEPS,
        deadline=None,
        phases=PHASES,
        derandomize=not LONG,
        database=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    run(Histories, settings=profile)
    counts = Histories.counts
    with capsys.disabled():
        print(f"\n{counts['operations']} operations in {time.monotonic() - began:.0f} s: {dict(counts)}")
    assert counts["operations"] >= (100_000 if LONG else 250)
    assert counts["refused"] > 0
