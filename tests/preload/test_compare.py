# SPDX-License-Identifier: Apache-2.0
"""``fairlock run --lock all -- program``: each sample is a whole run, and a failed run is no sample."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import processes
import pytest

from fairlock import cli, paths
from fairlock.run import preload
from fairlock_lab.benchmarks import compare_program, programs, results
from fairlock_lab.benchmarks.process import SampleError
from fairlock_lab.benchmarks.results import Point

try:
    LOCKS = preload.locks()
except FileNotFoundError as error:
    pytest.skip(f"no locks to preload: {error}", allow_module_level=True)

PROGRAM = Path(sys.executable).with_name("fairlock")
Run = Callable[..., processes.Result]

# A program that prints its lock: the file's name without the ending, or nothing.
LOCK = 'lock=$(basename "${LD_PRELOAD%%:*}" .so)'


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Call `fairlock run` in an empty folder."""

    def call(*arguments: str) -> processes.Result:
        command = [PROGRAM, "run", *arguments]
        return processes.run(command, cwd=tmp_path)

    return call


def measured(run: Run, tmp_path: Path, *arguments: str) -> tuple[results.BenchResults, str]:
    done = run("--json=r.json", *arguments)
    assert done.returncode == 0, done.stderr
    result = results.load(tmp_path / "r.json")
    assert result.complete
    return result, done.stdout


def by_lock(result: results.BenchResults) -> dict[str, list[dict[str, Any]]]:
    metrics: dict[str, list[dict[str, Any]]] = {}
    for sample in result.samples:
        metrics.setdefault(result.plan.points[sample.point].lock, []).append(sample.metrics)
    return metrics


# --- samples ---


def test_each_run_of_the_program_is_a_sample(run: Run, tmp_path: Path) -> None:
    result, printed = measured(run, tmp_path, "--lock=twa,fair", "--repeat=3", "--", "sleep", "0.2")
    assert result.command[:5] == ["run", "--lock", "twa,fair", "--waiting", "spin-then-park"]
    assert result.command[-3:] == ["--", "sleep", "0.2"]
    metrics = by_lock(result)
    assert {lock: len(samples) for lock, samples in metrics.items()} == {"pthread-mutex": 3, "twa": 3, "fair": 3}
    for lock, samples in metrics.items():
        for sample in samples:
            assert sample["wall"] >= 0.2
            assert min(sample[name] for name in ("user", "system", "voluntary_switches", "involuntary_switches")) >= 0
            expected = None if lock == "pthread-mutex" else {"lock": lock, "waiting": "spin-then-park"}
            assert "note" in sample or sample["preloaded"] == expected
    assert any("preloaded" in sample for samples in metrics.values() for sample in samples)
    assert "sleep 0.2\n" in printed
    for word in ("pthread-mutex", "twa (spin-then-park)", "fair (spin-then-park)", "x pthread", "wall, s"):
        assert word in printed
    assert "0 threads" not in printed


def test_all_names_every_lock_of_a_policy(run: Run, tmp_path: Path) -> None:
    result, _ = measured(run, tmp_path, "--lock=all", "--repeat=1", "--", "sleep", "0.01")
    assert set(by_lock(result)) == {"pthread-mutex", *LOCKS}


def test_locks_take_turns_in_an_order_that_the_seed_shuffles(run: Run, tmp_path: Path) -> None:
    words = ("--lock=twa,fair,ticket,hapax", "--repeat=4", "--seed=7", "--", "true")
    first, again = (measured(run, tmp_path, *words)[0].plan for _ in range(2))
    assert list(first.order) == list(again.order)
    rounds = [[point for point, number in first.order if number == run_number] for run_number in range(4)]
    assert all(sorted(points) == [0, 1, 2, 3, 4] for points in rounds)
    assert [number for _, number in first.order] == sorted(number for _, number in first.order)
    assert len({tuple(points) for points in rounds}) > 1


def test_time_and_memory_are_the_programs(run: Run, tmp_path: Path) -> None:
    work = "x = bytearray(300_000_000); x[::4096] = x[::4096]; sum(range(3_000_000))"
    result, _ = measured(run, tmp_path, "--lock=glibc", "--repeat=1", "--", sys.executable, "-c", work)
    ((sample,),) = by_lock(result).values()
    assert 0 < sample["user"] <= sample["wall"] + 0.1
    assert 300_000_000 < sample["max_rss"] < 600_000_000


