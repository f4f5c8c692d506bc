# SPDX-License-Identifier: Apache-2.0
"""The lab as a Python library: its functions, results and errors, and the page that documents them."""

from __future__ import annotations

import copy
import doctest
import itertools
import json
import pickle
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import pages
import pytest
from conftest import Command, Python

import fairlock_lab
from fairlock.usage import UsageError
from fairlock_lab import ArgumentError, CheckInterrupted, CheckProgress, MutantResults, Replay, RunResult
from fairlock_lab.checking import library
from fairlock_lab.checking.explore import Explorer

PAGE = pages.read(pages.ROOT / "docs" / "reference" / "lab-library.md")


class WithoutStateCounts(doctest.OutputChecker):
    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return super().check_output(pages.without_state_counts(want), pages.without_state_counts(got), optionflags)


def test_the_page_shows_real_output() -> None:
    examples = "\n".join(text for language, text in PAGE.blocks if language == "pycon")
    test = doctest.DocTestParser().get_doctest(examples, {}, PAGE.path.name, str(PAGE.path), 0)
    assert len(test.examples) >= 15
    report: list[str] = []
    doctest.DocTestRunner(WithoutStateCounts()).run(test, out=report.append)
    assert "".join(report) == ""


@pytest.mark.parametrize("name", fairlock_lab.__all__)
def test_every_public_name_can_be_imported(name: str) -> None:
    assert getattr(fairlock_lab, name).__name__ == name
    assert name in dir(fairlock_lab)


def test_the_page_names_every_public_function() -> None:
    functions = [name for name in fairlock_lab.__all__ if name.islower()]
    assert [name for name in functions if f"| `{name}(" not in PAGE.text] == []


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'chekc'"):
        fairlock_lab.chekc  # noqa: B018


def test_importing_the_lab_is_cheap(python: Python) -> None:
    code = "import sys, fairlock_lab; print([name for name in sys.modules if name.startswith('fairlock')])"
    assert python("-c", code).stdout == "['fairlock_lab']\n"


# --- the results are what the commands print ---


@pytest.mark.parametrize("arguments", [["tas", "--threads", "2"], ["--mutant", "tas-split"], ["--mutants", "tas"]])
def test_json_is_to_dict_of_each_run(fairlock: Command, arguments: list[str]) -> None:
    calls: dict[str, Callable[[], fairlock_lab.CheckResults | MutantResults]] = {
        "tas": lambda: fairlock_lab.check("tas", threads=2),
        "--mutant": lambda: fairlock_lab.check(mutant="tas-split"),
        "--mutants": lambda: fairlock_lab.check_mutants("tas"),
    }
    rows = json.loads(fairlock("check", *arguments, "--json").stdout)
    results = calls[arguments[0]]()
    assert [row | {"seconds": 0} for row in rows] == [result.to_dict() | {"seconds": 0} for result in results]
    assert [RunResult.from_dict(row).run for row in rows] == [result.run for result in results]
    assert json.loads(json.dumps(results.to_dict())) == results.to_dict()


def test_litmus_results_are_what_the_command_prints(fairlock: Command) -> None:
    results = fairlock_lab.litmus()
    assert results.as_expected
    assert fairlock("check", "--litmus").stdout == f"{results}\n"
    rows = json.loads(fairlock("check", "--litmus", "--json").stdout)
    assert rows == results.to_dict()["tests"] == [result.to_dict() for result in results]


def test_a_replay_is_what_the_command_prints(fairlock: Command) -> None:
    (result,) = fairlock_lab.check(mutant="tas-split")
    replayed = result.replay()
    arguments = result.run.command(result.schedule).split()[1:]
    assert fairlock(*arguments).stdout == f"{replayed}\n"
    row = json.loads(fairlock(*arguments, "--json").stdout)
    assert row == replayed.to_dict()
    assert row["property"] == result.property


def test_results_show_themselves_in_a_notebook() -> None:
    results = fairlock_lab.check("tas", threads=2)
    shown = [results, results.coverage(), fairlock_lab.check_mutants("tas"), fairlock_lab.litmus()]
    shown.append(fairlock_lab.replay("tas", schedule="AA", threads=2))
    for result in shown:
        assert result._repr_html_().startswith("<table><thead><tr><th>")
    assert '<td style="text-align: right">1</td>' in results._repr_html_()
    assert "<td>a &lt; b &amp; c</td>" in Replay(results[0].run, "A", None, "", ("a < b & c",), 0)._repr_html_()
    assert repr(results) == f"<CheckResults: 1 run, {results.states:,} states: holds>"


def test_results_are_a_sequence() -> None:
    results = fairlock_lab.check("tas", "tts", threads=2)
    assert [result.run.name for result in results] == ["tas", "tts"]
    assert results[1].run.name == "tts"
    assert results[:1] == (results[0],)
    assert (results.holds, results.violations, results.incomplete) == (True, (), ())


