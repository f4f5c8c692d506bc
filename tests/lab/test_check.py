# SPDX-License-Identifier: Apache-2.0
"""The checker: what it explores, what it finds, and that it can be trusted."""

from __future__ import annotations

import argparse
import json
import re
import signal
import sys
import time
from pathlib import Path
from typing import Any

import processes
import pytest
from conftest import Command

from fairlock_lab import _native, entries
from fairlock_lab.checking import coverage
from fairlock_lab.commands import check

ENTRIES = {entry["name"]: entry for entry in entries.entries(variations=True)}
NAMES = list(ENTRIES)
PLAIN = [name for name, entry in ENTRIES.items() if not entry["variation"]]


@pytest.fixture(scope="session")
def rows(fairlock: Command) -> list[dict[str, Any]]:
    """All that `fairlock check` explores, in one go."""
    done = fairlock("check", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_lock_holds(rows: list[dict[str, Any]], name: str) -> None:
    own = [row for row in rows if row["name"] == name]
    assert own
    assert {(row["verdict"], row["complete"]) for row in own} == {("holds", True)}


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.parametrize("name", PLAIN)
def test_every_lock_is_explored_at_the_promised_bounds(rows: list[dict[str, Any]], name: str) -> None:
    explored = {
        (row["memory"], row["threads"], row["episodes"], row["slots"])
        for row in rows
        if row["name"] == name and row["scenario"] == "rounds"
    }
    array = ENTRIES[name]["waiting_array"]
    if ENTRIES[name]["kind"] == "semaphore":
        assert ("sc", 4, 1, 1) in explored
        assert ("sc", 3, 2, 1) in explored or name == "fair-semaphore"  # it guesses: too many states
    if any(word in name for word in ("chain", "futex", "fair")):  # longer ways to wait: smaller bounds
        for slots in (1, 2) if array else (1,):
            assert {("sc", 2, 2, slots), ("weak", 2, 2, slots)} <= explored
        assert {("sc", 3, 1, 1), ("weak", 3, 1, 1)} <= explored
        return
    for slots in (1, 2, 4) if array else (1,):
        for memory in ("sc", "weak"):
            for size in ((2, 2), (3, 1), (3, 2)):
                if (memory, size) == ("weak", (3, 2)) and ENTRIES[name]["algorithm"] == "capacitor":
                    continue  # would take longer than all the rest
                assert (memory, *size, slots) in explored


@pytest.mark.exhaustive
@pytest.mark.slow
def test_scenarios_cover_what_the_catalogue_claims(rows: list[dict[str, Any]]) -> None:
    explored = {(row["name"], row["scenario"]) for row in rows}
    for entry in _native.locks():
        assert ((entry["name"], "try") in explored) == entry["try_lock"]
        assert ((entry["name"], "oblivious") in explored) == entry["thread_oblivious"]
        assert ((entry["name"], "destroy") in explored) == entry["destroyable_by_next_owner"]
        assert ((entry["name"], "timed") in explored) == entry["abandonable"]
        timed_destroy = entry["abandonable"] and entry["destroyable_by_next_owner"]
        assert ((entry["name"], "timed-destroy") in explored) == timed_destroy
        assert (entry["name"], "several") in explored
        if not entry["variation"] and entry["order"] != "long-term":
            assert ((entry["name"] + "+park", "rounds") in explored) == entry["parkable"]
    for semaphore in _native.semaphores():
        for scenario in ("rounds", "try", "permits", "posts", "timed", "timed-permits", "timed-posts", "timed-away"):
            assert (semaphore["name"], scenario) in explored
        assert (semaphore["name"], "timed-batch") in explored or semaphore["variation"]
        for scenario in ("destroy", "timed-destroy"):
            assert ((semaphore["name"], scenario) in explored) == semaphore["destroyable_by_next_owner"]
    for scenario in ("full-table", "interrupt", "wrap"):
        assert any(explored_scenario == scenario for _, explored_scenario in explored)
    for inner in ("tts", "ticket", "lifo", "mcs", "reciprocating"):
        for platoon in (1, 2, 3):
            for ending in ("", "+park"):
                assert (f"capacitor-{inner}/platoon-{platoon}{ending}", "rounds") in explored


@pytest.mark.exhaustive
@pytest.mark.slow
def test_the_documented_coverage_is_current(rows: list[dict[str, Any]]) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "coverage.md").read_text()
    (shown,) = re.findall(r"```\n(.*?)\n```", page, re.DOTALL)
    assert shown == coverage.render(rows)


