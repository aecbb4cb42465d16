"""How long recall takes at 100,000 memories with real questions, leg by leg, alone and with callers beside it.

    python bench/recall/speed.py                      # builds a store in a temporary folder
    python bench/recall/speed.py --home FOLDER        # keeps it there, and uses it again
    python bench/recall/speed.py --home FOLDER --cold # only: the first recall of a process

Memories are paragraphs of TimeQA and messages of BEAM, each several times with other sentences left out; questions are
those of both. Vectors of documents are random, since embedding them is apart; that of the question is real. Times are
of the wall and, beside them, of the processor: on a machine with other work the latter are the ones to compare.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from collections_of import beam, timeqa

from prism_rdf.model import Memory
from prism_rdf.prism import Prism
from prism_rdf.project import Project
from prism_rdf.recall.embedders import CallableEmbedder, chosen

_BATCH = 5_000
_LONGEST_QUESTION = 400  # characters; whatever is longer is a document here


def memories(count: int) -> Iterator[Memory]:
    """Yield so many memories, all of them once, then again with other sentences left out."""
    whole = list(timeqa(pages=320).memories.values())
    whole += [memory for chat in beam() for memory in chat.memories.values()]
    made, turn = 0, 0
    while made < count:
        for memory in whole[: count - made]:
            yield memory if not turn else _varied(memory, turn)
        made, turn = made + len(whole), turn + 1


def _varied(memory: Memory, turn: int) -> Memory:
    drawn = random.Random(f"{turn}{memory.source}")
    kept = [part for part in re.split(r"(?<=[.!?\n])", memory.content) if drawn.random() < 0.7]
    return replace(memory, content="".join(kept).strip() or memory.content, source=f"copy-{turn}/{memory.source}")


def questions(count: int) -> list[str]:
    asked = [each.text for each in timeqa(pages=320).questions] + [
        each.text for chat in beam() for each in chat.questions
    ]
    random.Random(7).shuffle(asked)
    return asked[:count]


def embedder() -> CallableEmbedder:
    """Return the default embedder for questions; a document gets a random vector of its own."""
    real = chosen("minilm")
    assert real is not None

    def embed(texts: Sequence[str]) -> Any:
        if all(len(text) < _LONGEST_QUESTION and text.rstrip().endswith("?") for text in texts):
            return real.embed(texts)
        return np.vstack([np.random.default_rng(abs(hash(text))).standard_normal(real.dimension) for text in texts])

    return CallableEmbedder(embed, "bench", real.dimension)


def build(home: Path, count: int) -> None:
    """Write the memories, where there are none yet, and wait for both indexes."""
    begun = time.perf_counter()
    with Prism.open(home, "bench", exclusive=True, embedder=embedder()) as prism:
        project = prism.project("bench")
        if not prism.commit_number:
            source = memories(count)
            while batch := list(islice(source, _BATCH)):
                project.write(batch)
            print(f"{count:,} memories written in {time.perf_counter() - begun:.0f} s", flush=True)
        for leg, what in (("lexical", "words"), ("vector", "vectors")):
            while project.recall("is there anything?")["legs"][leg]["status"] != "ok":
                time.sleep(2)
            print(f"{what} indexed after {time.perf_counter() - begun:.0f} s", flush=True)


def cold(home: Path, question: str) -> None:
    times = [_now()]
    with Prism.open(home, "bench", exclusive=True, embedder=embedder()) as prism:
        times.append(_now())
        answer = prism.project("bench").recall(question)
        times.append(_now())
        status = {name: leg["status"] for name, leg in answer["legs"].items()}
        told = [
            f"{what} {after[0] - before[0]:.2f} s ({after[1] - before[1]:.2f} s of the processor)"
            for what, before, after in zip(("open", "first recall"), times, times[1:], strict=False)
        ]
        print(f"cold: {', '.join(told)}, {status}", flush=True)


def _now() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _row(name: str, times: Sequence[float], used: Sequence[float]) -> str:
    told = [1000 * np.percentile(times, part) for part in (50, 95, 99)]
    of_processor = [1000 * np.percentile(used, part) for part in (50, 95, 99)]
    return f"| {name} | " + " | ".join(f"{value:.1f}" for value in (*told, *of_processor)) + " |"


def one_caller(project: Project, asked: Sequence[str]) -> None:
    print("\n| 1 caller, ms | p50 | p95 | p99 | processor p50 | p95 | p99 |\n|---|---|---|---|---|---|---|")
    legs = project.prism.answering(project.pid).legs()
    times: dict[str, list[tuple[float, float]]] = {}
    for text in asked:
        begun, used = time.perf_counter(), time.process_time()
        answer = project.recall(text)
        times.setdefault("recall, all legs", []).append((time.perf_counter() - begun, time.process_time() - used))
        begun, used = time.perf_counter(), time.process_time()
        _reference()
        times.setdefault("reference loop", []).append((time.perf_counter() - begun, time.process_time() - used))
        for leg in legs:
            begun, used = time.perf_counter(), time.process_time()
            leg.search(_plain(text), _as_of(answer), 100)
            times.setdefault(leg.name, []).append((time.perf_counter() - begun, time.process_time() - used))
    for name, rows in times.items():
        print(_row(name, *zip(*rows, strict=True)), flush=True)
    recall, loop = (np.median(np.array(times[name]), axis=0) for name in ("recall, all legs", "reference loop"))
    print(f"recall / reference loop: {recall[0] / loop[0]:.1f} of the wall, {recall[1] / loop[1]:.1f} of the processor")


def _reference() -> int:
    """Take a few milliseconds of Python: what a loaded machine makes of them tells the load."""
    return sum(number * number for number in range(100_000))


def _plain(text: str) -> Any:
    from prism_rdf.recall.legs import Question

    return Question(text)


def _as_of(answer: dict[str, Any]) -> Any:
    from prism_rdf.clock import Instant

    return Instant.parse(answer["as_of"])


def many_callers(project: Project, asked: Sequence[str]) -> None:
    print("\n| callers | answers/s | p50 ms | p95 ms |\n|---|---|---|---|")

    def timed(text: str) -> float:
        begun = time.perf_counter()
        project.recall(text)
        return time.perf_counter() - begun

    for callers in (1, 2, 4, 8):
        begun = time.perf_counter()
        with ThreadPoolExecutor(callers) as pool:
            times = list(pool.map(timed, asked))
        rate = len(asked) / (time.perf_counter() - begun)
        p50, p95 = (1000 * np.percentile(times, part) for part in (50, 95))
        print(f"| {callers} | {rate:.1f} | {p50:.1f} | {p95:.1f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=400)
    parser.add_argument("--cold", action="store_true")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        home = options.home or Path(folder)
        asked = questions(options.questions)
        if options.cold:
            cold(home, asked[0])
            return
        build(home, options.memories)
        subprocess.run([sys.executable, __file__, "--home", str(home), "--cold"], check=True)
        with Prism.open(home, "bench", exclusive=True, embedder=embedder()) as prism:
            project = prism.project("bench")
            for text in asked[:20]:
                project.recall(text)
            one_caller(project, asked)
            many_callers(project, asked[: len(asked) // 2])


if __name__ == "__main__":
    main()
