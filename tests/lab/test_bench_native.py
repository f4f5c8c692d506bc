# SPDX-License-Identifier: Apache-2.0
"""``fairlock_bench``: its list, exclusion under every lock, the metrics of its samples, and wrong arguments."""

from __future__ import annotations

import itertools
import json
import os
import resource
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import processes
import pytest

from fairlock_lab import _native
from fairlock_lab.paths import bench_program

try:
    PROGRAM = bench_program()
except FileNotFoundError as error:
    pytest.skip(f"no native benchmark in this installation: {error}", allow_module_level=True)

Metrics = dict[str, Any]


def call(*arguments: object, **options: Any) -> processes.Result:
    command = [str(PROGRAM), *map(str, arguments)]
    return processes.run(command, timeout=90, **options)


def sample(*arguments: object) -> Metrics:
    done = call(*arguments)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    metrics: Metrics = json.loads(done.stdout)
    return metrics


def contend(lock: str, *arguments: object, threads: int = 3, seconds: float = 0.02) -> Metrics:
    """On a busy machine, a lock may get no turn in so short a window. Tests that need turns use a longer one."""
    times = ["--seconds", seconds, "--warm-up", seconds / 4]
    return sample("contend", "--lock", lock, "--threads", threads, *times, *arguments)


LISTED: Metrics = json.loads(call("list").stdout)
SUBJECTS = {subject["name"]: subject for subject in LISTED["subjects"]}
HONEST = [name for name in SUBJECTS if name not in ("broken", "nolock")]


def test_every_lock_and_semaphore_of_the_catalogue_is_there() -> None:
    for entry in _native.locks() + _native.semaphores():
        if entry["variation"]:
            continue
        subject = SUBJECTS[entry["name"]]
        assert subject["order"] == entry["order"]
        assert subject["kind"] == ("lock" if "mutex_bytes" in entry else "semaphore")
        assert ("park" in subject["policies"]) == entry.get("parkable", True)
        assert ("mutex" in subject["forms"]) == (not entry.get("context_free", True))
        small = {f"{entry['name']}/slots-{slots}" for slots in (1, 4, 64)}
        assert small <= SUBJECTS.keys() if entry["waiting_array"] else not small & SUBJECTS.keys()


def test_the_references_are_there() -> None:
    references = {name for name, subject in SUBJECTS.items() if subject["kind"] == "reference"}
    assert {"pthread-mutex", "std-mutex", "pthread-mutex-pi", "sem_t", "std-semaphore"} <= references
    assert {"broken", "nolock"} <= references
    assert {f"semaphore-around-{lock}" for lock in ("lifo", "tts", "reciprocating", "ticket", "mcs")} <= references
    libraries = {"ck": "ck-mcs", "absl": "absl", "nsync": "nsync", "boost": "boost", "tbb": "tbb-queuing"}
    for library, name in libraries.items():
        assert (library in LISTED["missing"]) != (name in references)
    assert LISTED["policies"] == ["spin", "yield", "monitor", "park", "spin-then-park"]


@pytest.mark.parametrize("policy", ["spin-then-park", "spin"])
def test_every_subject_excludes_and_ends(policy: str) -> None:
    for name in HONEST:
        subject = SUBJECTS[name]
        if subject["policies"] and policy not in subject["policies"]:
            continue
        for form in subject["forms"]:
            waiting = ["--waiting", policy] if subject["policies"] else []
            metrics = contend(name, "--form", form, "--critical", 1, *waiting)
            assert metrics["exclusion"] == "replayed"
            assert len(metrics["counts"]) == 3
            assert sum(metrics["counts"]) == metrics["episodes"]


BUSY = {
    "witnessed": ["--generator", "torture", "--critical-on", "private", "--critical", 20, "--non-critical", 40],
    "replayed": ["--generator", "mt19937", "--critical", 4],
}


@pytest.mark.parametrize("check", BUSY)
def test_a_broken_lock_is_caught(check: str) -> None:
    done = call("contend", "--lock", "broken", "--threads", 8, "--seconds", 0.3, *BUSY[check])
    assert done.returncode == 1
    assert done.stdout == ""
    assert "broken: two threads were inside at once" in done.stderr
    assert done.stderr.count("\n") == 1
    assert contend("ticket", *BUSY[check])["exclusion"] == check