def test_coverage_marks_incomplete_runs() -> None:
    rows = [
        check.explore(check.Run("ticket", threads=3, slots=slots), max_states, set()).as_json()
        for slots, max_states in ((1, 10_000_000), (2, 1))
    ]
    rows[1] |= {"complete": False, "verdict": "incomplete"}
    shown = coverage.render(rows)
    assert "3x2 INCOMPLETE /1,2" in shown
    assert "3x2 INCOMPLETE" not in coverage.render(rows[:1])


def test_coverage_marks_violated_runs() -> None:
    mutant = check.Run("tas", mutant="tas-split")
    rows = [check.explore(run, 10_000_000, set()).as_json() for run in (check.Run("tas"), mutant)]
    assert [row["verdict"] for row in rows] == ["holds", "violated"]
    shown = coverage.render([rows[0], {**rows[1], "slots": 2}])
    assert "2x2 VIOLATED /1,2" in shown
    assert "INCOMPLETE" not in shown
    rows[0] |= {"complete": False, "verdict": "incomplete"}
    assert "2x2 VIOLATED /1,2" in coverage.render([rows[0], {**rows[1], "slots": 2}])


def test_no_run_is_planned_twice() -> None:
    for deep in (False, True):
        runs = check.plan(_native.subjects(), deep=deep)
        assert len(runs) == len(set(runs))


def test_deep_explores_more_of_every_subject() -> None:
    subjects = _native.subjects()
    usual, deep = set(check.plan(subjects)), set(check.plan(subjects, deep=True))
    assert usual < deep
    assert {subject["name"] for subject in subjects} == {run.name for run in deep - usual}


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.parametrize("name", ["condition", "condition+park"])
def test_conditions_hold(rows: list[dict[str, Any]], name: str) -> None:
    own = [row for row in rows if row["name"] == name]
    assert {(row["scenario"], row["memory"]) for row in own} == {
        (scenario, memory)
        for scenario in ("notify", "notify-all", "notify-timed", "notify-destroy")
        for memory in ("sc", "weak")
    }
    assert {(row["verdict"], row["complete"]) for row in own} == {("holds", True)}


# --- mutants ---


@pytest.fixture(scope="session")
def mutants(fairlock: Command) -> list[dict[str, Any]]:
    done = fairlock("check", "--mutants", "--json")
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    assert done.returncode == (0 if all(row["verdict"] == "killed" for row in rows) else 1)
    return rows


@pytest.mark.parametrize("name", [mutant["name"] for mutant in _native.mutants()])
def test_mutant_is_found(mutants: list[dict[str, Any]], name: str) -> None:
    (row,) = [row for row in mutants if row["mutant"] == name]
    assert row["verdict"] == "killed"
    assert row["property"]
    again = _native.replay(
        row["name"], row["scenario"], row["threads"], row["episodes"], row["slots"], row["memory"],
        name, row["schedule"],
    )  # fmt: skip
    assert again["property"] == row["property"]
    assert again["what"] == row["what"]


def test_there_is_a_mutant_for_every_lock() -> None:
    mutated = {mutant["lock"].split("/")[0] for mutant in _native.mutants()}
    assert mutated >= set(PLAIN)
    assert len(_native.mutants()) >= 20


def test_a_bare_semaphore_bounds_no_bypass(mutants: list[dict[str, Any]]) -> None:
    """Why a capacitor has platoons: found by the order of admission, and by nothing simpler."""
    (row,) = [row for row in mutants if row["mutant"] == "capacitor-bare-semaphore"]
    assert row["property"] == "order of admission"


def test_departing_after_the_inner_release_is_too_late(mutants: list[dict[str, Any]]) -> None:
    (row,) = [row for row in mutants if row["mutant"] == "capacitor-late-departure"]
    assert row["property"] == "use after destruction"