def test_text_describes_violations_and_incomplete_runs() -> None:
    violated = fairlock_lab.check(mutant="tas-split")
    assert not violated.holds
    assert "tas-split rounds 2x2, 1 slot, sc: mutual exclusion: " in str(violated)
    assert "\n  replay: fairlock check --mutant tas-split --scenario rounds" in str(violated)
    incomplete = fairlock_lab.check("hapax-vw", threads=3, episodes=2, slots=4, max_states=5000)
    assert not incomplete.holds
    assert "not complete: it reached the limit of " in str(incomplete)


def all_kinds_of_results() -> list[Any]:
    (violated,) = fairlock_lab.check(mutant="tas-split")
    results = fairlock_lab.check("tas", threads=2)
    return [
        *(fairlock_lab.catalogue(), fairlock_lab.explain("twa"), fairlock_lab.explain("twa").moments[3]),
        *(results, results[0], results.coverage(), violated, violated.replay()),
        *(fairlock_lab.check_mutants("tas"), fairlock_lab.mutants()[0], fairlock_lab.litmus()),
    ]


@pytest.mark.parametrize("result", all_kinds_of_results(), ids=lambda result: type(result).__name__)
def test_results_are_values(result: Any) -> None:
    assert copy.deepcopy(result) == pickle.loads(pickle.dumps(result)) == result
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False)) == result.to_dict()


def test_a_replay_is_not_represented_by_all_its_steps() -> None:
    replayed = fairlock_lab.replay("tas", schedule="AA", threads=2)
    assert repr(replayed) == "<Replay of tas rounds 2x2, 1 slot, sc: 2 steps, holds>"


def test_errors_reach_another_process() -> None:
    """An error that cannot be pickled breaks a pool of processes."""
    interrupted = CheckInterrupted(fairlock_lab.check("tas", threads=2), 5)
    sent = pickle.loads(pickle.dumps(interrupted))
    assert (str(sent), sent.results, sent.planned) == (str(interrupted), interrupted.results, 5)
    with pytest.raises(fairlock_lab.ChoiceError) as caught:
        fairlock_lab.check("tas", threads=9)
    assert vars(pickle.loads(pickle.dumps(caught.value))) == vars(caught.value)


def test_a_name_that_is_not_text_is_not_in_the_catalogue() -> None:
    assert 5 not in fairlock_lab.catalogue()


# --- progress and interruption ---


def test_progress_is_reported_while_the_checker_explores() -> None:
    """The calling thread runs Python meanwhile, so the exploring threads have released the GIL."""
    reports: list[CheckProgress] = []
    names = ("ticket", "twa", "hapax-vw")
    fairlock_lab.check(*names, threads=4, episodes=2, max_states=2_000_000, jobs=2, progress=reports.append)
    assert reports[-1].done == reports[-1].total == 3
    steps = list(itertools.pairwise(reports))
    assert all(earlier.seconds <= later.seconds for earlier, later in steps)
    assert any(earlier.done == later.done and earlier.states < later.states for earlier, later in steps)


def interrupt(progress: CheckProgress) -> None:
    if progress.done:
        signal.raise_signal(signal.SIGINT)


def interrupt_at_once(_: CheckProgress) -> None:
    signal.raise_signal(signal.SIGINT)


def test_ctrl_c_keeps_the_results_so_far() -> None:
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt) as caught:
        fairlock_lab.check("tas", "hapax-vw/two-stage", threads=4, episodes=2, jobs=1, progress=interrupt)
    assert time.monotonic() - began < 30
    assert isinstance(caught.value, CheckInterrupted)
    assert caught.value.planned == 2
    assert [result.run.name for result in caught.value.results] == ["tas"]
    assert caught.value.results.holds


def test_a_second_ctrl_c_does_not_leave_the_exploration_running(monkeypatch: pytest.MonkeyPatch) -> None:
    def cancel_late(explorer: Explorer) -> None:
        signal.raise_signal(signal.SIGINT)
        usual_cancel(explorer)

    usual_cancel = Explorer.cancel
    monkeypatch.setattr(Explorer, "cancel", cancel_late)
    before = threading.active_count()
    with pytest.raises(CheckInterrupted) as caught:
        fairlock_lab.check("tas", "ticket", threads=4, episodes=8, memory="weak", jobs=2, progress=interrupt_at_once)
    assert len(caught.value.results) < 2
    assert threading.active_count() == before


def test_ctrl_c_ends_the_search_for_mutants(monkeypatch: pytest.MonkeyPatch) -> None:
    """It once cancelled the run of a mutant that was under way, and the next run of this mutant began."""
    usual_plan = library.plan

    def endless_plan(subjects: list[library.Subject]) -> list[fairlock_lab.Run]:
        (name,) = {run.name for run in usual_plan(subjects)}
        endless = [fairlock_lab.Run("hapax-vw/two-stage", threads=4, episodes=8, slots=slots) for slots in (1, 2, 4)]
        return endless if name == "mcs" else [fairlock_lab.Run(name)]

    monkeypatch.setattr(library, "plan", endless_plan)
    began = time.monotonic()
    with pytest.raises(CheckInterrupted) as caught:
        fairlock_lab.check_mutants("tas-split", "mcs-late-mark", jobs=1, progress=interrupt)
    assert time.monotonic() - began < 30
    assert [result.run.mutant for result in caught.value.results] == ["tas-split"]


