# SPDX-License-Identifier: Apache-2.0
"""The runs of a check: the scenarios of each subject, with numbers of threads, episodes and slots.

Two processors explore the usual bounds in five minutes, and the deep ones in an hour. The more steps the waiters of a
subject take, the more states it has: a waiter that watches a word takes one step, and a waiter that sleeps on a chain
takes ten.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from fairlock_lab.checking.subjects import MEMORIES, Memory, Subject
from fairlock_lab.presentation import counted

Size = tuple[int, int]  # threads, episodes

# Each thread has only one episode in these scenarios.
ONE_EPISODE = {"destroy", "timed-destroy", "interrupt", "timed-batch", "notify-destroy"}
# Subjects that are explored with three threads even if the waiters sleep.
SLEEPING_WITH_THREE_THREADS = {
    *("ticket", "twa", "hapax", "tts", "fair"),
    *("ticket-semaphore", "twa-semaphore", "twa-semaphore-chain"),
}


@dataclass(frozen=True)
class Run:
    """One exploration: a lock, semaphore or condition, or a mutant of it, in one scenario with its bounds."""

    name: str
    scenario: str = "rounds"
    memory: Memory = "sc"
    threads: int = 2
    episodes: int = 2
    slots: int = 1
    mutant: str = ""

    @property
    def size(self) -> str:
        """Threads x episodes: "2x2"."""
        return f"{self.threads}x{self.episodes}"

    def __str__(self) -> str:
        slots = counted(self.slots, "slot")
        return f"{self.mutant or self.name} {self.scenario} {self.size}, {slots}, {self.memory}"

    def arguments(self) -> tuple[str, str, int, int, int, str, str]:
        """Return the arguments of the native module."""
        return (self.name, self.scenario, self.threads, self.episodes, self.slots, self.memory, self.mutant)

    def command(self, schedule: str) -> str:
        """Return the command line that replays a schedule of this run."""
        target = f"--mutant {self.mutant}" if self.mutant else self.name
        return (
            f"fairlock check {target} --scenario {self.scenario} --threads {self.threads} "
            f"--episodes {self.episodes} --slots {self.slots} --memory {self.memory} "
            f"--schedule {schedule}"
        )


def plan(subjects: Iterable[Subject], *, deep: bool = False) -> list[Run]:
    """Return the runs of these subjects. Each subject begins with small bounds."""
    return [
        run
        for subject in subjects
        for run in runs_of(subject, deep)
        if subject.max_threads is None or run.threads <= subject.max_threads
    ]


def fits_dpor(run: Run) -> bool:
    """Return whether partial-order reduction, which keeps no set of states, explores this run in seconds."""
    if run.memory != "sc" or run.slots != 1 or run.threads * run.episodes > 4:
        return False
    if run.scenario == "full-table":
        return False  # a thread that retries forever has traces without end
    return run.threads < 4 or run.scenario.startswith("notify")


def runs_of(subject: Subject, deep: bool) -> Iterator[Run]:
    sizes = {"condition": condition_sizes, "sleeps": sleeping_sizes, "chain": chain_sizes, "watches": watching_sizes}
    kind = waiter_kind(subject)
    for memory in MEMORIES:
        for slots in slots_of(subject, kind):
            for scenario in subject.scenarios:
                if scenario == "full-table" and memory == "weak":
                    continue  # a waiter that retries forever writes without end
                if scenario == "timed-batch":
                    chosen = batch_sizes(subject, kind, memory, slots, deep)
                else:
                    chosen = sizes[kind](subject, scenario, memory, slots, deep)
                if scenario in ONE_EPISODE:
                    chosen = ((threads, 1) for threads, _ in chosen)
                for threads, episodes in dict.fromkeys(chosen):
                    yield Run(subject.name, scenario, memory, threads, episodes, slots)


def waiter_kind(subject: Subject) -> Literal["condition", "sleeps", "chain", "watches"]:
    """Return how the waiters wait. The number of interleavings depends on it."""
    if "notify" in subject.scenarios:
        return "condition"
    if subject.sleeping:
        return "sleeps"
    return "chain" if any(word in subject.name for word in ("chain", "futex", "fair")) else "watches"


def slots_of(subject: Subject, kind: str) -> tuple[int, ...]:
    if not subject.waiting_array or kind in ("condition", "sleeps"):
        return (1,)
    return (1, 2) if kind == "chain" and "futex" not in subject.name else (1, 2, 4)


def watching_sizes(subject: Subject, scenario: str, memory: str, slots: int, deep: bool) -> Iterator[Size]:
    """Yield the sizes for waiters that watch one word at a time."""
    name, variation, capacitor = subject.name, subject.variation, subject.algorithm == "capacitor"
    if scenario == "several":
        yield (2, 1)
        if deep:
            yield (2, 2)
        return
    if "timed" in scenario or scenario == "full-table":
        yield from leaving_sizes(subject, scenario, memory, slots, deep)
        return
    yield from ((2, 2), (3, 1))
    if scenario == "destroy" and memory == "sc" and not variation:
        yield (4, 1)
    if scenario in ("rounds", "wrap"):
        if memory == "sc":
            yield from ((4, 1), (3, 2))
        elif not (variation or capacitor):  # for some of these, 3x2 takes longer than all other runs together
            yield (3, 2)
    if deep and scenario in ("rounds", "record") and slots == 1:
        yield (3, 3) if memory == "sc" else (2, 3)
        if name.startswith("hapax-seqlock"):
            yield (4, 1)


def leaving_sizes(subject: Subject, scenario: str, memory: str, slots: int, deep: bool) -> Iterator[Size]:
    """Yield the sizes for waiters that watch one word and may leave."""
    if slots == 4:
        return
    yield (2, 2)
    large = subject.name.startswith(("capacitor", "hapax-vw"))
    if scenario == "timed-away":
        with_three = memory == "sc" and slots == 1 and deep
    elif subject.variation:
        with_three = deep and memory == "sc" and slots == 1
    else:
        small = memory == "sc" and not large
        medium = (memory == "sc" or not large) and slots == 1 and (deep or scenario != "timed-destroy")
        with_three = small or medium
    if with_three:
        yield (3, 1)


def batch_sizes(subject: Subject, kind: str, memory: str, slots: int, deep: bool) -> Iterator[Size]:
    """Yield the sizes for releases of several permits while waiters leave.

    Two leavers take four threads. Their pokes also wake a waiter behind them, unless each has a slot of its own.
    """
    name = subject.name
    plain = not subject.variation and "+step" not in name
    if kind == "watches" or (memory == "sc" and slots == 1 and plain):
        yield (3, 1)
    if memory == "weak" or subject.variation:
        return
    if kind == "watches" or name == "fair-semaphore" or (name.endswith("futex") and slots == 4):
        yield (4, 1)


def chain_sizes(subject: Subject, scenario: str, memory: str, slots: int, deep: bool) -> Iterator[Size]:
    """Yield the sizes for waiters that enter a chain or a list, or sleep on a futex."""
    if slots == 4:
        return
    name, variation, leaves = subject.name, subject.variation, "timed" in scenario or scenario == "full-table"
    semaphore = "permits" in subject.scenarios
    yield (2, 1) if scenario == "several" or (scenario, memory) == ("timed-away", "weak") else (2, 2)
    if slots != 1 or scenario in ("several", "timed-away"):
        return
    if memory == "sc":
        with_three = not variation or deep or not leaves
    else:
        with_three = not variation and (deep or not leaves or scenario == "timed-destroy")
    if with_three:
        yield (3, 1)
    if memory == "sc" and scenario == "rounds" and (semaphore or deep) and not variation:
        yield (4, 1)
        if name != "fair-semaphore":  # it guesses whether it is saturated, and each guess doubles the states
            yield (3, 2)
    if memory == "sc" and scenario == "wrap" and "futex" in subject.name:
        yield (4, 1)  # the futex word wraps around
    if deep and scenario == "rounds":
        yield (2, 3)


def sleeping_sizes(subject: Subject, scenario: str, memory: str, slots: int, deep: bool) -> Iterator[Size]:
    """Yield the sizes for waiters that sleep.

    All of them sleep on the same chains, so variations need only the scenarios in which they differ.
    """
    base_name = subject.name.split("+")[0]
    steps_aside = "+step" in subject.name
    if scenario == "interrupt":
        if memory == "sc" and not subject.variation and not steps_aside:
            yield (3, 1)
        return
    if (subject.variation or steps_aside) and scenario not in ("rounds", "timed", "posts"):
        return
    if (subject.variation or steps_aside) and memory == "weak" and scenario != "rounds":
        return
    if memory == "weak" and "/platoon" in base_name:
        return
    yield (2, 1) if scenario == "several" or (scenario, memory) == ("timed-away", "weak") else (2, 2)
    with_three = base_name in SLEEPING_WITH_THREE_THREADS or ("/platoon" in base_name and "mcs" not in base_name)
    if scenario == "rounds" and memory == "sc" and ((with_three and subject.name != "fair+step+park") or deep):
        yield (3, 1)
    if scenario in ("destroy", "timed-destroy") and memory == "sc" and "permits" in subject.scenarios:
        yield (3, 1)
    if deep and scenario == "rounds" and memory == "sc":
        yield (2, 3)


def condition_sizes(subject: Subject, scenario: str, memory: str, slots: int, deep: bool) -> Iterator[Size]:
    """Yield the sizes for the waiters of a condition, which has no slots. Waiters that sleep have many more states."""
    yield from ((2, 2), (3, 1))
    if not subject.sleeping or (deep and memory == "sc"):
        yield (4, 1)
    if not subject.sleeping:
        yield (3, 2)
    if deep:
        yield (2, 3)
