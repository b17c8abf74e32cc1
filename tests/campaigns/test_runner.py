"""The part that all campaigns share: seeded cases, a log that a rerun continues, counts, Ctrl-C."""

import json
import math

import pytest

from benchmarks.campaigns.runner import CRASHED, Campaign, Outcome, Summary, main, read_log, run

STARTED = []


def case(rng, index):
    STARTED.append(index)
    if index == 3:
        raise ValueError("three")
    return Outcome("wrong" if index == 5 else "right", {"error": float(rng.random())}, "five" if index == 5 else "")


CAMPAIGN = Campaign("numbers", case)


@pytest.fixture(autouse=True)
def nothing_started():
    STARTED.clear()


def test_counts_worst_and_bad():
    summary = run(CAMPAIGN, range(8))
    assert summary.counts == {"right": 6, "wrong": 1, CRASHED: 1}
    assert set(summary.bad) == {3, 5} and "ValueError: three" in summary.bad[3]
    figures = {k: run(CAMPAIGN, [k]).worst["error"][0] for k in range(8) if k != 3}
    assert summary.worst["error"] == max((value, k) for k, value in figures.items())
    assert "8 cases: 6 right" in str(summary) and "case 5: wrong: five" in str(summary)


def test_nan_is_the_worst_figure():
    made = Campaign("nan", lambda rng, k: Outcome("right", {"error": math.nan if k == 1 else k}))
    value, index = run(made, range(4)).worst["error"]
    assert math.isnan(value) and index == 1


def test_rerun_goes_on_where_the_log_ends(tmp_path):
    run(CAMPAIGN, range(4), out=tmp_path)
    path = tmp_path / "numbers-0.jsonl"
    with path.open("a") as log:
        log.write('{"index": 4, "verd')  # killed while it wrote
    STARTED.clear()
    summary = run(CAMPAIGN, range(8), out=tmp_path)
    assert STARTED == [4, 5, 6, 7] and sum(summary.counts.values()) == 8
    assert str(summary) == str(run(CAMPAIGN, range(8)))
    assert sorted(json.loads(line)["index"] for line in path.read_text().splitlines()) == list(range(8))


def test_seeds_have_logs_and_numbers_of_their_own(tmp_path):
    a, b = (run(CAMPAIGN, [0], out=tmp_path, seed=seed).worst["error"][0] for seed in (0, 1))
    assert a != b and len(list(tmp_path.iterdir())) == 2


def test_interruption_keeps_what_is_finished(tmp_path):
    def interrupted(rng, index):
        if index == 2:
            raise KeyboardInterrupt
        return Outcome("right")

    said = []
    summary = run(Campaign("numbers", interrupted), range(5), out=tmp_path, say=said.append)
    assert summary.counts == {"right": 2} and "interrupted" in said[-1]
    assert set(read_log(tmp_path / "numbers-0.jsonl")) == {0, 1}


def test_command_line(tmp_path, capsys):
    assert main(CAMPAIGN, ["--count", "2", "--out", str(tmp_path)]) == 0
    assert "2 cases: 2 right" in capsys.readouterr().out
    assert main(CAMPAIGN, ["--only", "5", "--out", str(tmp_path)]) == 1
    assert set(read_log(tmp_path / "numbers-0.jsonl")) == {0, 1}


def test_summary_does_not_hang_on_the_order_of_cases():
    summaries = [Summary(("right",)), Summary(("right",))]
    for summary, order in zip(summaries, ("wrong", "late"), strict=True):
        for verdict in (order, "late" if order == "wrong" else "wrong"):
            summary.add(0, Outcome(verdict))
    assert str(summaries[0]).splitlines()[0] == str(summaries[1]).splitlines()[0] == "2 cases: 1 late, 1 wrong"


def test_workers_make_the_same_cases(tmp_path):
    alone, shared = (run(CAMPAIGN, range(6), workers=n) for n in (1, 2))
    assert str(alone).splitlines()[:2] == str(shared).splitlines()[:2] and shared.worst == alone.worst
