# SPDX-License-Identifier: Apache-2.0
"""The lab of fairlock: the catalogue of locks, the model checker, the benchmarks and their reports.

Each command of the lab is a thin layer over a function of this package::

    import fairlock_lab

    fairlock_lab.catalogue()["twa"].order
    fairlock_lab.explain("twa")
    fairlock_lab.check("twa", threads=3)

Importing the package loads nothing else. The first use of a name imports the module that defines it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairlock_lab.benchmarks.harness import BenchInterrupted, FailedRunError
    from fairlock_lab.benchmarks.library import bench, repeat, resume
    from fairlock_lab.benchmarks.progress import BenchProgress
    from fairlock_lab.benchmarks.results import BenchResults
    from fairlock_lab.checking.coverage import Coverage
    from fairlock_lab.checking.explanation import Explanation, Moment, explain
    from fairlock_lab.checking.explore import CheckProgress
    from fairlock_lab.checking.library import CheckInterrupted, check, check_mutants, litmus, replay
    from fairlock_lab.checking.plan import Run
    from fairlock_lab.checking.results import (
        CheckResults,
        LitmusResult,
        LitmusResults,
        MutantResults,
        Replay,
        RunResult,
    )
    from fairlock_lab.checking.subjects import Mutant, mutants
    from fairlock_lab.entries import Catalogue, ConditionEntry, Entry, LockEntry, SemaphoreEntry, catalogue
    from fairlock_lab.errors import ArgumentError, ChoiceError
    from fairlock_lab.reports.library import MissingError, Report, report

__version__ = "0.1.0"

__all__ = [
    "ArgumentError",
    "BenchInterrupted",
    "BenchProgress",
    "BenchResults",
    "Catalogue",
    "CheckInterrupted",
    "CheckProgress",
    "CheckResults",
    "ChoiceError",
    "ConditionEntry",
    "Coverage",
    "Entry",
    "Explanation",
    "FailedRunError",
    "LitmusResult",
    "LitmusResults",
    "LockEntry",
    "MissingError",
    "Moment",
    "Mutant",
    "MutantResults",
    "Replay",
    "Report",
    "Run",
    "RunResult",
    "SemaphoreEntry",
    "bench",
    "catalogue",
    "check",
    "check_mutants",
    "explain",
    "litmus",
    "mutants",
    "repeat",
    "replay",
    "report",
    "resume",
]

# The module of each name, under fairlock_lab.
_MODULES = {
    "benchmarks.harness": ["BenchInterrupted", "FailedRunError"],
    "benchmarks.library": ["bench", "repeat", "resume"],
    "benchmarks.progress": ["BenchProgress"],
    "benchmarks.results": ["BenchResults"],
    "checking.coverage": ["Coverage"],
    "checking.explanation": ["Explanation", "Moment", "explain"],
    "checking.explore": ["CheckProgress"],
    "checking.library": ["CheckInterrupted", "check", "check_mutants", "litmus", "replay"],
    "checking.plan": ["Run"],
    "checking.results": [
        *("CheckResults", "LitmusResult", "LitmusResults", "MutantResults", "Replay", "RunResult"),
    ],
    "checking.subjects": ["Mutant", "mutants"],
    "entries": ["Catalogue", "ConditionEntry", "Entry", "LockEntry", "SemaphoreEntry", "catalogue"],
    "errors": ["ArgumentError", "ChoiceError"],
    "reports.library": ["MissingError", "Report", "report"],
}


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            value = getattr(import_module(f"fairlock_lab.{module}"), name)
            globals()[name] = value  # the next use does not come here
            return value
    raise AttributeError(f"module 'fairlock_lab' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