def test_memory_that_fairlock_hides_is_not_reported(run: Run, tmp_path: Path) -> None:
    result, _ = measured(run, tmp_path, "--lock=glibc", "--repeat=1", "--", "sleep", "0.01")
    assert by_lock(result)["pthread-mutex"][0]["max_rss"] is None


def test_the_program_reads_nothing_and_its_output_is_shown_on_demand(run: Run, tmp_path: Path) -> None:
    words = ("--lock=twa", "--repeat=2", "--", "sh", "-c", "cat; echo the end; echo a complaint >&2")
    done = run(*words)
    assert "the end" not in done.stdout.replace(words[-1], "") + done.stderr
    done = run("--show", *words)
    assert done.returncode == 0
    assert done.stderr.count("\nthe end\na complaint\n") == 5  # the first, and two with each lock
    assert done.stderr.count("--- twa (spin-then-park)\n") == 2


def test_the_environment_is_that_of_a_single_run(tmp_path: Path) -> None:
    words = ["--lock=twa", "--repeat=1", "--show", "--", "sh", "-c", "echo locale=$LC_CTYPE."]
    done = processes.run([PROGRAM, "run", *words], cwd=tmp_path, env={"PATH": os.defpath})
    assert done.stderr.count("\nlocale=.\n") == 3


def test_a_closed_output_does_not_stop_the_comparison(tmp_path: Path) -> None:
    words = f"{PROGRAM} run --lock=twa --repeat=1 -- true"
    done = processes.run(["sh", "-c", f"{words} 2>&-"], cwd=tmp_path)
    assert done.returncode == 0
    assert "first a run" not in done.stdout
    assert "x pthread" in done.stdout


# --- the program's own figure ---


def test_a_figure_that_the_program_prints(run: Run, tmp_path: Path) -> None:
    text = f'{LOCK}; echo "score: 1,500.5"; echo "score: $((${{#lock}} + 2000)).5"; echo took 7 ms >&2'
    words = ("--lock=twa", "--repeat=1", "--measure=^score: ([0-9.,]+)", "--measure-lower=took ([0-9]+) ms")
    result, printed = measured(run, tmp_path, *words, "--", "sh", "-c", text)
    (theirs,), (ours,) = (by_lock(result)[lock] for lock in ("pthread-mutex", "twa"))
    assert (theirs["score"], ours["score"], ours["cost"]) == (2000.5, 2003.5, 7)  # the last one that it printed
    assert "score" in printed


@pytest.mark.parametrize(
    ("text", "complaint"),
    [("echo nothing", "matches nothing in the output"), ("echo n=.", "matches '.', which is not")],
)
def test_a_missing_figure_is_a_failure(run: Run, text: str, complaint: str) -> None:
    done = run("--lock=twa,fair", "--measure=n=([0-9.]+)", "--", "sh", "-c", text)
    assert done.returncode == 1
    assert complaint in done.stderr.splitlines()[-1]


# --- failures ---


def test_a_program_that_fails_is_not_compared(run: Run, tmp_path: Path) -> None:
    done = run("--lock=twa,fair", "--json=r.json", "--", "sh", "-c", "echo first >&2; echo oh dear >&2; exit 3")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1] == "fairlock: with glibc's lock, it ended with status 3: oh dear"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("end", "said"), [("exit 9", "it ended with status 9"), ("kill -SEGV $$", "it was killed by SIGSEGV")]
)
def test_a_lock_that_makes_the_program_fail_is_named_and_the_others_are_kept(
    run: Run, tmp_path: Path, end: str, said: str
) -> None:
    text = f'{LOCK}; if [ "$lock" = fair ]; then {end}; fi'
    done = run("--lock=twa,fair,ticket", "--repeat=9", "--json=r.json", "--seed=4", "--", "sh", "-c", text)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"fairlock: program sh: fair (spin-then-park): {said}"
    result = results.load(tmp_path / "r.json")
    assert result.samples
    assert "fair" not in by_lock(result)


@pytest.mark.parametrize("number", ["nan", "inf", "1e999"])
def test_a_number_without_bounds_is_none(run: Run, number: str) -> None:
    done = run("--lock=twa", "--repeat=1", r"--measure=(\S+)", "--", "echo", number)
    assert done.returncode == 1
    assert f"matches '{number}', which is not a number" in done.stderr


