# SPDX-License-Identifier: Apache-2.0
"""The model checker: what it explores, the mutants that it finds, and its engines."""

from __future__ import annotations

import argparse
import json
import re
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import processes
import pytest
from conftest import Command, Shared

from fairlock_lab import Coverage, LitmusResult, Run, RunResult, _native, catalogue, check, litmus, mutants, replay
from fairlock_lab.checking import library
from fairlock_lab.checking.plan import plan
from fairlock_lab.checking.subjects import Memory, subjects
from fairlock_lab.commands import check as command
from fairlock_lab.entries import AlgorithmEntry, LockEntry, SemaphoreEntry

ENTRIES = {name: entry for name, entry in catalogue(variations=True).items() if isinstance(entry, AlgorithmEntry)}
NAMES = list(ENTRIES)
PLAIN = [name for name, entry in ENTRIES.items() if not entry.variation]


@pytest.fixture(scope="session")
def rows(fairlock: Command, shared: Shared) -> list[dict[str, Any]]:
    """Return the results of `fairlock check`, which explores everything. One worker runs it for all workers."""

    def explore() -> list[dict[str, Any]]:
        done = fairlock("check", "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return shared.value("check", explore)


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_lock_holds(rows: list[dict[str, Any]], name: str) -> None:
    runs = [row for row in rows if row["name"] == name]
    assert runs
    assert {(row["verdict"], row["complete"]) for row in runs} == {("holds", True)}


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.parametrize("name", PLAIN)
def test_every_lock_is_explored_at_the_promised_bounds(rows: list[dict[str, Any]], name: str) -> None:
    explored = {
        (row["memory"], row["threads"], row["episodes"], row["slots"])
        for row in rows
        if row["name"] == name and row["scenario"] == "rounds"
    }
    array = ENTRIES[name].waiting_array
    if ENTRIES[name].kind == "semaphore":
        assert ("sc", 4, 1, 1) in explored
        assert ("sc", 3, 2, 1) in explored or name == "fair-semaphore"  # it guesses, which gives it too many states
    # These have smaller bounds, because their waiters take more steps.
    if any(word in name for word in ("chain", "futex", "fair")):
        for slots in (1, 2) if array else (1,):
            assert {("sc", 2, 2, slots), ("weak", 2, 2, slots)} <= explored
        assert {("sc", 3, 1, 1), ("weak", 3, 1, 1)} <= explored
        return
    for slots in (1, 2, 4) if array else (1,):
        for memory in ("sc", "weak"):
            for size in ((2, 2), (3, 1), (3, 2)):
                if (memory, size) == ("weak", (3, 2)) and ENTRIES[name].algorithm == "capacitor":
                    continue  # this run would take longer than all the others
                assert (memory, *size, slots) in explored


@pytest.mark.exhaustive
@pytest.mark.slow
def test_scenarios_cover_what_the_catalogue_claims(rows: list[dict[str, Any]]) -> None:
    explored = {(row["name"], row["scenario"]) for row in rows}
    for entry in (entry for entry in ENTRIES.values() if isinstance(entry, LockEntry)):
        assert ((entry.name, "try") in explored) == entry.try_lock
        assert ((entry.name, "oblivious") in explored) == entry.thread_oblivious
        assert ((entry.name, "destroy") in explored) == entry.destroyable_by_next_owner
        assert ((entry.name, "timed") in explored) == entry.abandonable
        timed_destroy = entry.abandonable and entry.destroyable_by_next_owner
        assert ((entry.name, "timed-destroy") in explored) == timed_destroy
        assert (entry.name, "several") in explored
        if not entry.variation and entry.order != "long-term":
            assert ((entry.name + "+park", "rounds") in explored) == entry.parkable
    for semaphore in (entry for entry in ENTRIES.values() if isinstance(entry, SemaphoreEntry)):
        for scenario in ("rounds", "try", "permits", "posts", "timed", "timed-permits", "timed-posts", "timed-away"):
            assert (semaphore.name, scenario) in explored
        assert (semaphore.name, "timed-batch") in explored or semaphore.variation
        for scenario in ("destroy", "timed-destroy"):
            assert ((semaphore.name, scenario) in explored) == semaphore.destroyable_by_next_owner
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
    assert shown == str(Coverage(tuple(RunResult.from_dict(row) for row in rows)))


def test_coverage_marks_incomplete_runs() -> None:
    (complete,) = check("ticket", threads=3)
    assert complete.complete
    (incomplete,) = check("ticket", threads=3, slots=2)
    incomplete = replace(incomplete, complete=False, verdict="incomplete")
    assert "3x2 INCOMPLETE /1,2" in str(Coverage((complete, incomplete)))
    assert "3x2 INCOMPLETE" not in str(Coverage((complete,)))


def test_coverage_marks_violated_runs() -> None:
    (holds,), (violated,) = check("tas", scenario="rounds"), check(mutant="tas-split")
    assert [holds.verdict, violated.verdict] == ["holds", "violated"]
    violated = replace(violated, run=replace(violated.run, slots=2))
    shown = str(Coverage((holds, violated)))
    assert "2x2 VIOLATED /1,2" in shown
    assert "INCOMPLETE" not in shown
    incomplete = replace(holds, complete=False, verdict="incomplete")
    assert "2x2 VIOLATED /1,2" in str(Coverage((incomplete, violated)))


def test_no_run_is_planned_twice() -> None:
    for deep in (False, True):
        runs = plan(subjects().values(), deep=deep)
        assert len(runs) == len(set(runs))


def test_deep_explores_more_of_every_subject() -> None:
    usual, deep = set(plan(subjects().values())), set(plan(subjects().values(), deep=True))
    assert usual < deep
    assert set(subjects()) == {run.name for run in deep - usual}


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.parametrize("name", ["condition", "condition+park"])
def test_conditions_hold(rows: list[dict[str, Any]], name: str) -> None:
    runs = [row for row in rows if row["name"] == name]
    assert {(row["scenario"], row["memory"]) for row in runs} == {
        (scenario, memory)
        for scenario in ("notify", "notify-all", "notify-timed", "notify-destroy")
        for memory in ("sc", "weak")
    }
    assert {(row["verdict"], row["complete"]) for row in runs} == {("holds", True)}


# --- mutants ---


@pytest.fixture(scope="session")
def kills(fairlock: Command, shared: Shared) -> dict[str, RunResult]:
    """Return the results of `fairlock check --mutants`, by the mutant's name. One worker runs it for all workers."""

    def explore() -> list[dict[str, Any]]:
        done = fairlock("check", "--mutants", "--json")
        rows: list[dict[str, Any]] = json.loads(done.stdout)
        assert done.returncode == (0 if all(row["verdict"] == "killed" for row in rows) else 1)
        return rows

    return {row["mutant"]: RunResult.from_dict(row) for row in shared.value("mutants", explore)}


@pytest.mark.parametrize("name", [mutant.name for mutant in mutants()])
def test_the_checker_finds_the_mutant(kills: dict[str, RunResult], name: str) -> None:
    result = kills[name]
    assert result.verdict == "killed"
    assert result.property
    replayed = result.replay()
    assert replayed.property == result.property
    assert replayed.what == result.what


def test_there_is_a_mutant_for_every_lock() -> None:
    assert {mutant.lock.split("/")[0] for mutant in mutants()} >= set(PLAIN)
    assert len(mutants()) >= 20


def test_a_bare_semaphore_bounds_no_bypass(kills: dict[str, RunResult]) -> None:
    """This is why a capacitor has platoons. Only the order of admission shows the mistake."""
    assert kills["capacitor-bare-semaphore"].property == "order of admission"


def test_departing_after_the_inner_release_is_too_late(kills: dict[str, RunResult]) -> None:
    assert kills["capacitor-late-departure"].property == "use after destruction"


def test_a_surviving_mutant_is_reported(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    # With these bounds no thread meets another, so the planted bug stays hidden.
    monkeypatch.setattr(library, "plan", lambda _: [Run("ticket", threads=1, episodes=1)])
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    assert command.run(parser.parse_args(["--mutants", "ticket-relaxed-release"])) == 1
    assert "SURVIVED" in capsys.readouterr().out


# --- the memory models ---


@pytest.mark.parametrize("result", litmus(), ids=lambda result: f"{result.name}-{result.memory}")
def test_litmus(result: LitmusResult) -> None:
    assert result.complete
    assert result.found == result.expected
    assert result.as_expected


# --- the second engine ---


@pytest.mark.parametrize("name", NAMES)
def test_reduction_loses_no_trace(name: str) -> None:
    entry = ENTRIES[name]
    for threads, episodes in ((2, 1), (2, 2), (3, 1)):
        if entry.max_threads is not None and threads > entry.max_threads:
            continue
        bounds = (name, "rounds", threads, episodes, 1)
        interleavings = _native.Check(*bounds, max_states=100_000).traces(reduce=False)
        reduced = _native.Check(*bounds, max_states=100_000).traces(reduce=True)
        if interleavings["complete"]:  # otherwise there are too many interleavings to try all of them
            assert reduced["complete"]
            assert reduced["traces"] == interleavings["traces"]
            assert reduced["executions"] <= interleavings["executions"]
        elif reduced["complete"]:
            assert interleavings["traces"] <= reduced["traces"]


def test_both_engines_find_the_same_bugs() -> None:
    without_rounds = ("hapax-seqlock", "condition")
    not_modelled = (
        "+park",
        "futex",
        "fair",
    )  # their waits may end in several ways, and the second engine knows only one
    agreed = 0
    for mutant in mutants():
        if mutant.lock.startswith(without_rounds) or any(word in mutant.lock for word in not_modelled):
            continue
        for threads, episodes in ((2, 1), (2, 2)):
            bounds = {"mutant": mutant.name, "scenario": "rounds", "threads": threads, "episodes": episodes}
            (states,) = check(**bounds)
            (reduced,) = check(**bounds, engine="dpor", max_states=1_000_000)
            assert (states.property is None) == (reduced.property is None), mutant.name
            agreed += states.property is not None
    assert agreed >= 15


@pytest.mark.parametrize("memory", ["sc", "weak"])
def test_chance_is_explored_both_ways_and_replays(memory: Memory) -> None:
    bounds = {"threads": 1, "episodes": 1, "memory": memory}
    for schedule, answer, departs in (("AAAAAAA", "no", True), ("A1AAA", "yes", False)):
        replayed = replay("capacitor-tts-fractional/platoon-2", schedule=schedule, **bounds)
        assert replayed.property is None
        assert replayed.lines[0] == f"A  makes a random choice: {answer}"
        assert any("departed" in line for line in replayed.lines) == departs


def test_replay_lets_every_thread_start() -> None:
    """Identical threads start in order. A replay once applied this rule too, and hid a thread that could proceed."""
    assert replay("tas", schedule="AA", threads=2, episodes=1).property is None


def test_replay_skips_steps_that_a_thread_no_longer_takes() -> None:
    """In this schedule twa-semaphore-futex lost a wake-up. Since then its release takes one RMW less."""
    schedule = "AABBBBABAABCCCAAACCBBBBBDDDDDCDD"
    replayed = replay("twa-semaphore-futex", schedule=schedule, threads=4, episodes=1)
    assert replayed.property is None
    assert replayed.skipped == 1
    assert len(replayed.lines) == len(schedule)


@pytest.mark.parametrize(("schedule", "skipped"), [("AAA", "1 step"), ("AAAA", "2 steps")])
def test_replay_reports_skipped_steps(fairlock: Command, schedule: str, skipped: str) -> None:
    done = fairlock("check", "tas", "--threads", "2", "--episodes", "1", "--schedule", schedule)
    assert f"\nskipped {skipped}: the schedule was recorded with another version of the lock\n" in done.stdout


def test_exploration_is_deterministic() -> None:
    first, second = (check("hapax-vw", threads=3, episodes=1, slots=2, memory="weak") for _ in range(2))
    assert first.states == second.states


def test_a_run_that_does_not_fit_into_memory_is_incomplete(fairlock: Command) -> None:
    done = fairlock(
        "check", "anderson", "--threads", "4", "--episodes", "8", "--memory", "weak", "--max-states", "300000"
    )
    assert done.returncode == 1
    assert "not complete" in done.stdout


@pytest.mark.parametrize("engine", ["states", "dpor"])
def test_ctrl_c_ends_a_check_at_once(engine: str) -> None:
    program = Path(sys.executable).with_name("fairlock")
    arguments = ["check", "hapax-vw/two-stage", "--threads", "4", "--episodes", "2", "--engine", engine]
    with processes.start([program, *arguments]) as process:
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
    assert process.returncode == 130
    assert "interrupted" in errors


def test_a_run_ends_at_the_limit_of_states() -> None:
    (result,) = check("hapax-vw", threads=3, episodes=2, slots=4, max_states=5000)
    assert not result.complete
    assert result.verdict == "incomplete"
    assert result.property is None


# --- the command line ---


def replay_arguments(output: str) -> list[str]:
    """Return the arguments of the command that replays a violation."""
    (line,) = [line for line in output.splitlines() if line.strip().startswith("replay:")]
    return line.split()[2:]


def test_the_command_offers_the_second_engine(fairlock: Command) -> None:
    done = fairlock("check", "ticket", "mcs", "--engine", "dpor")
    assert done.returncode == 0, done.stderr
    violated = fairlock("check", "--engine", "dpor", "--mutant", "ticket-split")
    assert violated.returncode == 1
    assert fairlock(*replay_arguments(violated.stdout)).returncode == 1


def test_a_violation_prints_a_trace_and_its_replay(fairlock: Command) -> None:
    done = fairlock("check", "--mutant", "hapax-slot-store", "--memory", "weak")
    assert done.returncode == 1
    assert "deadlock" in done.stdout
    replayed = fairlock(*replay_arguments(done.stdout))
    assert replayed.returncode == 1
    assert "deadlock" in replayed.stdout
    assert "notice[0].store" in replayed.stdout


def test_json_has_a_row_for_each_run(fairlock: Command) -> None:
    done = fairlock("check", "ticket", "--threads", "2", "--episodes", "1", "--json")
    assert done.returncode == 0
    (row,) = json.loads(done.stdout)
    assert row["name"] == "ticket"
    assert row["verdict"] == "holds"
    assert {"memory", "threads", "episodes", "slots", "states", "complete"} <= row.keys()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "tiket"], "did you mean ticket?"),
        (["check", "--threads", "0"], "--threads 0: choose from 1, 2, 3, 4"),
        (["check", "--threads", "5"], "--threads 5: choose from 1, 2, 3, 4"),
        (["check", "--episodes", "9"], "--episodes 9"),
        (["check", "--slots", "3"], "--slots 3: choose from 1, 2, 4"),
        (["check", "--memory", "strong"], "choose from sc, weak"),
        (["check", "--scenario", "chaos"], "choose from rounds, try"),
        (["check", "anderson/2", "--threads", "3"], "more threads than the lock supports"),
        (["check", "tidex", "--scenario", "try"], "no try_acquire"),
        (["check", "ticket", "--schedule", ""], "a schedule is letters A to D"),
        (["check", "ticket", "--schedule", "xyz"], "a schedule is letters A to D"),
        (["check", "ticket", "--schedule", "CCC"], "the schedule is of another scenario"),
        (["check", "--schedule", "A"], "--schedule replays one lock"),
        (["check", "--mutants", "nothing"], "unknown mutant"),
        (["check", "--mutant", "nothing"], "unknown mutant"),
        (["check", "--jobs", "0"], "--jobs: choose a number from 1 to 1000, not 0"),
        (["check", "--litmus", "tas"], "--litmus takes no names of locks: remove tas"),
        (["check", "--mutant", "tas-split", "tas"], "--mutant tas-split takes no names of locks: remove tas"),
        (["check", "--deep", "--threads", "2"], "--deep and --coverage"),
        (["check", "--coverage", "--mutants"], "--deep and --coverage"),
        (["check", "ticket", "--scenario", "interrupt"], "choose NAME+park"),
        (["check", "mcs", "--scenario", "wrap"], "no counters"),
        (["check", "--engine", "magic"], "choose from states, dpor"),
        (["check", "--engine", "dpor", "--memory", "weak"], "--memory sc"),
        (["check", "--mutant", ""], "unknown mutant ''"),
        (["check", "--litmus", "--threads", "9"], "--threads 9"),
        (["check", "--mutants", "--memory", "strong"], "--memory strong"),
        (["explain", "tickets"], "did you mean ticket?"),
        (["list", "hapaks"], "did you mean hapax?"),
        (["chekc"], "invalid choice"),
        ([], "COMMAND"),
    ],
)
def test_bad_input_is_one_line_and_status_2(fairlock: Command, arguments: list[str], message: str) -> None:
    done = fairlock(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
