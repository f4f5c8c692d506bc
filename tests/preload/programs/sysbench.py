# SPDX-License-Identifier: Apache-2.0
"""sysbench: threads that take one mutex in turn, yielding while they hold it, and threads that take a few at random."""

from __future__ import annotations

from .trial import Program, Trial, demand, number, version_of

THREADS = 8


def threads(trial: Trial) -> str:
    events = trial.times(400)
    output = trial.run(
        *f"sysbench threads --threads={THREADS} --thread-locks=1 --events={events} --time=100 run".split()
    )
    demand(total_events(output), events, "events")
    return f"{events / seconds(output):.0f} events/s"


def mutex(trial: Trial) -> str:
    locks = trial.times(100_000)
    output = trial.run(
        *f"sysbench mutex --threads={THREADS} --mutex-num=2 --mutex-locks={locks} --mutex-loops=100 run".split()
    )
    demand(total_events(output), THREADS, "events")  # the whole work of a thread is one event
    return f"{THREADS * locks / seconds(output):.0f} locks/s"


def total_events(output: str) -> float:
    return number(r"total number of events: +(\d+)", output)


def seconds(output: str) -> float:
    return number(r"total time: +([\d.]+)s", output)


def version() -> str:
    return version_of("sysbench", "--version")


PROGRAMS = [
    Program("sysbench-threads", "sysbench", ("sysbench",), version, threads, quick=True),
    Program("sysbench-mutex", "sysbench", ("sysbench",), version, mutex, quick=True),
]