@pytest.mark.parametrize("generator", ["mt19937", "xoroshiro128plus", "torture", "multiply-add", "delay", "none"])
def test_generators(generator: str) -> None:
    metrics = contend("twa", "--generator", generator, "--critical", 3, "--non-critical", 50, "--random")
    assert metrics["exclusion"] == ("witnessed" if generator in ("delay", "none") else "replayed")


def test_work_without_a_lock_is_never_checked_for_exclusion() -> None:
    """Its threads work on private data, so there is nothing to check."""
    for check in BUSY:
        metrics = contend("nolock", *BUSY[check], threads=4, seconds=0.2)
        assert metrics["exclusion"] == "not checked"
        assert sum(metrics["counts"]) == metrics["episodes"] > 0


def test_processors_kept_busy() -> None:
    """There are at most as many as the machine has, and those that hogs keep busy do not count."""
    work = ["--generator", "multiply-add", "--critical", 100, "--non-critical", 100]
    for hogs in (0, 2):
        metrics = contend("fair", "--hogs", hogs, *work, threads=4, seconds=0.2)
        assert 0 < metrics["processors"] <= LISTED["cpus"]
        busy = metrics["cpu_seconds"] / metrics["elapsed"]
        assert metrics["processors"] == pytest.approx(min(busy, LISTED["cpus"]), rel=1e-3)
    assert contend("nolock", *work, threads=1, seconds=0.2)["processors"] <= 1.1


def test_waits_can_be_timed_after_the_window() -> None:
    metrics = contend("ticket", "--timed-apart", "--critical", 1, threads=4, seconds=0.2)
    assert sum(metrics["waits"]["counts"]) > 0
    assert 0 < metrics["longest_wait"] <= 0.2 * 1.5
    assert metrics["elapsed"] == pytest.approx(0.2, rel=0.5)


def test_several_permits_are_not_checked_for_exclusion() -> None:
    assert contend("twa-semaphore", "--permits", 2, "--critical", 1)["exclusion"] == "not checked"
    assert contend("sem_t", "--permits", 1, "--critical", 1)["exclusion"] == "replayed"


FAMILIES: dict[str, list[object]] = {
    "uncontended": ["--lock", "hapax", "--waiting", "spin"],
    "fork-join": ["--lock", "mcs", "--episodes", 10, "--threads", 4],
    "multi-lock": ["--lock", "hemlock", "--locks-held", 3, "--threads", 4],
    "invalidation-diameter": ["--threads", 3],
}


@pytest.mark.parametrize("family", FAMILIES)
def test_the_other_families(family: str) -> None:
    metrics = sample(family, "--seconds", 0.4, *FAMILIES[family])
    assert metrics["elapsed"] >= 0.4
    assert metrics["throughput"] == pytest.approx(metrics["episodes"] / metrics["elapsed"], rel=1e-3)
    assert metrics["episodes"] > 0
    extra = {"uncontended": "ns", "fork-join": "phases", "multi-lock": "leader"}
    assert metrics.get(extra.get(family, "throughput"), 0) > 0


def test_the_loop_is_compared_with_a_handwritten_one() -> None:
    rows = sample("overhead", "--seconds", 0.4)["rows"]
    assert [row["lock"] for row in rows] == ["pthread-mutex", "ticket", "twa", "hapax"]
    assert all(row["loop_ns"] > 0 and row["hand_ns"] > 0 for row in rows)


def test_histograms() -> None:
    metrics = contend("ticket", "--timed", "--handover", "--migrations", "--critical", 1, threads=4, seconds=0.4)
    for key in ("waits", "handover"):
        edges, counts = metrics[key]["edges_ns"], metrics[key]["counts"]
        assert len(edges) == len(counts) + 1
        assert all(low < high for low, high in itertools.pairwise(edges))
        assert counts[0] > 0 or not any(counts)
    assert sum(metrics["waits"]["counts"]) > 0
    assert 0 < metrics["longest_wait"] <= metrics["elapsed"] * 1.01
    assert 0 <= metrics["migrations"] <= 1
    plain = contend("ticket")
    assert [plain[key] for key in ("waits", "handover", "migrations", "longest_wait")] == [None] * 4


