# SPDX-License-Identifier: Apache-2.0
"""What can be measured: data, with the parameters of the papers as defaults.

A workload is a question; its configs are the ways in which it was asked. A config names a family of ``fairlock_bench``
(or of a module in ``families``) and the options that it is given. Everything else says what is measured unless the
command line says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fairlock_lab.benchmarks.results import Option

# A number of threads: 4, "cpus", "4*cpus", "8 or cpus" (the greater one), or "..2*cpus" (1, 2, 4, ... up to that).
Count = int | str

LADDER: tuple[Count, ...] = ("..2*cpus",)

TICKETS_AND_MCS = ("ticket", "twa", "mcs")
PAPER_LOCKS = ("mcs", "clh", "twa", "tidex", "ticket", "hemlock", "reciprocating", "hapax", "hapax-vw")
TAMED_LOCKS = ("reciprocating", "ticket", "lifo", "mcs", "tts")  # the five of the capacitor paper
CAPACITORS = tuple(
    form.format(name)
    for name in TAMED_LOCKS
    for form in ("{}", "capacitor-{}", "capacitor-{}-fractional", "semaphore-around-{}")
)
SEMAPHORES = ("ticket-semaphore", "twa-semaphore", "twa-semaphore-futex", "twa-semaphore-chain", "fair-semaphore")
FIFO_LOCKS = (
    *("ticket", "ticket-backoff", "partitioned-ticket", "anderson", "twa", "tidex", "hapax", "hapax-vw"),
    *("mcs", "clh", "hemlock"),
)
SMALL_ARRAYS = tuple(
    f"{name}{slots}" for name in ("twa", "hapax", "hapax-vw") for slots in ("/slots-1", "/slots-4", "/slots-64", "")
)

# What a program would otherwise use. Measured in every run; those that this build does not have are left out, and said.
GLIBC = ("pthread-mutex", "std-mutex", "pthread-mutex-pi")
CK = ("ck-ticket", "ck-mcs", "ck-anderson", "ck-clh")
LOCK_REFERENCES = (*GLIBC, *CK)
PEERS = ("absl", "nsync", "boost", "tbb-spin", "tbb-queuing")  # of other libraries
NO_LOCK = "nolock"  # the work without a lock: a limit, not a choice
SEMAPHORE_REFERENCES = ("sem_t", "std-semaphore")

# Of those that can be loaded before a program.
PRELOADED = ("fair", "ticket", "twa", "hapax", "hapax-vw", "mcs", "clh")


@dataclass(frozen=True)
class Config:
    """One way to run a workload."""

    title: str
    family: str = "contend"
    options: Mapping[str, Option] = field(default_factory=dict)
    locks: tuple[str, ...] = ()  # empty: the workload's
    forms: tuple[str, ...] = ("guard",)
    measures: tuple[str, ...] = ()  # empty: the workload's
    threads: tuple[Count, ...] = ()  # empty: the workload's
    subject: str | None = None  # what is measured, where the family leaves no choice of lock
    chosen: bool = True  # measured unless the command line names others


@dataclass(frozen=True)
class Workload:
    title: str
    paper: str  # which one, with section and figure; empty: ours
    configs: Mapping[str, Config]
    locks: tuple[str, ...] = PAPER_LOCKS
    references: tuple[str, ...] = LOCK_REFERENCES
    waiting: tuple[str, ...] = ("spin",)
    paper_waiting: tuple[str, ...] = ()  # how threads wait in the paper, if not so
    threads: tuple[Count, ...] = LADDER
    seconds: float = 1.0
    warm_up: float = 0.1
    runs: int = 5
    hogs: tuple[int, ...] = (0,)
    beside_hogs: float = 2.0  # so much longer are the windows there
    measures: tuple[str, ...] = ("throughput", "fairness")
    control: str | None = None  # a lock that must be found broken; measured in every run
    y: str = "throughput"
    rivals: tuple[str, ...] = ("pthread-mutex", "pthread-mutex-pi", "ck-ticket", "sem_t")  # what tables compare with
    columns: Mapping[str, str] = field(default_factory=dict)  # of one table for all configs: options and heads


TWA_PAPER = "TWA (Euro-Par 2019)"
SEMAPHORE_PAPER = "Semaphores with a Waiting Array (2025)"
HAPAX_PAPER = "Hapax Locks (PPoPP 2026)"
CAPACITOR_PAPER = "Capacitors"

MAXIMUM: Mapping[str, Option] = {
    "generator": "xoroshiro128plus",
    "critical": 1,
    "critical-on": "shared",
    "non-critical": 0,
}

# Work outside the critical section. The threads of a pair have a processor each; a team is at least one thread for each
# processor, and a crowd at least four.
TEAMS: dict[str, tuple[str, Count]] = {
    "pair": ("2 threads", 2),
    "team": ("8 threads, or one for each processor if there are more", "8 or cpus"),
    "crowd": ("32 threads, or four for each processor if that is more", "32 or 4*cpus"),
}
STEPS = (  # team, steps inside, steps outside
    *(("pair", 100, 100), ("pair", 1000, 1000), ("pair", 20, 200), ("team", 20, 1000), ("team", 1000, 10_000)),
    *(("crowd", 20, 200), ("crowd", 20, 1000), ("crowd", 100, 1000), ("crowd", 100, 100), ("crowd", 1, 0)),
)


def outside(team: str, critical: int, non_critical: int) -> Config:
    size, threads = TEAMS[team]
    return Config(
        f"{size}: {critical} steps inside, {non_critical} on the thread's own data outside",
        options={
            "generator": "multiply-add",  # a step takes about a nanosecond
            "critical": critical,
            "critical-on": "shared",
            "non-critical": non_critical,
            "timed-apart": True,
        },
        threads=(threads,),
    )


# Whose lock is inside a library or a program: another one is loaded before it (programs.environment). In the papers
# threads only spin; but a program may have more of them than there are processors.
INSIDE: dict[str, Any] = {
    "locks": PRELOADED,
    "references": ("pthread-mutex",),
    "waiting": ("spin-then-park",),
    "paper_waiting": ("spin",),
}
INSIDE_MEASURES = ("throughput", "fairness", "mutexes_per_episode")

WORKLOADS: dict[str, Workload] = {
    "mutex": Workload(
        "MutexBench: threads that take one lock again and again",
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
                "shared xoroshiro128plus: 1 step inside, 500 of one's own outside",
                options={**MAXIMUM, "non-critical": 500},
            ),
            "maximum": Config("shared xoroshiro128plus: 1 step inside, nothing outside", options=MAXIMUM),
            "capacitor": Config(
                "shared mt19937: 1 step inside, nothing outside; locks with and without a capacitor",
                options={**MAXIMUM, "generator": "mt19937"},
                locks=CAPACITORS,
                chosen=False,
            ),
            "invalidations": Config(
                "private xoroshiro128plus: 1 step inside, nothing outside, so that only the lock moves cache lines",
                options={**MAXIMUM, "critical-on": "private", "migrations": True},
                measures=("throughput", "perf.cache_misses", "perf.cycles", "perf.instructions", "migrations"),
                chosen=False,
            ),
            "rearrival": Config(
                "as maximum, with the episode on the stack and in the lock's body",
                options={**MAXIMUM, "migrations": True},
                forms=("guard", "mutex"),
                measures=("throughput", "migrations", "fairness"),
                chosen=False,
            ),
        },
    ),
    "outside": Workload(
        "threads that work between two acquisitions, as programs do",
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
        "semabench: a semaphore of one permit in the place of a lock",
        f"{SEMAPHORE_PAPER}, section 3, figure 1",
        {
            "semabench": Config(
                "shared mt19937: 1 step inside, 1 of one's own outside",
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
        "the kernel's locktorture, rendered in user space; a broken lock shows that a breach would be noticed",
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
        control="broken",  # lets everybody in
    ),
    "handover": Workload(
        "from release to the next thread's entry, and how long threads wait",
        "",
        {
            "handover": Config(
                "as mutex maximum, with every hand-over and every wait timed",
                options={**MAXIMUM, "handover": True, "timed": True},
            )
        },
        threads=(2, "cpus"),
        measures=("handover.p50", "handover.p99", "longest_wait", "throughput"),
        y="handover.p50",
    ),
    "invalidation-diameter": Workload(
        "one writer of a word, and threads that read it: what watching costs the writer",
        f"{TWA_PAPER}, section 1, figure 1",
        {"invalidation-diameter": Config("fetch-and-add", family="invalidation-diameter", subject="fetch-and-add")},
        locks=(),
        references=(),
        measures=("throughput",),
        runs=15,
    ),
    "fork-join": Workload(
        "phases: each thread does its episodes, then all meet; with more threads than processors",
        "",
        {
            "fork-join": Config(
                "100 episodes of each thread, then a meeting",
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
        "several contended locks held at once: the multi-waiting case",
        f"{HAPAX_PAPER}, on HemLock",
        {"multi-lock": Config("five locks, taken in one order", family="multi-lock", options={"locks-held": 5})},
        locks=("mcs", "clh", "hemlock", "twa", "hapax", "hapax-vw"),
        threads=("..cpus",),
    ),
    "throw": Workload(
        "C++ exceptions, thrown and caught: the locks are the run-time library's, if it has any",
        f"{TWA_PAPER}, section 4.2, figure 3",
        {
            "throw": Config("back to back", family="throw"),
            "registered-frames": Config(
                "in a process with a just-in-time compiler, whose tables of frames the library looks at too",
                family="throw",
                options={"registered-frames": True},
            ),
        },
        measures=INSIDE_MEASURES,
        **INSIDE,
    ),
    "atomic-exchange": Workload(
        "std::atomic of five integers, exchanged: the lock is libatomic's",
        f"{HAPAX_PAPER}, section 6.1, figure 1",
        {
            "atomic-exchange": Config(
                "xoroshiro128plus: up to 100 steps after each exchange, at random",
                family="atomic-exchange",
                options={"non-critical": 100},
            )
        },
        measures=INSIDE_MEASURES,
        **INSIDE,
    ),
    "leveldb": Workload(
        "LevelDB's readrandom: the lock is above all the database's",
        f"{TWA_PAPER}, section 4.4, figure 5; {HAPAX_PAPER}, section 6.2, figure 2",
        {
            "readrandom": Config(
                "random reads; keys of 16 bytes, values of 100",
                family="leveldb",
                options={"entries": 1_000_000},
            )
        },
        measures=INSIDE_MEASURES,
        **INSIDE,
    ),
    "rocksdb": Workload(
        "RocksDB's readwhilewriting: one more thread writes; the lock is that of a cache with one shard",
        f"{TWA_PAPER}, section 4.5, figure 6",
        {
            "readwhilewriting": Config(
                "the database is full at the beginning",
                family="rocksdb",
                options={"entries": 1_000_000, "full": True},
            ),
            "from-empty": Config(
                "the database is empty at the beginning, as in the paper, where 200 seconds fill it",
                family="rocksdb",
                options={"entries": 1_000_000, "full": False},
                chosen=False,
            ),
        },
        measures=("throughput",),
        **INSIDE,
    ),
    "collisions": Workload(
        "waiting arrays that are too small, so that waiters of one lock meet in one slot",
        "",
        {"collisions": Config("as mutex maximum", options=MAXIMUM)},
        locks=(*SMALL_ARRAYS, "tts"),
        waiting=("spin", "spin-then-park"),
        threads=("cpus", "4*cpus"),
    ),
    "oversubscribed": Workload(
        "many threads on few processors, idle and beside processes that burn CPU",
        "",
        {
            "oversubscribed": Config(
                "nothing outside; every wait is timed",
                options={**MAXIMUM, "timed": True},
            )
        },
        locks=("fair", *FIFO_LOCKS, "lifo", "capacitor-lifo", *SEMAPHORES),
        references=(*GLIBC, *SEMAPHORE_REFERENCES),
        waiting=("spin-then-park",),
        threads=(32,),
        seconds=1.25,  # with 32 threads, shorter windows are unfair by chance of few turns
        hogs=(0, 2),
        measures=("throughput", "fairness", "jain", "longest_wait"),
    ),
    "uncontended": Workload(
        "an acquire and its release, with nobody else there",
        "",
        {"uncontended": Config("one thread; a second one sleeps", family="uncontended")},
        locks=("tas", "tts", *FIFO_LOCKS, "reciprocating", "lifo", "qspinlock", "fair", *SEMAPHORES),
        references=(*LOCK_REFERENCES, *SEMAPHORE_REFERENCES),
        threads=(1,),
        seconds=0.2,
        runs=11,
        measures=("ns",),
        y="ns",
    ),
    "overhead": Workload(
        "what the harness costs: its loop against one written by hand for the same lock",
        "",
        {"overhead": Config("one thread, nothing inside, nothing outside", family="overhead", subject="four locks")},
        locks=(),
        references=(),
        threads=(1,),
        runs=11,
        measures=("overhead_ns",),
        y="overhead_ns",
    ),
}

# What `--set option=value` may name, and what a value is: a choice of words, any text, a number from 0, or yes/no.
OPTIONS: dict[str, tuple[str, ...] | type] = {
    "generator": ("mt19937", "xoroshiro128plus", "torture", "multiply-add", "delay", "none"),
    "critical": int,
    "critical-on": ("shared", "private"),
    "non-critical": int,
    "random": bool,
    "permits": int,
    "locks-held": int,
    "episodes": int,
    "timed": bool,
    "timed-apart": bool,
    "handover": bool,
    "migrations": bool,
    "registered-frames": bool,
    "entries": int,
    "db": str,
    "library": str,
    "full": bool,
}