def test_a_surviving_mutant_is_reported(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    # Bounds too small to show it: one thread never meets another.
    alone = check.Run("ticket", threads=1, episodes=1)
    monkeypatch.setattr(check, "plan", lambda subjects: [alone])
    args = ["--mutants", "ticket-relaxed-release"]
    parser = argparse.ArgumentParser()
    check.add_arguments(parser)
    assert check.run(parser.parse_args(args)) == 1
    assert "SURVIVED" in capsys.readouterr().out


# --- the memory models ---


@pytest.mark.parametrize("row", _native.litmus(), ids=lambda row: f"{row['name']}-{row['memory']}")
def test_litmus(row: _native.Litmus) -> None:
    assert row["complete"]
    assert row["found"] == row["expected"]


# --- the second engine ---


@pytest.mark.parametrize("name", NAMES)
def test_reduction_loses_no_trace(name: str) -> None:
    entry = ENTRIES[name]
    for threads, episodes in ((2, 1), (2, 2), (3, 1)):
        if entry["max_threads"] is not None and threads > entry["max_threads"]:
            continue
        every = _native.Check(name, "rounds", threads, episodes, 1, max_states=100_000).traces(reduce=False)
        reduced = _native.Check(name, "rounds", threads, episodes, 1, max_states=100_000).traces(reduce=True)
        if every["complete"]:  # else there are too many interleavings to try them all
            assert reduced["complete"]
            assert reduced["traces"] == every["traces"]
            assert reduced["executions"] <= every["executions"]
        elif reduced["complete"]:
            assert every["traces"] <= reduced["traces"]


def test_both_engines_find_the_same_bugs() -> None:
    agreed = 0
    for mutant in _native.mutants():
        for threads, episodes in ((2, 1), (2, 2)):
            if mutant["lock"].startswith(("hapax-seqlock", "condition")):  # they have no rounds
                continue
            if any(
                word in mutant["lock"] for word in ("+park", "futex", "fair")
            ):  # the second engine knows no patience
                continue
            bounds = (mutant["lock"], "rounds", threads, episodes, 1)
            states = _native.Check(*bounds, "sc", mutant["name"]).run()
            reduced = _native.Check(*bounds, "sc", mutant["name"], 1_000_000).traces(reduce=True)
            assert (states["property"] is None) == (reduced["property"] is None), mutant["name"]
            agreed += states["property"] is not None
    assert agreed >= 15


@pytest.mark.parametrize("memory", ["sc", "weak"])
def test_chance_is_explored_both_ways_and_replays(memory: str) -> None:
    run = ("capacitor-tts-fractional/platoon-2", "rounds", 1, 1, 1, memory, "")
    arrives, skips = (_native.replay(*run, schedule) for schedule in ("AAAAAAA", "A1AAA"))
    for replayed, answer, departs in ((arrives, "no", True), (skips, "yes", False)):
        assert replayed["property"] is None
        assert replayed["lines"][0] == f"A  leaves it to chance: {answer}"
        assert any("departed" in line for line in replayed["lines"]) == departs


def test_replay_lets_every_thread_start() -> None:
    """Identical threads start in order. In a replay, the filter for that hid a thread that could go on."""
    replayed = _native.replay("tas", "rounds", 2, 1, 1, "sc", "", "AA")
    assert replayed["property"] is None


def test_replay_skips_steps_that_a_thread_no_longer_takes() -> None:
    """In this schedule twa-semaphore-futex lost a wake-up. Since then its release takes one RMW less."""
    schedule = "AABBBBABAABCCCAAACCBBBBBDDDDDCDD"
    replayed = _native.replay("twa-semaphore-futex", "rounds", 4, 1, 1, "sc", "", schedule)
    assert replayed["property"] is None
    assert replayed["skipped"] == 1
    assert len(replayed["lines"]) == len(schedule)


@pytest.mark.parametrize(("schedule", "skipped"), [("AAA", "1 step"), ("AAAA", "2 steps")])
def test_replay_reports_skipped_steps(fairlock: Command, schedule: str, skipped: str) -> None:
    done = fairlock("check", "tas", "--threads", "2", "--episodes", "1", "--schedule", schedule)
    assert f"\nskipped {skipped}: the schedule was recorded with another version of the lock\n" in done.stdout


def test_exploration_is_deterministic() -> None:
    runs = [_native.Check("hapax-vw", threads=3, episodes=1, slots=2, memory="weak").run() for _ in range(2)]
    assert runs[0]["states"] == runs[1]["states"]


def test_a_scenario_without_room_is_incomplete_not_fatal(fairlock: Command) -> None:
    done = fairlock(
        "check", "anderson", "--threads", "4", "--episodes", "8", "--memory", "weak", "--max-states", "300000"
    )
    assert done.returncode == 1
    assert "not complete" in done.stdout


@pytest.mark.parametrize("engine", ["states", "dpor"])
def test_ctrl_c_ends_it_at_once(engine: str) -> None:
    program = Path(sys.executable).with_name("fairlock")
    arguments = ["check", "hapax-vw/two-stage", "--threads", "4", "--episodes", "2", "--engine", engine]
    with processes.start([program, *arguments]) as process:
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
    assert process.returncode == 130
    assert "interrupted" in errors


def test_exploration_can_be_given_up() -> None:
    result = _native.Check("hapax-vw", threads=3, episodes=2, slots=4, max_states=5000).run()
    assert not result["complete"]
    assert result["property"] is None


# --- the command line ---


def test_the_second_engine_is_at_hand(fairlock: Command) -> None:
    done = fairlock("check", "ticket", "mcs", "--engine", "dpor")
    assert done.returncode == 0, done.stderr
    found = fairlock("check", "--engine", "dpor", "--mutant", "ticket-split")
    assert found.returncode == 1
    again = next(line for line in found.stdout.splitlines() if line.strip().startswith("again:"))
    assert fairlock(*again.split()[2:]).returncode == 1


def test_violation_prints_a_trace_that_can_be_replayed(fairlock: Command) -> None:
    done = fairlock("check", "--mutant", "hapax-slot-store", "--memory", "weak")
    assert done.returncode == 1
    assert "deadlock" in done.stdout
    command = next(line for line in done.stdout.splitlines() if line.strip().startswith("again:"))
    again = fairlock(*command.split()[2:])
    assert again.returncode == 1
    assert "deadlock" in again.stdout
    assert "notice[0].store" in again.stdout


def test_json_has_a_row_for_each_run(fairlock: Command) -> None:
    done = fairlock("check", "ticket", "--threads", "2", "--episodes", "1", "--json")
    assert done.returncode == 0
    (row,) = json.loads(done.stdout)
    assert row["name"] == "ticket"
    assert row["verdict"] == "holds"
    assert {"memory", "threads", "episodes", "slots", "states", "complete"} <= row.keys()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["check", "tiket"], "did you mean ticket?"),
        (["check", "--threads", "0"], "--threads 0: choose from 1, 2, 3, 4"),
        (["check", "--threads", "5"], "--threads 5: choose from 1, 2, 3, 4"),
        (["check", "--episodes", "9"], "--episodes 9"),
        (["check", "--slots", "3"], "--slots 3: choose from 1, 2, 4"),
        (["check", "--memory", "strong"], "choose from sc, weak"),
        (["check", "--scenario", "chaos"], "choose from rounds, try"),
        (["check", "anderson/2", "--threads", "3"], "more threads than the lock is made for"),
        (["check", "tidex", "--scenario", "try"], "no try_acquire"),
        (["check", "ticket", "--schedule", ""], "a schedule is letters A to D"),
        (["check", "ticket", "--schedule", "xyz"], "a schedule is letters A to D"),
        (["check", "ticket", "--schedule", "CCC"], "the schedule is of another scenario"),
        (["check", "--schedule", "A"], "--schedule replays one lock"),
        (["check", "--mutants", "nothing"], "unknown mutant"),
        (["check", "--mutant", "nothing"], "unknown mutant"),
        (["check", "--jobs", "0"], "--jobs"),
        (["check", "--litmus", "tas"], "--litmus takes no names of locks: remove tas"),
        (["check", "--mutant", "tas-split", "tas"], "--mutant tas-split takes no names of locks: remove tas"),
        (["check", "--deep", "--threads", "2"], "--deep and --coverage"),
        (["check", "--coverage", "--mutants"], "--deep and --coverage"),
        (["check", "ticket", "--scenario", "interrupt"], "choose NAME+park"),
        (["check", "mcs", "--scenario", "wrap"], "no counters"),
        (["check", "--engine", "magic"], "choose from states, dpor"),
        (["check", "--engine", "dpor", "--memory", "weak"], "--memory sc"),
        (["explain", "tickets"], "did you mean ticket?"),
        (["list", "hapaks"], "did you mean hapax?"),
        (["chekc"], "invalid choice"),
        ([], "COMMAND"),
    ],
)
def test_bad_input_is_one_line_and_status_2(fairlock: Command, arguments: list[str], says: str) -> None:
    done = fairlock(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1