def test_one_thread_never_migrates() -> None:
    metrics = contend("ticket", "--handover", "--migrations", "--critical", 1, threads=1, seconds=0.2)
    assert metrics["migrations"] == 0
    assert metrics["handover"]["counts"] == []


def test_the_same_seed_gives_the_same_parameters() -> None:
    def drawn(seed: int) -> Metrics:
        work = ["--generator", "mt19937", "--critical", 1, "--non-critical", 9, "--random"]
        parameters: Metrics = contend("ticket", "--seed", seed, *work)["parameters"]
        return parameters

    assert drawn(7) == drawn(7)
    assert drawn(7)["drawn"] != drawn(8)["drawn"]


BAD: dict[str, list[object]] = {
    "no family": [],
    "unknown family": ["contand", "--lock", "twa"],
    "no lock": ["contend"],
    "unknown lock": ["contend", "--lock", "twaa"],
    "unknown policy": ["contend", "--lock", "twa", "--waiting", "sleep"],
    "a policy that the lock lacks": ["contend", "--lock", "qspinlock", "--waiting", "park"],
    "a policy for a reference": ["contend", "--lock", "std-mutex", "--waiting", "spin"],
    "unknown form": ["contend", "--lock", "mcs", "--form", "body"],
    "a form that the lock lacks": ["contend", "--lock", "twa", "--form", "mutex"],
    "no threads": ["contend", "--lock", "twa", "--threads", 0],
    "absurdly many threads": ["contend", "--lock", "twa", "--threads", 10**9],
    "more threads than the lock takes": ["contend", "--lock", "anderson", "--threads", 65],
    "negative seconds": ["contend", "--lock", "twa", "--seconds", -1],
    "seconds that are not a number": ["contend", "--lock", "twa", "--seconds", "nan"],
    "absurdly many seconds": ["contend", "--lock", "twa", "--seconds", 1e30],
    "a seed that is not a number": ["contend", "--lock", "twa", "--seed", "0x"],
    "an option of another family": ["contend", "--lock", "twa", "--episodes", 3],
    "no value": ["contend", "--lock", "twa", "--threads"],
    "a value for a flag": ["contend", "--lock", "twa", "--pin", 1],
    "an option twice": ["contend", "--lock", "twa", "--lock", "twa"],
    "permits of a lock": ["contend", "--lock", "twa", "--permits", 2],
    "two threads of an uncontended lock": ["uncontended", "--lock", "twa", "--threads", 2],
    "an argument of list": ["list", "locks"],
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_one_line(what: str) -> None:
    done = call(*BAD[what])
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("fairlock_bench: ")
    assert done.stderr.count("\n") == 1


def test_more_threads_than_the_system_allows() -> None:
    def little_memory() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (400_000_000, 400_000_000))

    done = call("contend", "--lock", "twa", "--threads", 2000, preexec_fn=little_memory)
    assert done.returncode == 2
    assert "--threads: this system allows no more than" in done.stderr
    assert done.stderr.count("\n") == 1


def status(process: int) -> list[str]:
    """Return the state, parent and so on of a process; nothing once it is gone."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def children(process: int) -> list[int]:
    pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    return [pid for pid in pids if status(pid)[1:2] == [str(process)]]


def runs(process: int) -> bool:
    return status(process)[:1] not in ([], ["Z"], ["X"])


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_hogs_end_with_the_program(end: signal.Signals) -> None:
    arguments = ["contend", "--lock", "twa", "--seconds", "60", "--hogs", "2"]
    with processes.start([PROGRAM, *arguments], stdout=subprocess.DEVNULL) as process:
        hogs: list[int] = []
        give_up = time.monotonic() + 20
        while len(hogs) < 2 and time.monotonic() < give_up:
            hogs = children(process.pid)
        os.kill(process.pid, end)
        process.wait()
    assert len(hogs) == 2
    while any(map(runs, hogs)) and time.monotonic() < give_up:
        time.sleep(0.01)
    assert not any(map(runs, hogs))