def test_a_signal_without_a_name_is_reported(run: Run) -> None:
    done = run("--lock=twa", "--repeat=1", "--", "sh", "-c", "kill -40 $$")
    assert done.returncode == 1
    assert "it was killed by signal 40" in done.stderr


def test_a_run_that_does_not_end_is_killed(run: Run) -> None:
    begin = time.monotonic()
    text = f'{LOCK}; if [ "$lock" = twa ]; then sleep 300 & wait; fi'
    done = run("--lock=twa", "--timeout=0.5", "--repeat=1", "--", "sh", "-c", text)
    assert time.monotonic() - begin < 30
    assert done.returncode == 1
    assert "program sh: twa (spin-then-park): no end after 0.5 s" in done.stderr


def point(command: str, lock: str = "twa") -> Point:
    return compare_program.point_of(
        lock, None if lock == programs.UNREPLACED else "spin-then-park", {"command": command}, 1.0
    )


def test_a_lock_that_cannot_be_loaded_is_no_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "sleeping" / "twa.so"
    file.parent.mkdir()
    file.write_text("this is no shared object")
    monkeypatch.setattr(paths, "preload_dir", lambda: tmp_path)
    with pytest.raises(SampleError, match=f"{programs.NOT_LOADED}; .*cannot be preloaded"):
        compare_program.run(point("sleep 0.01"))


def test_an_error_of_the_loader_fails_the_sample() -> None:
    """If a program ends at once, the loader's error is the only sign."""

    def complaint(file: object) -> str:
        return f"ERROR: ld.so: object '{file}' from LD_PRELOAD cannot be preloaded (wrong ELF class): ignored.\n"

    with pytest.raises(SampleError, match=programs.NOT_LOADED):
        programs.LockObserver(point("true")).verdict(complaint(preload.library("twa")))
    for errors in ("all is well\n", complaint("/somewhere/else.so")):
        assert "note" in programs.LockObserver(point("true")).verdict(errors)


@pytest.mark.parametrize("words", ["env -i sleep 0.4", "sh -c 'sleep 0.1; unset LD_PRELOAD; exec sleep 0.4'"])
def test_a_lock_that_is_lost_on_the_way_is_no_sample(words: str) -> None:
    with pytest.raises(SampleError, match=programs.NOT_LOADED):
        compare_program.run(point(words))


