# SPDX-License-Identifier: Apache-2.0
"""``fairlock bench`` through the real native program: plans, order, files, Ctrl-C, bad input. No timings are judged."""

from __future__ import annotations

import itertools
import json
import re
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import processes
import pytest
from conftest import Python

from fairlock import cli
from fairlock_lab.benchmarks import harness, native, plan, progress, results, targets
from fairlock_lab.benchmarks.composites import COMPOSITES
from fairlock_lab.benchmarks.families import ELSEWHERE
from fairlock_lab.benchmarks.native import SampleError
from fairlock_lab.benchmarks.roster import Roster, Subject
from fairlock_lab.benchmarks.workloads import WORKLOADS

PROGRAM = Path(sys.executable).with_name("fairlock")
ONCE = ("--seconds=0.02", "--runs=1", "--no-references")
QUICK = (*ONCE, "--threads=2")

Bench = Callable[..., processes.Result]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Call `fairlock bench` in an empty folder."""

    def call(*arguments: str) -> processes.Result:
        command = [PROGRAM, "bench", *arguments]
        return processes.run(command, cwd=tmp_path, timeout=120)

    return call


def succeed(done: processes.Result) -> processes.Result:
    assert done.returncode == 0, done.stderr
    return done


# --- what is measured ---


def test_a_run_of_mutexbench(bench: Bench, tmp_path: Path) -> None:
    words = ["--config=maximum,twa", "--locks=twa,mcs", "--threads=2", "--seconds=0.05", "--runs=2", "--json=r.json"]
    done = succeed(bench("mutex", *words))
    for word in ("twa (spin)", "mcs (spin)", "pthread-mutex", "std-mutex", "pthread-mutex-pi", " samples"):
        assert word in done.stdout
    found = results.load(tmp_path / "r.json")
    assert found.complete
    assert {"cpu", "cpus", "kernel", "governor", "compiler", "libc", "python", "load"} <= set(found.machine)
    assert {subject["name"] for subject in found.subjects} >= {"twa", "mcs", "pthread-mutex"}
    assert [(sample.point, sample.run) for sample in found.samples] == list(found.plan.order)
    for sample in found.samples:
        point, metrics = found.plan.points[sample.point], sample.metrics
        assert metrics["exclusion"] == ("replayed" if point.config == "maximum" else "witnessed")
        assert len(metrics["counts"]) == point.threads
        assert metrics["throughput"] == pytest.approx(metrics["episodes"] / metrics["elapsed"], rel=0.01)
        assert 0 <= metrics["fairness"] <= 1
        assert sample.oversubscribed == (point.threads > found.machine["cpus"])
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]


def is_inside(workload: str) -> bool:
    """Whether `fairlock_bench` alone measures it. Of the others, test_bench_programs.py has smaller forms."""
    return not any(config.family in ELSEWHERE for config in WORKLOADS[workload].configs.values())


@pytest.mark.parametrize("workload", [*filter(is_inside, WORKLOADS)])
def test_every_workload_runs(bench: Bench, tmp_path: Path, workload: str) -> None:
    one = WORKLOADS[workload]
    config = next(iter(one.configs.values()))
    if config.family not in native.roster().families:
        pytest.skip(plan.why_no_family(config.family, native.roster()))
    locks = [] if config.subject else [f"--locks={(config.locks or one.locks)[0]}"]
    threads = [] if one.threads == (1,) else ["--threads=2"]
    done = bench(workload, *ONCE, *threads, *locks, "--config=all", "--json=r.json")
    assert succeed(done).stdout
    found = results.load(tmp_path / "r.json")
    assert {point.config for point in found.plan.points} == set(one.configs)
    assert found.complete


def test_all_locks_by_name(bench: Bench, tmp_path: Path) -> None:
    succeed(bench("uncontended", "--locks=all", "--seconds=0.001", "--runs=1", "--json=r.json"))
    found = results.load(tmp_path / "r.json")
    names = {point.lock for point in found.plan.points}
    assert {"twa", "capacitor-lifo", "fair-semaphore", "pthread-mutex"} <= names
    assert not [name for name in names if name == "broken" or "/" in name]


def test_forms_side_by_side(bench: Bench, tmp_path: Path) -> None:
    succeed(bench("mutex", *QUICK, "--config=rearrival", "--locks=mcs,ticket", "--json=r.json"))
    found = results.load(tmp_path / "r.json")
    assert sorted((point.lock, point.form) for point in found.plan.points if point.lock == "mcs") == [
        ("mcs", "guard"),
        ("mcs", "mutex"),
    ]
    assert all("migrations" in sample.metrics for sample in found.samples)


def test_options_reach_the_program(bench: Bench, tmp_path: Path) -> None:
    words = ["--set=timed", "--set=non-critical=7", "--hogs=1", "--pin", "--waiting=spin-then-park"]
    done = succeed(bench("mutex", *QUICK, "--config=maximum", "--locks=twa", *words, "--json=r.json"))
    assert "changed with --set: non-critical=7, timed=yes\n" in done.stdout
    found = results.load(tmp_path / "r.json")
    (sample,) = found.samples
    (point,) = found.plan.points
    assert (point.hogs, point.waiting, found.plan.pin) == (1, "spin-then-park", True)
    assert point.options["non-critical"] == 7
    assert sample.metrics["longest_wait"] > 0


@pytest.mark.parametrize(
    ("workload", "option", "usual"), [("multi-lock", "locks-held", 5), ("fork-join", "episodes", 100)]
)
def test_what_is_a_parameter_can_be_changed_and_is_in_the_file(
    bench: Bench, tmp_path: Path, workload: str, option: str, usual: int
) -> None:
    for words, expected in (([], usual), ([f"--set={option}=3"], 3)):
        succeed(bench(workload, *QUICK, "--locks=fair", "--waiting=spin-then-park", *words, "--json=r.json"))
        (point,) = results.load(tmp_path / "r.json").plan.points
        assert point.options[option] == expected


def test_a_lock_that_breaks_stops_the_run(bench: Bench, tmp_path: Path) -> None:
    done = bench("mutex", "--config=maximum", "--locks=broken", "--threads=4", "--seconds=0.5", "--no-references")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("fairlock: mutex maximum: broken")
    assert "--lock broken" in done.stderr
    assert not list(tmp_path.iterdir())


def test_the_negative_control_is_a_result(bench: Bench, tmp_path: Path) -> None:
    words = ["--locks=twa", "--threads=1,4", "--seconds=0.5", "--runs=1", "--no-references", "--json=r.json"]
    done = succeed(bench("locktorture", *words))
    assert "negative control: broken, 4 threads: caught in 1 of 1 runs" in done.stdout
    found = results.load(tmp_path / "r.json")
    caught = [s.metrics["caught"] for s in found.samples if found.plan.points[s.point].lock == "broken"]
    assert caught == [True]


@pytest.mark.parametrize("status", [1, -11])
def test_a_control_that_only_fails_was_not_caught(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    made = plan.make("locktorture", [(control(), 1)], seed=1, warm_up=0.0)
    monkeypatch.setattr(native, "call", lambda *_, **__: (status, "", "fairlock_bench: 2 of 2 threads still wait"))
    with pytest.raises(SampleError, match="still wait"):
        harness.measure(made.points[0], made, 1)
    breach = "fairlock_bench: broken: two threads were inside at once: 9 episodes, but the witness counted 8"
    monkeypatch.setattr(native, "call", lambda *_, **__: (1, "", breach))
    assert harness.measure(made.points[0], made, 1)["caught"] is True


def control() -> results.Point:
    return results.Point("locktorture", "locktorture", "broken", None, "guard", 2, 0, 0.1, "contend")


SPEED, EVEN = ("speed",), ("slow/fast",)


def test_work_outside_in_one_table(bench: Bench, tmp_path: Path) -> None:
    configs = "--config=pair-100-100,team-20-1000,crowd-1-0"
    done = succeed(bench("outside", configs, "--locks=fair", "--seconds=0.02", "--runs=1", "--json=r.json"))
    found = results.load(tmp_path / "r.json")
    cpus = found.machine["cpus"]
    assert [(point.threads, *places(point)) for point in found.plan.points if point.lock == "fair"] == [
        (2, 100, 100),
        (max(8, cpus), 20, 1000),
        (max(32, 4 * cpus), 1, 0),
    ]
    heads = next(line for line in done.stdout.splitlines() if line.startswith("threads"))
    for head in ("inside", "outside", "lock", "x std", "slowest/fastest", "longest wait, ms", "processors"):
        assert head in heads
    assert done.stdout.count("\nthreads") == 1
    assert len(re.findall(r"\bnolock\b", done.stdout)) == 3
    for sample in found.samples:
        assert 0 <= sample.metrics["processors"] <= cpus
        without = found.plan.points[sample.point].lock == "nolock"
        assert sample.metrics["exclusion"] == ("not asked" if without else "replayed")


def places(point: results.Point) -> tuple[object, object]:
    return point.options["critical"], point.options["non-critical"]


def test_the_short_form(bench: Bench, tmp_path: Path) -> None:
    done = succeed(bench("short", "--seconds=0.02", "--runs=1"))
    assert "Which one here: " in done.stdout
    assert "What the papers report" in done.stdout
    for lock in ("fair", "twa", "pthread-mutex", "nolock"):
        assert f"\n{lock} " in done.stdout
    above, heads = done.stdout[: done.stdout.index("\nfair ")].splitlines()[-3:-1]
    for place in ("2 threads, 100+100", " threads, 20+1000", "32 threads, 1+0", "the same, busy"):
        assert place in above
    assert heads.split() == ["lock", "ns", *SPEED, "CPUs", *SPEED, *EVEN, "CPUs", *(*SPEED, *EVEN, "wait") * 2]
    assert max(map(len, done.stdout.partition("What the papers")[0].splitlines()[1:])) <= 118
    assert results.load(tmp_path / "build" / "bench" / "results.json").complete
    assert (tmp_path / "build" / "bench" / "report.html").exists() == ("no report: " not in done.stdout)


def test_targets(bench: Bench) -> None:
    done = succeed(bench("targets", "--seconds=0.01", "--runs=1", "--locks=fair,twa,lifo,capacitor-lifo,twa-semaphore"))
    assert "slowest/fastest, at least 0.9" in done.stdout
    assert "x pthread-mutex-pi, at least 1.2" in done.stdout
    assert "ns, at most 2" in done.stdout
    assert " missed" in done.stdout


def test_every_target_is_measured() -> None:
    places = {
        (lock, piece.workload, piece.config, threads, piece.hogs)
        for piece in COMPOSITES["targets"].pieces
        for threads in piece.threads
        for lock in piece.locks
    }
    for goal in targets.goals():
        for lock in {goal.lock, goal.reference} - {None}:
            where = goal.place
            assert (lock, where.workload, where.config, where.threads, where.hogs) in places


# --- order and seeds ---

ROSTER = Roster(
    compiler="a compiler",
    cpus=2,
    policies=("spin", "park"),
    families=("contend",),
    subjects={
        name: Subject(name, "lock", "fifo", ("spin", "park"), ("guard",), 4 if name == "mcs" else None)
        for name in ("twa", "mcs", "ticket", "clh")
    },
)


def planned(seed: int) -> results.Plan:
    wish = plan.Wish(configs=("maximum", "moderate"), threads=(1, 2), locks=("twa", "mcs", "ticket", "clh"))
    points = plan.points_of("mutex", WORKLOADS["mutex"], wish, ROSTER)
    return plan.make("mutex", [(point, 5) for point in points], seed=seed, warm_up=0.1)


def test_the_order_follows_from_the_seed() -> None:
    assert planned(1) == planned(1)
    assert planned(1).order != planned(2).order
    assert len({plan.seed_of(1, run) for run in range(5)}) == 5


def test_runs_are_interleaved() -> None:
    one = planned(7)
    size = len(one.points)
    assert size == 16
    blocks = [one.order[i : i + size] for i in range(0, len(one.order), size)]
    assert [{run for _, run in block} for block in blocks] == [{0}, {1}, {2}, {3}, {4}]
    assert all(sorted(i for i, _ in block) == list(range(size)) for block in blocks)
    assert len({tuple(i for i, _ in block) for block in blocks}) == 5  # in another order each time
    # Those that are compared come one after the other.
    places = [(one.points[i].config, one.points[i].threads) for i, _ in blocks[0]]
    assert sum(a != b for a, b in itertools.pairwise(places)) == 3
    # And who of them comes first differs from run to run.
    alone = [i for i, point in enumerate(one.points) if (point.config, point.threads) == places[0]]
    assert len({tuple(i for i, _ in block if i in alone) for block in blocks}) > 1


def test_what_is_named_twice_is_measured_once(bench: Bench, tmp_path: Path) -> None:
    twice = ["--config=maximum,maximum", "--waiting=spin,spin", "--locks=twa,twa", "--threads=1,1"]
    succeed(bench("mutex", *ONCE, *twice, "--no-references", "--json=r.json"))
    assert len(results.load(tmp_path / "r.json").samples) == 1


def test_numbers_of_threads() -> None:
    assert plan.counts(("..2*cpus",), 2) == [1, 2, 4]
    assert plan.counts(("..2*cpus",), 6) == [1, 2, 4, 8, 12]
    assert plan.counts((2, "cpus", "4*cpus"), 2) == [2, 8]
    assert plan.counts(("..cpus",), 1) == [1]
    assert plan.counts(("8 or cpus", "32 or 4*cpus"), 2) == [8, 32]
    assert plan.counts(("8 or cpus", "32 or 4*cpus"), 64) == [64, 256]


def test_locks_that_take_fewer_threads_are_left_out_unless_named() -> None:
    everywhere = plan.Wish(configs=("twa",), threads=(8,))
    points = plan.points_of("mutex", WORKLOADS["mutex"], everywhere, ROSTER)
    assert {point.lock for point in points} == {"twa", "ticket"}
    named = plan.Wish(configs=("twa",), threads=(8,), locks=("mcs",))
    with pytest.raises(plan.UsageError, match="mcs admits at most 4 threads, not 8"):
        plan.points_of("mutex", WORKLOADS["mutex"], named, ROSTER)


def test_locks_have_one_permit_and_are_left_out_where_there_are_more(bench: Bench, tmp_path: Path) -> None:
    several = ["uncontended", "--seconds=0.02", "--runs=1", "--waiting=spin", "--set=permits=4"]
    succeed(bench(*several, "--locks=fair-semaphore", "--json=r.json"))
    measured = {point.lock for point in results.load(tmp_path / "r.json").plan.points}
    assert measured == {"fair-semaphore", "sem_t", "std-semaphore"}
    done = bench(*several, "--locks=twa")
    assert done.returncode == 2
    assert "twa is no semaphore" in done.stderr


def test_a_plan_repeats_from_its_file(bench: Bench, tmp_path: Path) -> None:
    succeed(
        bench("mutex", "--config=maximum", "--locks=twa", "--threads=1,2", "--seconds=0.02", "--runs=2", "--json=a")
    )
    succeed(bench("--from=a", "--json=b"))
    first, second = (results.load(tmp_path / name) for name in "ab")
    assert first.plan == second.plan
    assert [(s.point, s.run, s.seed) for s in first.samples] == [(s.point, s.run, s.seed) for s in second.samples]
    assert first.samples != second.samples
    done = bench("--from=a", "--json=./a")
    assert done.returncode == 2
    assert "would replace the file of --from" in done.stderr


# --- Ctrl-C and --resume ---


def interrupted(tmp_path: Path, *arguments: str, by: signal.Signals = signal.SIGINT) -> tuple[int, str]:
    """Interrupt a benchmark of many seconds when it has a few samples; return its status and what it said."""
    command = [PROGRAM, "bench", "mutex", "--config=maximum", "--locks=twa,mcs,fair", "--threads=2", "--seconds=0.2"]
    with processes.start([*command, "--runs=10", "--no-references", *arguments], 120, cwd=tmp_path) as process:
        deadline = time.monotonic() + 60
        while arguments and not (tmp_path / "r.json").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(1 if arguments else 4)
        process.send_signal(by)
        _, errors = process.communicate()
    return process.returncode, errors


def test_ctrl_c_keeps_what_is_done_and_resume_goes_on(bench: Bench, tmp_path: Path) -> None:
    status, errors = interrupted(tmp_path, "--json=r.json")
    assert status == 130
    kept = results.load(tmp_path / "r.json")
    assert 0 < len(kept.samples) < len(kept.plan.order)
    assert not kept.complete
    assert f"{len(kept.samples)} of {len(kept.plan.order)} samples are in r.json" in errors
    assert "fairlock bench --resume r.json" in errors
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]

    raw = json.loads((tmp_path / "r.json").read_text())  # the rest in a moment
    for point in raw["plan"]["points"]:
        point["seconds"] = 0.02
    (tmp_path / "r.json").write_text(json.dumps(raw))
    kept = results.load(tmp_path / "r.json")

    done = bench("--resume=r.json", "mutex")
    assert done.returncode == 2
    assert "leave the rest out" in done.stderr
    succeed(bench("--resume=r.json"))
    found = results.load(tmp_path / "r.json")
    assert found.complete
    assert found.plan == kept.plan
    assert found.samples[: len(kept.samples)] == kept.samples
    assert [(s.point, s.run) for s in found.samples] == list(found.plan.order)
    assert all(s.seed == plan.seed_of(found.plan.seed, s.run) for s in found.samples)
    before = (tmp_path / "r.json").read_text()
    succeed(bench("--resume=r.json"))  # nothing is left: prints the tables again
    assert (tmp_path / "r.json").read_text() == before


def test_ctrl_c_without_a_file_makes_one(tmp_path: Path) -> None:
    status, errors = interrupted(tmp_path)
    assert status == 130
    (path,) = tmp_path.iterdir()
    assert path.name in errors
    assert results.load(path).samples


def test_ctrl_c_again_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def one_sample(found: results.Results, _: Path | None) -> bool:
        found.samples.append(results.Sample(0, 0, 1, 0.0, False, {"throughput": 1.0}))
        return False

    def again(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("fairlock_lab.benchmarks.harness.run", one_sample)
    monkeypatch.setattr("fairlock_lab.commands.bench.show", again)
    assert cli.main(["bench", "mutex", "--runs=2"]) == 130
    assert capsys.readouterr().err.endswith("fairlock: interrupted\n")
    (path,) = tmp_path.iterdir()
    assert len(results.load(path).samples) == 1


def test_a_sample_that_fails_does_not_lose_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def second_fails(found: results.Results, _: Path | None) -> bool:
        found.samples.append(results.Sample(0, 0, 1, 0.0, False, {"throughput": 1.0}))
        raise SampleError("no end after 31 s")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("fairlock_lab.benchmarks.harness.run", second_fails)
    assert cli.main(["bench", "mutex", "--runs=2"]) == 1
    (path,) = tmp_path.iterdir()
    assert len(results.load(path).samples) == 1
    kept, why = capsys.readouterr().err.splitlines()[-2:]
    assert f"go on with: fairlock bench --resume {path.name}" in kept
    assert why == "fairlock: no end after 31 s"


def test_the_end_of_the_terminal_is_like_ctrl_c(tmp_path: Path) -> None:
    status, _ = interrupted(tmp_path, "--json=r.json", by=signal.SIGHUP)
    assert status == 130
    assert not results.load(tmp_path / "r.json").complete


def test_another_machine_is_not_mixed_in(bench: Bench, tmp_path: Path) -> None:
    succeed(bench("uncontended", "--locks=twa", "--seconds=0.01", "--runs=1", "--no-references", "--json=r.json"))
    path = tmp_path / "r.json"
    raw = json.loads(path.read_text())
    raw["machine"]["cpu"] = "Z80"
    raw["samples"], raw["complete"] = [], False
    path.write_text(json.dumps(raw))
    done = bench("--resume=r.json")
    assert done.returncode == 2
    assert "another machine (cpu: Z80, here" in done.stderr
    assert json.loads(path.read_text()) == raw
    succeed(bench("--resume=r.json", "--anyway"))
    assert results.load(path).complete


def test_a_plan_of_another_build(bench: Bench, tmp_path: Path) -> None:
    succeed(bench("uncontended", "--locks=twa", "--seconds=0.01", "--runs=1", "--no-references", "--json=r.json"))
    path = tmp_path / "r.json"
    raw = json.loads(path.read_text())
    raw["plan"]["points"][0]["lock"] = "no-such-lock"
    path.write_text(json.dumps(raw))
    for option in ("--resume", "--from"):
        done = bench(f"{option}=r.json")
        assert done.returncode == 2
        assert "this build of fairlock cannot measure uncontended uncontended: no-such-lock" in done.stderr


# --- bad input ---


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "WORKLOAD is missing"),
        (["mutexx"], "unknown workload 'mutexx' (did you mean mutex?)"),
        (["mutex", "--config=maximal"], "unknown config of mutex 'maximal' (did you mean maximum?)"),
        (["mutex", "--locks=tva"], "unknown lock 'tva' (did you mean twa?)"),
        (["mutex", "--locks="], "--locks names nothing"),
        (["mutex", "--waiting=sleep"], "unknown way of waiting 'sleep'"),
        (["mutex", "--locks=qspinlock", "--waiting=park"], "qspinlock cannot wait by park; it can: "),
        (["mutex", "--threads=0"], "--threads: numbers from 1 to "),
        (["mutex", "--threads=-4"], "--threads: numbers from 1 to "),
        (["mutex", "--threads=two"], "--threads: numbers from 1 to "),
        (["mutex", "--threads=99999999"], "--threads 99999999: there can be at most "),
        (["mutex", "--threads=9999999999999"], "--threads: numbers from 1 to "),
        (["mutex", "--seconds=0"], "--seconds: a number from 0.001 to 3600, not 0.0"),
        (["mutex", "--seconds=nan"], "--seconds: a number from 0.001 to 3600, not nan"),
        (["mutex", "--seconds=long"], "--seconds"),
        (["mutex", "--runs=0"], "--runs: a number from 1 to 1000, not 0"),
        (["mutex", "--hogs=-1"], "--hogs: a number from 0 to 64, not -1"),
        (["mutex", "--set=speed=9"], "unknown option 'speed'"),
        (["mutex", "--set=generator=rand"], "unknown generator 'rand'"),
        (["mutex", "--set=critical=-1"], "--set critical: a number from 0"),
        (["mutex", f"--set=critical={'9' * 5000}"], "--set critical: a number from 0"),
        (["mutex", "--set=timed=perhaps"], "--set timed: 'yes' or 'no', not 'perhaps'"),
        (["mutex", "--colour=red"], "unrecognized arguments: --colour=red"),
        (["mutex", "--only=Lock"], "--only is for python"),
        (["mutex", "--json=no/such/folder/r.json"], "cannot write no/such/folder/r.json: there is no folder"),
        (["mutex", "--json=."], "it is a folder"),
        (["mutex", "--json=r.json", "--report=./r.json"], "cannot write the page to r.json: the results are there"),
        (["short", "--threads=4"], "short has its own config, waiting, threads, hogs and options"),
        (["short", "--locks=clh"], "clh is not measured there"),
        (["uncontended", "--threads=2"], "uncontended is about one thread"),
        (["overhead", "--locks=twa"], "overhead leaves no choice of lock"),
        (["python", "--locks=twa"], "python has its own rows: choose with --only"),
        (["python", "--pin"], "leave --pin out"),
        (["python", "--only=,"], "--only names nothing"),
        (["locktorture", "--locks=broken", "--threads=1", "--no-references"], "no lock is left with these --locks"),
        (["--from=none.json", "--pin"], "as it is: leave the rest out"),
        (["--resume=none.json", "--no-references"], "and writes there: leave the rest out"),
        (["--resume=none.json"], "cannot read none.json: No such file or directory"),
        (["--from=none.json"], "cannot read none.json: No such file or directory"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    arguments: list[str],
    complaint: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        status = cli.main(["bench", *arguments])
    except SystemExit as end:
        status = int(end.code or 0)
    said = capsys.readouterr()
    assert status == 2
    assert complaint in said.err
    assert said.err.count("\n") == 1
    assert not said.out
    assert not list(tmp_path.iterdir())


def test_what_the_native_program_refuses_is_one_line(bench: Bench, tmp_path: Path) -> None:
    done = bench("semaphore", *QUICK, "--locks=twa-semaphore", "--set=permits=2000000", "--json=r.json")
    assert done.returncode == 2
    assert "permits" in done.stderr.splitlines()[-1]
    assert not list(tmp_path.iterdir())


def test_without_the_native_program(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def nowhere() -> Path:
        raise FileNotFoundError("could not find the native benchmark of fairlock: `make build` installs it in .venv")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(native, "bench_program", nowhere)
    native.roster.cache_clear()
    assert cli.main(["bench", "mutex"]) == 2
    assert capsys.readouterr().err.startswith("fairlock: could not find the native benchmark")
    assert not list(tmp_path.iterdir())
    native.roster.cache_clear()


def test_locks_of_a_library_that_is_not_installed() -> None:
    without = Roster("", 2, ("spin",), ("contend",), {}, missing={"ck": "not installed: apt-get install libck-dev"})
    with pytest.raises(plan.UsageError, match="ck-ticket is not in this build: ck is not installed: apt-get install"):
        plan.expand("ck-ticket", WORKLOADS["mutex"], without)


def test_a_missing_library_is_reported_where_it_would_be_measured() -> None:
    missing = {"absl": "not installed: apt-get install libabsl-dev"}
    subjects = {"fair": Subject("fair", "lock", None, ("spin-then-park",), ("guard",))}
    without = Roster("", 2, ("spin-then-park",), ("contend",), subjects, missing=missing)
    with pytest.raises(plan.UsageError, match="absl is not in this build: absl is not installed: apt-get install"):
        plan.expand("absl", WORKLOADS["outside"], without)
    for workload, reported in (("outside", missing), ("mutex", {})):
        wish = plan.Wish(locks=("fair",), waiting=("spin-then-park",), threads=(2,))
        points = plan.points_of(workload, WORKLOADS[workload], wish, without)
        made = plan.make(workload, [(point, 1) for point in points], seed=1, warm_up=0.0)
        assert harness.begin(made, [], without).missing == reported


# --- nothing hangs ---


def test_a_process_that_does_not_end_is_ended(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    begin = time.monotonic()
    with pytest.raises(SampleError, match=r"no end after 0\.5 s"):
        native.call(["sh", "-c", f"sleep 100 & echo $! > {pid}; wait"], 0.5)
    assert time.monotonic() - begin < 30
    await_end(int(pid.read_text()))  # what it started has ended too


@pytest.mark.parametrize("left", ["sleep 100", "timeout 100 sleep 100"])  # of which the second makes a group
def test_what_a_process_leaves_behind_ends_with_it(left: str, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    assert native.call(["sh", "-c", f"{left} & echo $! > {pid}; sleep 0.1; exit 3"], 20)[0] == 3
    await_end(int(pid.read_text()))


def test_many_signals_leave_nothing_behind(tmp_path: Path) -> None:
    """As Ctrl-C in a hurry, or `timeout`, which sends one to us and one to our group."""
    pid = tmp_path / "pid"
    script = f"echo $$ > {pid}.part; mv {pid}.part {pid}; exec sleep 100"
    command = [PROGRAM, "run", "--lock=glibc", "--repeat=2", "--", "sh", "-c", script]
    with processes.start(command, 120, cwd=tmp_path) as process:
        deadline = time.monotonic() + 60
        while not pid.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        for number in (signal.SIGTERM, signal.SIGQUIT, *[signal.SIGTERM] * 20):
            process.send_signal(number)
        process.communicate()
    assert process.returncode == 130
    await_end(int(pid.read_text()))


def test_a_signal_that_does_not_interrupt_our_wait(python: Python) -> None:
    """As one does not that came just before it. Here it comes to another thread, to be the same every time."""
    code = """if True:
        import signal, threading, time
        from fairlock import signals
        from fairlock_lab.benchmarks import process

        def send():
            time.sleep(0.5)
            signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

        signals.all_as_ctrl_c()
        threading.Thread(target=send).start()
        process.run(["sleep", "1000"], 900)
    """
    assert python("-c", code).stderr.splitlines()[-1] == "KeyboardInterrupt"


def test_after_signals_everything_is_as_before(python: Python) -> None:
    code = """if True:
        import os, signal
        from fairlock import signals

        def state():
            handlers = {number: signal.getsignal(number) for number in signal.valid_signals()}
            return handlers, signal.pthread_sigmask(signal.SIG_BLOCK, []), os.listdir("/proc/self/fd")

        signals.all_as_ctrl_c()
        before = state()
        try:
            with signals.deferred() as (came, read, write):
                signal.raise_signal(signal.SIGTERM)
                signal.raise_signal(signal.SIGINT)
                assert came == [signal.SIGTERM, signal.SIGINT]
                assert os.read(read, 10) == bytes(came)
        except KeyboardInterrupt:
            assert state() == before
            assert signal.set_wakeup_fd(-1) == -1
            print("as before")
    """
    done = python("-c", code)
    assert done.stdout == "as before\n", done.stderr


def test_children_that_vanish(python: Python) -> None:
    code = """if True:
        import signal
        from fairlock_lab.benchmarks import process

        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        process.run(["true"], 900)
    """
    assert python("-c", code).stderr.splitlines()[-1].startswith("ChildProcessError")


def await_end(process: int) -> None:
    for _ in range(100):
        try:
            if Path(f"/proc/{process}/stat").read_text().split()[2] == "Z":
                return
        except OSError:
            return
        time.sleep(0.1)
    pytest.fail("it still runs")


def test_children_that_nobody_is_to_ask_for(tmp_path: Path) -> None:
    """Who starts us may ignore that children end, and so did we."""
    code = "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    command = [sys.executable, "-c", code, PROGRAM, "bench", "mutex", "--config=maximum", "--locks=twa", *QUICK]
    succeed(processes.run(command, cwd=tmp_path))


@pytest.mark.parametrize("rich", [True, False])
def test_progress_on_a_terminal(monkeypatch: pytest.MonkeyPatch, rich: bool) -> None:
    if rich:
        pytest.importorskip("rich")
    else:
        monkeypatch.setitem(sys.modules, "rich.console", None)
    written: list[str] = []

    class Terminal:
        encoding = "utf-8"

        def isatty(self) -> bool:
            return True

        def write(self, text: str) -> int:
            written.append(text)
            return len(text)

        def flush(self) -> None:
            pass

    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    with progress.Progress(2, 4.0) as shown:
        assert (shown.bar is not None) == rich
        shown.starts("mutex maximum: twa")
        shown.ends(2.0)
        shown.starts("mutex maximum: mcs")
        if rich:
            shown.bar.refresh()
    text = "".join(written)
    assert "[2/2] mutex maximum: mcs" in text
    assert "left" in text


def test_every_composite_measures_what_there_is() -> None:
    for composite in COMPOSITES.values():
        for piece in composite.pieces:
            assert piece.config in WORKLOADS[piece.workload].configs
            unknown = [lock for lock in piece.locks if lock not in native.roster().subjects]
            assert all(any(plan.belongs_to(lock, key) for key in native.roster().missing) for lock in unknown)
