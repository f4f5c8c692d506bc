# SPDX-License-Identifier: Apache-2.0
"""The functions behind ``fairlock bench``.

>>> results = bench("mutex", config="maximum", locks=["twa", "mcs"], threads=[1, 2])
>>> print(results)

A wrong argument raises ``ArgumentError``, a ``ValueError``, whose one-line message names the valid choices. A sample
that cannot be taken raises ``FailedRunError``, and Ctrl-C raises ``BenchInterrupted``, a ``KeyboardInterrupt``. The
attribute ``results`` of both has the samples so far. If they are in a file, ``resume`` takes the remaining samples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from fairlock_lab.benchmarks import harness, request
from fairlock_lab.benchmarks.output_files import check_writable
from fairlock_lab.benchmarks.progress import Callback
from fairlock_lab.benchmarks.request import Counts, Names, Request
from fairlock_lab.benchmarks.results import BenchResults, Option
from fairlock_lab.errors import check_callback, file_at


def bench(
    workload: str,
    *,
    config: Names | None = None,
    locks: Names | None = None,
    waiting: Names | None = None,
    threads: Counts | None = None,
    seconds: float | None = None,
    runs: int | None = None,
    references: bool = True,
    pin: bool = False,
    hogs: int | None = None,
    seed: int | None = None,
    options: Mapping[str, Option] | Sequence[str] | None = None,
    only: Names | None = None,
    file: str | Path | None = None,
    progress: Callback | None = None,
) -> BenchResults:
    """Measure a workload, and return its samples. None selects the workload's default, which follows the papers.

    ``options`` changes options of the workload, as ``--set`` does: ``{"critical": 4}``, or ``["critical=4"]``. With a
    ``file``, each sample is written there before the next one begins. ``progress`` is called with a BenchProgress
    before each sample, and once after the last one.

    Raise ArgumentError, a ValueError, for a wrong argument, BenchInterrupted, a KeyboardInterrupt, at Ctrl-C, and
    FailedRunError if a sample cannot be taken.
    """
    bench_request = Request(
        workload, config, locks, waiting, threads, seconds, runs, references, pin, hogs, seed, options, only
    )
    path = file_at("file", file) if file is not None else None
    return measure(bench_request.new_results(path), path, progress)


def repeat(source: str | Path, *, file: str | Path | None = None, progress: Callback | None = None) -> BenchResults:
    """Measure the plan of a results file again: the same points, order and seeds."""
    path = file_at("file", file) if file is not None else None
    return measure(request.results_to_repeat(file_at("source", source), path), path, progress)


def resume(file: str | Path, *, anyway: bool = False, progress: Callback | None = None) -> BenchResults:
    """Take the samples that a results file lacks. ``anyway`` does so even on a machine other than the file's."""
    path = file_at("file", file)
    return measure(request.results_to_resume(path, anyway=anyway), path, progress)


def measure(results: BenchResults, file: Path | None = None, progress: Callback | None = None) -> BenchResults:
    """Take the remaining samples of a plan."""
    check_callback(progress)
    if file is not None and not results.complete:
        check_writable(file)
    return harness.run(results, file, progress)