def test_an_exception_of_the_callback_ends_the_check() -> None:
    def fail(_: CheckProgress) -> None:
        raise RuntimeError("the callback failed")

    with pytest.raises(RuntimeError, match="the callback failed"):
        fairlock_lab.check("hapax-vw/two-stage", threads=4, episodes=8, progress=fail)


def test_checks_can_run_on_several_threads() -> None:
    results: list[fairlock_lab.CheckResults] = []
    threads = [
        threading.Thread(target=lambda name=name: results.append(fairlock_lab.check(name, threads=3)))
        for name in ("ticket", "twa", "mcs")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(result[0].run.name for result in results) == ["mcs", "ticket", "twa"]
    assert all(result.holds for result in results)


# --- errors ---


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fairlock_lab.check("tiket"), "unknown name 'tiket' (did you mean ticket?); choose from: tas"),
        (lambda: fairlock_lab.check("tas", threads=0), "threads=0: choose from 1, 2, 3, 4"),
        (lambda: fairlock_lab.check("tas", episodes=9), "episodes=9: choose from 1, 2"),
        (lambda: fairlock_lab.check("tas", slots=3), "slots=3: choose from 1, 2, 4"),
        (lambda: fairlock_lab.check("tas", memory="strong"), "memory='strong': choose from 'sc', 'weak'"),
        (lambda: fairlock_lab.check("tas", scenario="chaos"), "scenario='chaos': choose from 'rounds', 'try'"),
        (lambda: fairlock_lab.check("tas", engine="magic"), "engine='magic': choose from 'states', 'dpor'"),
        (lambda: fairlock_lab.check("tas", engine="dpor", memory="weak"), "engine='dpor' explores memory='sc' only"),
        (lambda: fairlock_lab.check("tas", deep=True, threads=2), "deep=True chooses the bounds"),
        (lambda: fairlock_lab.check("tas", mutant="tas-split"), "mutant='tas-split' takes no names of locks"),
        (lambda: fairlock_lab.check("tas", jobs=0), "jobs: choose a number from 1 to 1000, not 0"),
        (lambda: fairlock_lab.check("tas", max_states=0), "max_states: choose a number from 1 to "),
        (lambda: fairlock_lab.check("mcs", scenario="wrap"), "mcs: it has no counters"),
        (lambda: fairlock_lab.check(mutant="tas-spilt"), "unknown mutant 'tas-spilt' (did you mean tas-split?)"),
        (lambda: fairlock_lab.check_mutants("nothing"), "unknown mutant 'nothing'; choose from: tas-split"),
        (lambda: fairlock_lab.replay("tas", schedule=""), "a schedule is letters A to D"),
        (lambda: fairlock_lab.replay("tas", schedule="xyz"), "a schedule is letters A to D"),
        (lambda: fairlock_lab.replay(schedule="A"), "to replay a schedule, name one lock or one mutant"),
        (lambda: fairlock_lab.check(["tas"]), "unknown name ['tas']; choose from: tas"),
        (lambda: fairlock_lab.check(None), "unknown name None"),
        (lambda: fairlock_lab.check("tas\nticket"), r"unknown name 'tas\nticket'"),
        (lambda: fairlock_lab.check("tas", threads=True), "threads=True: choose from 1, 2, 3, 4"),
        (lambda: fairlock_lab.check("tas", jobs="2"), "jobs: choose a number from 1 to 1000, not '2'"),
        (lambda: fairlock_lab.check("tas", jobs=1.5), "jobs: choose a number from 1 to 1000, not 1.5"),
        (lambda: fairlock_lab.check("tas", max_states=2**64), "max_states: choose a number from 1 to "),
        (lambda: fairlock_lab.check("tas", max_states=None), "max_states: choose a number from 1 to "),
        (lambda: fairlock_lab.check("tas", progress=5), "progress: pass a function or None, not 5"),
        (lambda: fairlock_lab.check(mutant=["tas"]), "unknown mutant ['tas']"),
        (lambda: fairlock_lab.check_mutants(5), "unknown mutant 5"),
        (lambda: fairlock_lab.check_mutants("tas", progress=5), "progress: pass a function"),
        (lambda: fairlock_lab.replay("tas", schedule=5), "schedule=5: a schedule is letters A to D"),
        (lambda: fairlock_lab.replay("tas", schedule="\ud800"), "a schedule is letters A to D"),
        (lambda: fairlock_lab.check("tas", threads=2)[0].replay(), "there is no schedule to replay"),
        (lambda: fairlock_lab.explain(None), "unknown name None"),
        (lambda: fairlock_lab.catalogue(["tas"]), "unknown name ['tas']"),
        (lambda: fairlock_lab.explain("tickets"), "did you mean ticket?"),
        (lambda: fairlock_lab.catalogue("hapaks"), "did you mean hapax?"),
    ],
)
def test_a_wrong_argument_is_a_value_error_of_one_line(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        call()
    assert message in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, UsageError)  # so that a command ends with exit status 2
