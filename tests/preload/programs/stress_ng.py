# SPDX-License-Identifier: Apache-2.0
"""stress-ng: its stressors of mutexes, whose threads also change their priorities, and of semaphores."""

from __future__ import annotations

from collections.abc import Callable

from .trial import FailedError, Program, Trial, number, version_of


def stressor(name: str) -> Callable[[Trial], str]:
    def run(trial: Trial) -> str:
        seconds = trial.times(3)
        words = f"stress-ng --{name} 1 --{name}-procs 4 --timeout {seconds} --verify --metrics-brief --stdout".split()
        output = trial.run(*words, "--temp-path", trial.folder)
        operations = number(rf"\] {name} +(\d+)", output)
        if not operations:
            raise FailedError("stress-ng performed no operation")
        return f"{operations / seconds:.0f} operations/s"

    return run


def version() -> str:
    return version_of("stress-ng", "--version")


PROGRAMS = [
    Program(f"stress-ng-{name}", "stress-ng", ("stress-ng",), version, stressor(name), quick=True)
    for name in ("mutex", "sem")
]
