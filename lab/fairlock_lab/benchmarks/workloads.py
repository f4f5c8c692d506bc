# SPDX-License-Identifier: Apache-2.0
"""The workloads, with the parameters of the papers as defaults.

A workload is a question, and each config is a way to ask it. A config names a family of ``fairlock_bench`` (or a module
in ``families``), and the options for this family. The other fields are defaults, which the user can change.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairlock_lab.benchmarks.lock_sets import (
    CAPACITORS,
    FIFO_LOCKS,
    GLIBC,
    LOCK_REFERENCES,
    NO_LOCK,
    PEERS,
    PRELOADED,
    SEMAPHORE_REFERENCES,
    SEMAPHORES,
    SMALL_ARRAYS,
    TICKETS_AND_MCS,
)
from fairlock_lab.benchmarks.papers import CAPACITOR_PAPER, HAPAX_PAPER, SEMAPHORE_PAPER, TWA_PAPER
from fairlock_lab.benchmarks.results import Option
from fairlock_lab.benchmarks.workload_types import Config, Count, Workload

MAXIMUM: Mapping[str, Option] = {
    "generator": "xoroshiro128plus",
    "critical": 1,
    "critical-on": "shared",
    "non-critical": 0,
}

# The threads of the workload `outside`. Each thread of a pair has a processor. A team has at least one thread for each
# processor, and a crowd at least four.
TEAMS: dict[str, tuple[str, Count]] = {
    "pair": ("2 threads", 2),
    "team": ("8 threads, or one for each processor if that is more", "8 or cpus"),
    "crowd": ("32 threads, or four for each processor if that is more", "32 or 4*cpus"),
}
STEPS = (  # team, steps inside, steps outside
    *(("pair", 100, 100), ("pair", 1000, 1000), ("pair", 20, 200), ("team", 20, 1000), ("team", 1000, 10_000)),
    *(("crowd", 20, 200), ("crowd", 20, 1000), ("crowd", 100, 1000), ("crowd", 100, 100), ("crowd", 1, 0)),
)


def outside(team: str, critical: int, non_critical: int) -> Config:
    size, threads = TEAMS[team]
    steps = "step" if critical == 1 else "steps"
    return Config(
        f"{size}: {critical} {steps} inside, {non_critical} on the thread's own data outside",
        options={
            "generator": "multiply-add",  # a step takes about a nanosecond
            "critical": critical,
            "critical-on": "shared",
            "non-critical": non_critical,
            "timed-apart": True,
        },
        threads=(threads,),
    )


# The lock is inside a library or a program: another lock is preloaded (programs.environment). In the papers, threads
# only spin. Here they also sleep, because a program may have more threads than there are processors.
PRELOADING: dict[str, Any] = {
    "locks": PRELOADED,
    "references": ("pthread-mutex",),
    "waiting": ("spin-then-park",),
    "paper_waiting": ("spin",),
}
PRELOADING_MEASURES = ("throughput", "fairness", "mutexes_per_episode")

WORKLOADS: dict[str, Workload] = {
    "mutex": Workload(
        "MutexBench: threads acquire one lock over and over",
        f"{TWA_PAPER}, section 4.1, figure 2; {HAPAX_PAPER}, section 6.3, figure 3; {CAPACITOR_PAPER}, section 4.1",
        {
            "twa": Config(
                "private mt19937: 4 steps inside, up to 200 outside at random",
                options={
                    "generator": "mt19937",
                    "critical": 4,
                    "critical-on": "private",
                    "non-critical": 200,
                    "random": True,
                },
                locks=TICKETS_AND_MCS,
            ),
            "moderate": Config(
                "shared xoroshiro128plus: 1 step inside, 500 steps on private data outside",
                options={**MAXIMUM, "non-critical": 500},
            ),
            "maximum": Config("shared xoroshiro128plus: 1 step inside, no work outside", options=MAXIMUM),
            "capacitor": Config(
                "shared mt19937: 1 step inside, no work outside; locks with and without a capacitor",
                options={**MAXIMUM, "generator": "mt19937"},
                locks=CAPACITORS,
                default=False,
            ),
            "invalidations": Config(
                "private xoroshiro128plus: 1 step inside, no work outside, so that only the lock moves cache lines",
                options={**MAXIMUM, "critical-on": "private", "migrations": True},
                measures=("throughput", "perf.cache_misses", "perf.cycles", "perf.instructions", "migrations"),
                default=False,
            ),
            "rearrival": Config(
                "like maximum, once with the episode on the stack, and once in the lock's body",
                options={**MAXIMUM, "migrations": True},
                forms=("guard", "mutex"),
                measures=("throughput", "migrations", "fairness"),
                default=False,
            ),
        },
    ),
    "outside": Workload(
        "threads that work between acquisitions, as in most programs",
        "",
        {f"{team}-{inside}-{after}": outside(team, inside, after) for team, inside, after in STEPS},
        locks=("fair", "twa", "hapax-vw", "mcs"),
        references=(NO_LOCK, "pthread-mutex", "std-mutex", *PEERS),
        waiting=("spin-then-park",),
        seconds=0.75,
        measures=("throughput", "fairness", "longest_wait", "processors"),
        rivals=("std-mutex",),
        columns={"critical": "inside", "non-critical": "outside"},
    ),
    "semaphore": Workload(
        "semabench: a semaphore with one permit, used as a lock",
        f"{SEMAPHORE_PAPER}, section 3, figure 1",
        {
            "semabench": Config(
                "shared mt19937: 1 step inside, 1 step on private data outside",
                options={
                    "generator": "mt19937",
                    "critical": 1,
                    "critical-on": "shared",
                    "non-critical": 1,
                    "permits": 1,
                },
            )
        },
        locks=SEMAPHORES,
        references=SEMAPHORE_REFERENCES,
    ),
    "stress-latency": Workload(
        "liblock's stress_latency: empty loops, 200 rounds inside and 5000 outside",
        f"{TWA_PAPER}, section 4.3, figure 4",
        {
            "stress-latency": Config(
                "delay loop: 200 rounds inside, 5000 outside",
                options={"generator": "delay", "critical": 200, "critical-on": "private", "non-critical": 5000},
            )
        },
        locks=TICKETS_AND_MCS,
    ),
    "locktorture": Workload(
        "the kernel's locktorture in user space; a broken lock shows that the test catches violations",
        f"{TWA_PAPER}, section 4.6, figure 7",
        {
            "locktorture": Config(
                "the kernel's generator: 20 steps inside, up to 400 outside at random",
                options={
                    "generator": "torture",
                    "critical": 20,
                    "critical-on": "private",
                    "non-critical": 400,
                    "random": True,
                },
            )
        },
        locks=("ticket", "twa", "qspinlock"),
        control="broken",  # admits every thread at once
    ),
    "handover": Workload(
        "the time from release to the next thread's entry, and how long threads wait",
        "",
        {
            "handover": Config(
                "like `mutex` maximum, with each hand-over and each wait timed",
                options={**MAXIMUM, "handover": True, "timed": True},
            )
        },
        threads=(2, "cpus"),
        measures=("handover.p50", "handover.p99", "longest_wait", "throughput"),
        y="handover.p50",
    ),
    "invalidation-diameter": Workload(
        "one thread writes a word that others read: how much the readers slow the writer down",
        f"{TWA_PAPER}, section 1, figure 1",
        {"invalidation-diameter": Config("fetch-and-add", family="invalidation-diameter", subject="fetch-and-add")},
        locks=(),
        references=(),
        measures=("throughput",),
        runs=15,
    ),
    "fork-join": Workload(
        "phases: each thread completes its episodes, and then all threads meet at a barrier",
        "",
        {
            "fork-join": Config(
                "100 episodes for each thread, then a barrier",
                family="fork-join",
                options={"episodes": 100},
                measures=("phases", "throughput"),
            )
        },
        locks=("fair", "twa", "hapax", "mcs", "capacitor-tts"),
        waiting=("spin-then-park",),
        threads=("cpus", "2*cpus", "4*cpus"),
        y="phases",
    ),
    "multi-lock": Workload(
        "one thread holds several contended locks at once, and each other thread contends for one",
        "",
        {"multi-lock": Config("five locks, acquired in order", family="multi-lock", options={"locks-held": 5})},
        locks=("mcs", "clh", "hemlock", "twa", "hapax", "hapax-vw"),
        threads=("..cpus",),
    ),
    "throw": Workload(
        "C++ exceptions, thrown and caught: the lock is inside the run-time library, if it has one",
        f"{TWA_PAPER}, section 4.2, figure 3",
        {
            "throw": Config("back to back", family="throw"),
            "registered-frames": Config(
                "like a process with a just-in-time compiler, whose frame tables the library also searches",
                family="throw",
                options={"registered-frames": True},
            ),
        },
        measures=PRELOADING_MEASURES,
        **PRELOADING,
    ),
    "atomic-exchange": Workload(
        "exchange of a std::atomic of five integers: the lock is inside libatomic",
        f"{HAPAX_PAPER}, section 6.1, figure 1",
        {
            "atomic-exchange": Config(
                "xoroshiro128plus: up to 100 steps after each exchange, at random",
                family="atomic-exchange",
                options={"non-critical": 100},
            )
        },
        measures=PRELOADING_MEASURES,
        **PRELOADING,
    ),
    "leveldb": Workload(
        "LevelDB's readrandom: the busiest lock is inside the database",
        f"{TWA_PAPER}, section 4.4, figure 5; {HAPAX_PAPER}, section 6.2, figure 2",
        {
            "readrandom": Config(
                "random reads; keys of 16 bytes, values of 100",
                family="leveldb",
                options={"entries": 1_000_000},
            )
        },
        measures=PRELOADING_MEASURES,
        **PRELOADING,
    ),
    "rocksdb": Workload(
        "RocksDB's readwhilewriting: one extra thread writes; the busiest lock guards a cache with one shard",
        f"{TWA_PAPER}, section 4.5, figure 6",
        {
            "readwhilewriting": Config(
                "the database starts full",
                family="rocksdb",
                options={"entries": 1_000_000, "full": True},
            ),
            "from-empty": Config(
                "the database starts empty, as in the paper, whose runs of 200 seconds fill it",
                family="rocksdb",
                options={"entries": 1_000_000, "full": False},
                default=False,
            ),
        },
        measures=("throughput",),
        **PRELOADING,
    ),
    "collisions": Workload(
        "waiting arrays that are too small, so that waiters of one lock share a slot",
        f"{HAPAX_PAPER}, appendix B",
        {"collisions": Config("like `mutex` maximum", options=MAXIMUM)},
        locks=(*SMALL_ARRAYS, "tts"),
        waiting=("spin", "spin-then-park"),
        threads=("cpus", "4*cpus"),
    ),
    "oversubscribed": Workload(
        "many threads on few processors, idle and beside processes that burn CPU",
        "",
        {
            "oversubscribed": Config(
                "no work outside; every wait is timed",
                options={**MAXIMUM, "timed": True},
            )
        },
        locks=("fair", *FIFO_LOCKS, "lifo", "capacitor-lifo", *SEMAPHORES),
        references=(*GLIBC, *SEMAPHORE_REFERENCES),
        waiting=("spin-then-park",),
        threads=(32,),
        seconds=1.25,  # in a shorter window, each of 32 threads gets so few turns that chance decides the fairness
        hogs=(0, 2),
        measures=("throughput", "fairness", "jain", "longest_wait"),
    ),
    "uncontended": Workload(
        "an acquire and its release, without contention",
        "",
        {"uncontended": Config("one thread; a second thread sleeps", family="uncontended")},
        locks=("tas", "tts", *FIFO_LOCKS, "reciprocating", "lifo", "qspinlock", "fair", *SEMAPHORES),
        references=(*LOCK_REFERENCES, *SEMAPHORE_REFERENCES),
        threads=(1,),
        seconds=0.2,
        runs=11,
        measures=("ns",),
        y="ns",
    ),
    "overhead": Workload(
        "the cost of the harness: its loop compared with a handwritten loop for the same lock",
        "",
        {"overhead": Config("one thread, no work inside or outside", family="overhead", subject="four locks")},
        locks=(),
        references=(),
        threads=(1,),
        runs=11,
        measures=("overhead_ns",),
        y="overhead_ns",
    ),
}
