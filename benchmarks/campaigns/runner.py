"""What all campaigns share: seeded cases by index, a log that a rerun continues, counts and worst figures.

A campaign is a name and a function of (rng, index) that returns an `Outcome`; its module ends with

    if __name__ == "__main__":
        sys.exit(main(CAMPAIGN))

and is started by `python -m benchmarks.campaigns.<name> --count 1000 --out folder`. Case k of a seed is the same on every
machine, whatever the number of workers. The log is `<name>-<seed>.jsonl`: one JSON object per finished case, in the order
in which they finished; cases found there are not run again.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import signal
import sys
import tempfile
import time
import traceback
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

CRASHED = "crashed"  # an exception that the case did not expect
EVERY = 5.0  # seconds between lines of progress


@dataclass(frozen=True)
class Outcome:
    """What a case came to.

    verdict : a word that is counted; the campaign says which ones are good
    figures : errors, times, counts by name; the largest of each name is printed with its case
    words : what a person needs to see where the verdict is not good
    counts : numbers that are added up over all cases, where a case is made of several things
    """

    verdict: str
    figures: dict[str, float] = field(default_factory=dict)
    words: str = ""
    counts: dict[str, int] = field(default_factory=dict)


Case = Callable[[np.random.Generator, int], Outcome]


@dataclass(frozen=True)
class Campaign:
    """case : a function of a module, so that worker processes find it;  good : verdicts that are no defect"""

    name: str
    case: Case
    good: tuple[str, ...] = ("right",)


@dataclass
class Summary:
    """Counts of verdicts, the largest figure of each name with its case, and the cases that are not good."""

    good: tuple[str, ...]
    counts: Counter[str] = field(default_factory=Counter)
    totals: Counter[str] = field(default_factory=Counter)
    worst: dict[str, tuple[float, int]] = field(default_factory=dict)
    bad: dict[int, str] = field(default_factory=dict)

    def add(self, index: int, outcome: Outcome) -> None:
        self.counts[outcome.verdict] += 1
        self.totals.update(outcome.counts)
        if outcome.verdict not in self.good:
            self.bad[index] = f"{outcome.verdict}: {outcome.words}"
        for name, value in outcome.figures.items():
            before = self.worst.get(name, (-math.inf, index))[0]
            if not math.isnan(before) and not value <= before:  # NaN is the worst
                self.worst[name] = (value, index)

    def __str__(self) -> str:
        counts = sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))  # whichever worker was first
        lines = [f"{sum(self.counts.values())} cases: " + ", ".join(f"{n} {verdict}" for verdict, n in counts)]
        lines += [f"  {name}: {number}" for name, number in sorted(self.totals.items())]
        lines += [f"  worst {name}: {value:.3g} (case {index})" for name, (value, index) in sorted(self.worst.items())]
        lines += [f"  case {index}: {words}" for index, words in sorted(self.bad.items())[:20]]
        if len(self.bad) > 20:
            lines.append(f"  and {len(self.bad) - 20} more, see the log")
        return "\n".join(lines)


def generator(name: str, seed: int, index: int) -> np.random.Generator:
    """The random numbers of one case."""
    return np.random.default_rng([zlib.crc32(name.encode()), seed, index])


def run_case(campaign: Campaign, seed: int, index: int) -> Outcome:
    try:
        return campaign.case(generator(campaign.name, seed, index), index)
    except Exception:
        return Outcome(CRASHED, {}, traceback.format_exc(limit=-4))


def read_log(path: Path) -> dict[int, Outcome]:
    """Finished cases; a last line that was cut off by a kill is taken off the file."""
    found: dict[int, Outcome] = {}
    if not path.exists():
        return found
    text = path.read_bytes()
    whole = text.rfind(b"\n") + 1
    if whole < len(text):
        os.truncate(path, whole)
    for line in text[:whole].splitlines():
        record = json.loads(line)
        index = record.pop("index")
        found[index] = Outcome(**record)
    return found


def run(
    campaign: Campaign,
    indices: Iterable[int],
    *,
    out: Path | None = None,
    seed: int = 0,
    workers: int = 1,
    say: Callable[[str], None] | None = None,
) -> Summary:
    """Run the cases that the log does not have yet; Ctrl-C returns what is finished.

    out : folder of the log; without one nothing is kept
    say : is given a line now and then
    """
    summary = Summary((*campaign.good,))
    path = None if out is None else out / f"{campaign.name}-{seed}.jsonl"
    done = {} if path is None else read_log(path)
    wanted = list(indices)
    for index in wanted:
        if index in done:
            summary.add(index, done[index])
    todo = [index for index in wanted if index not in done]
    told = time.monotonic()
    log = None
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        log = path.open("a", encoding="utf-8")
    try:
        with closing(_outcomes(campaign, seed, todo, workers)) as outcomes:
            for index, outcome in outcomes:
                summary.add(index, outcome)
                if log is not None:
                    log.write(json.dumps({"index": index, **vars(outcome)}) + "\n")
                    log.flush()
                if say is not None and (outcome.verdict not in campaign.good or time.monotonic() - told > EVERY):
                    told = time.monotonic()
                    bad = f", case {index}: {outcome.verdict}: {outcome.words}" if outcome.verdict not in campaign.good else ""
                    say(f"{sum(summary.counts.values())} of {len(wanted)}, {len(summary.bad)} not good{bad}")
    except KeyboardInterrupt:
        if say is not None:
            say("interrupted; the same command goes on from here")
    finally:
        if log is not None:
            log.close()
    return summary


def _outcomes(campaign: Campaign, seed: int, todo: Sequence[int], workers: int) -> Iterator[tuple[int, Outcome]]:
    if workers <= 1:
        for index in todo:
            yield index, run_case(campaign, seed, index)
        return
    context = multiprocessing.get_context("spawn")
    with context.Pool(workers, _ignore_interrupts) as pool:
        yield from pool.imap_unordered(_work, [(campaign, seed, index) for index in todo])


def _ignore_interrupts() -> None:
    """Ctrl-C reaches all processes of a terminal; only the one that keeps the log acts on it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _work(task: tuple[Campaign, int, int]) -> tuple[int, Outcome]:
    campaign, seed, index = task
    return index, run_case(campaign, seed, index)


def main(campaign: Campaign, arguments: Sequence[str] | None = None, *, count: int = 100) -> int:
    """The command line of a campaign; 0 if every case is good."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.campaigns.{campaign.name}")
    parser.add_argument("--count", type=int, default=count, help=f"cases 0 .. COUNT - 1 (default {count})")
    parser.add_argument("--only", type=int, nargs="+", metavar="CASE", help="these cases alone, without a log")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1, help="processes (default 1: this one)")
    parser.add_argument("--out", type=Path, help="folder of the log (default: a new temporary one); a rerun goes on from it")
    options = parser.parse_args(arguments)
    say = lambda line: print(line, file=sys.stderr, flush=True)  # noqa: E731
    if options.only:
        summary = run(campaign, options.only, seed=options.seed, workers=options.workers, say=say)
    else:
        out = options.out or Path(tempfile.mkdtemp(prefix=f"{campaign.name}-"))
        print(f"log: {out / f'{campaign.name}-{options.seed}.jsonl'}", flush=True)
        summary = run(campaign, range(options.count), out=out, seed=options.seed, workers=options.workers, say=say)
    print(summary)
    return 1 if summary.bad else 0