def test_a_lock_that_is_silently_not_loaded_is_no_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A static program silently ignores LD_PRELOAD."""
    compiler = shutil.which("cc")
    source, static = tmp_path / "static.c", tmp_path / "static"
    source.write_text("#include <unistd.h>\nint main(void) { return (int)sleep(2); }\n")
    if compiler is None or processes.run([compiler, "-static", "-o", static, source]).returncode != 0:
        pytest.skip("no compiler can link static programs here")
    monkeypatch.setattr(programs, "STATIC_AFTER", 0.2)
    with pytest.raises(SampleError, match=programs.NOT_LOADED):
        compare_program.run(point(str(static)))


def test_an_error_about_another_object_does_not_fail_the_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_PRELOAD", "/nowhere/else.so")
    assert compare_program.run(point("sleep 0.2"))["preloaded"]


def test_glibc_replaces_a_lock_that_was_preloaded_already(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_PRELOAD", str(preload.library("fair")))
    assert not compare_program.run(point("sleep 0.5", programs.UNREPLACED)).get("preloaded")
    monkeypatch.setattr(programs, "environment", lambda point: dict(os.environ))
    with pytest.raises(SampleError, match=programs.NOT_LOADED):
        compare_program.run(point("sleep 0.5", programs.UNREPLACED))


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--lock=twa,twb"], "unknown lock 'twb'"),
        (["--lock=all,twb"], "unknown lock 'twb'"),
        (["--lock=twa,fair", "--measure=(x{99999999999})"], "--measure (x{99999999999}): "),
        (["--lock=twa", "--repeat=0"], "--repeat 0"),
        (["--lock=twa", "--repeat=1001"], "--repeat: choose at most 1000, not 1001"),
        (["--lock=twa,fair", "--timeout=-1"], "--timeout: choose more than 0 and at most"),
        (["--lock=twa,fair", "--measure=n=[0-9]+"], "put one group, (...), around the number; the pattern has 0"),
        (["--lock=twa,fair", "--measure=n=("], "--measure n=(: "),
        (["--lock=twa,fair", "--json=none/r.json"], "there is no folder"),
        (["--lock=twa,fair", "--json=r.json", "--report=r.json"], "the results are there"),
        (["--lock=twa", "--show"], "--show is only for comparisons"),
    ],
)
def test_bad_input_is_one_line_and_nothing_runs(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    words: list[str],
    complaint: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["run", *words, "--", "touch", "it-ran"]) == 2
    said = capsys.readouterr()
    assert complaint in said.err
    assert (said.err.count("\n"), said.out) == (1, "")
    assert not list(tmp_path.iterdir())


def test_a_missing_folder_is_one_line(tmp_path: Path) -> None:
    script = f"mkdir gone; cd gone; rmdir ../gone; exec {PROGRAM} run --lock=twa,fair --json=r.json -- true"
    done = processes.run(["sh", "-c", script], cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "fairlock: cannot write r.json: No such file or directory\n")


def test_a_thread_that_cannot_be_started_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    begin = time.monotonic()
    with pytest.raises(SampleError, match="can't start new thread"):
        compare_program.run(point("sleep 100"))
    assert time.monotonic() - begin < 50  # it was ended, or we would have waited for it


# --- interrupted ---


def test_ctrl_c_keeps_the_samples_and_resume_continues(tmp_path: Path) -> None:
    command = [PROGRAM, "run", "--lock=twa,fair", "--repeat=20", "--json=r.json", "--", "sleep", "0.2"]
    with processes.start(command, cwd=tmp_path) as process:
        file = tmp_path / "r.json"
        for _ in range(300):
            if file.exists() and len(results.load(file).samples) >= 2:
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
    assert process.returncode == 130
    assert "continue with: fairlock bench --resume r.json" in errors
    raw = json.loads(file.read_text())
    done = len(raw["samples"])
    assert 2 <= done < 60
    raw["plan"]["order"] = raw["plan"]["order"][: done + 2]
    for point in raw["plan"]["points"]:
        point["options"]["command"] = "sleep 0.01"
    file.write_text(json.dumps(raw))
    again = processes.run([PROGRAM, "bench", "--resume=r.json"], cwd=tmp_path)
    assert again.returncode == 0
    result = results.load(file)
    assert (result.complete, len(result.samples)) == (True, done + 2)


def test_a_vanished_program_is_one_line(run: Run, tmp_path: Path) -> None:
    measured(run, tmp_path, "--lock=twa", "--repeat=1", "--", "true")
    raw = (tmp_path / "r.json").read_text().replace('"command": "true"', '"command": "no-such-program"')
    (tmp_path / "r.json").write_text(raw)
    done = processes.run([PROGRAM, "bench", "--from=r.json"], cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "fairlock: there is no program no-such-program here\n")


# --- the page ---


def test_the_page_shows_the_comparison(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("vl_convert")
    text = f'{LOCK}; if [ "$lock" = fair ]; then echo done: 200; else echo done: 100; fi'
    words = ("--lock=twa,fair", "--repeat=4", "--report=r.html", "--measure=done: (.*)")
    measured(run, tmp_path, *words, "--", "sh", "-c", text)
    text = (tmp_path / "r.html").read_text()
    assert "For sh, use <b>fair</b>: " in text
    assert "times that under pthread-mutex" in text
    for word in ("Score", "Wall time", "Voluntary switches", "with its own threads"):
        assert word in text
    for word in ("0 threads", "windows of", "A CPU for each thread", "no two locks contended"):
        assert word not in text.partition('<script type="application/json"')[0]


def test_a_program_whose_name_is_not_text(tmp_path: Path) -> None:
    pytest.importorskip("vl_convert")
    program = os.fsencode(tmp_path) + b"/x\xff"
    shutil.copy("/bin/true", program)
    command = [os.fsencode(PROGRAM), b"run", b"--lock=twa", b"--repeat=3", b"--report=r.html", b"--", program]
    done = processes.run(command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "x\\udcff" in (tmp_path / "r.html").read_text()


def test_results_of_another_command_are_not_comparable(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("vl_convert")
    from fairlock_lab.reports import compare
    from fairlock_lab.reports.data import Source

    measured(run, tmp_path, "--lock=twa", "--repeat=3", "--", "sleep", "0.01")
    old = Source.read(tmp_path / "r.json")
    assert compare.comparable([old, old])
    assert {change.measure for change in compare.compare(old, old).changes} == {"wall"}
    measured(run, tmp_path, "--lock=twa", "--repeat=1", "--", "sleep", "0.02")
    assert not compare.comparable([old, Source.read(tmp_path / "r.json")])
