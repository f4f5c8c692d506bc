# SPDX-License-Identifier: Apache-2.0
"""Check the arguments of ``bench``, ``repeat`` and ``resume``, and turn them into results without samples."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fairlock_lab.benchmarks import (
    compare_program,
    harness,
    machine,
    native,
    ordinary_programs,
    plan,
    programs,
    python_types,
    results,
)
from fairlock_lab.benchmarks.composites import COMPOSITES
from fairlock_lab.benchmarks.composites import points as composite_points
from fairlock_lab.benchmarks.families import FAMILY_MODULES
from fairlock_lab.benchmarks.plan import Selection
from fairlock_lab.benchmarks.results import BenchResults, Option, Plan, Point
from fairlock_lab.benchmarks.roster import Roster
from fairlock_lab.benchmarks.rows import RowWorkload
from fairlock_lab.benchmarks.workloads import WORKLOADS
from fairlock_lab.errors import ArgumentError, check_number, look_up

MOST_SEED = 2**63 - 1

Names = str | Sequence[str]  # "twa,mcs", or ["twa", "mcs"]
Counts = str | int | Sequence[int]  # "1,2", 2, or [1, 2]

ROW_WORKLOADS: dict[str, RowWorkload] = {rows.name: rows for rows in (python_types.PYTHON, ordinary_programs.INSTALL)}


def workload_names() -> list[str]:
    return [*COMPOSITES, *WORKLOADS, *ROW_WORKLOADS]


@dataclass(frozen=True)
class Request:
    """The arguments of ``fairlock_lab.bench``. None selects the workload's default."""

    workload: str | None
    config: Names | None = None
    locks: Names | None = None
    waiting: Names | None = None
    threads: Counts | None = None
    seconds: float | None = None
    runs: int | None = None
    references: bool = True
    pin: bool = False
    hogs: int | None = None
    seed: int | None = None
    options: Mapping[str, Option] | Sequence[str] | None = None
    only: Names | None = None

    def __post_init__(self) -> None:
        for name in ("config", "locks", "waiting", "threads", "only"):  # an iterator could be read only once
            value = getattr(self, name)
            if isinstance(value, Iterable) and not isinstance(value, str):
                object.__setattr__(self, name, tuple(value))

    def new_results(self, file: Path | None = None) -> BenchResults:
        """Return results without samples. Raise ArgumentError for a wrong argument."""
        if self.workload is None:
            names = ", ".join(workload_names())
            raise ArgumentError(f"WORKLOAD is missing; choose from: {names} (fairlock bench --list describes them)")
        look_up("workload", self.workload, dict.fromkeys(workload_names()))
        self.check_numbers()
        seed = self.seed if self.seed is not None else random.SystemRandom().getrandbits(32)
        if self.workload in ROW_WORKLOADS:
            return harness.begin(self.plan_of_rows(ROW_WORKLOADS[self.workload], seed), self.command(file), None)
        self.refuse(("only",), f"{self.workload} has no rows: --only is for {' and '.join(ROW_WORKLOADS)}")
        roster = native.roster()
        return harness.begin(self.native_plan(roster, seed), self.command(file), roster)

    def native_plan(self, roster: Roster, seed: int) -> Plan:
        assert self.workload is not None
        selection = Selection(
            configs=words(self.config, "config"),
            locks=words(self.locks, "locks"),
            waiting=words(self.waiting, "waiting"),
            threads=thread_counts(self.threads, roster),
            seconds=self.seconds,
            runs=self.runs,
            hogs=self.hogs,
            references=self.references,
            options=dict(plan.option(text) for text in self.option_words()),
        )
        if self.workload in COMPOSITES:
            fixed = ("config", "waiting", "threads", "hogs", "options")
            self.refuse(fixed, f"{self.workload} has its own {listed(fixed)}; choose another workload")
            composite = COMPOSITES[self.workload]
            points = composite_points(composite, selection, roster)
            warm_up = composite.warm_up
        else:
            workload = WORKLOADS[self.workload]
            runs = self.runs or workload.runs
            points = [(point, runs) for point in plan.points_of(self.workload, workload, selection, roster)]
            warm_up = workload.warm_up
        if self.seconds is not None:
            warm_up = min(warm_up, self.seconds)
        return plan.make(
            self.workload, points, seed=seed, warm_up=warm_up, seconds=self.seconds, hogs=self.hogs, pin=self.pin
        )

    def plan_of_rows(self, workload: RowWorkload, seed: int) -> Plan:
        fixed = ("config", "locks", "waiting", "threads", "hogs", "options")
        self.refuse(fixed, f"{workload.name} has its own rows: choose with --only")
        if self.pin:
            raise ArgumentError(f"{workload.name} cannot pin threads to processors: leave --pin out")
        points = workload.points(words(self.only, "only"), self.seconds)
        runs = self.runs or workload.runs
        warm_up = min(workload.warm_up, self.seconds or workload.warm_up)
        return plan.make(
            workload.name, [(point, runs) for point in points], seed=seed, warm_up=warm_up, seconds=self.seconds
        )

    def refuse(self, fixed: Iterable[str], message: str) -> None:
        """Raise ArgumentError if one of these arguments was given."""
        if any(getattr(self, name) is not None for name in fixed):
            raise ArgumentError(message)

    def check_numbers(self) -> None:
        limits: tuple[tuple[str, object, float, int], ...] = (
            ("runs", self.runs, 1, 1000),
            ("seconds", self.seconds, 0.001, 3600),
            ("hogs", self.hogs, 0, 64),
            ("seed", self.seed, 0, MOST_SEED),
        )
        for name, value, least, most in limits:
            if value is not None:
                check_number(name, value, least, most)

    def option_words(self) -> list[str]:
        """Return the options as ``--set`` takes them: NAME=VALUE."""
        if self.options is None:
            return []
        if not isinstance(self.options, Mapping):
            return list(texts(self.options, "options"))
        truth = {True: "yes", False: "no"}
        return [f"{name}={truth[value] if isinstance(value, bool) else value}" for name, value in self.options.items()]

    def command(self, file: Path | None) -> list[str]:
        """Return the words of the equivalent command line."""
        line = ["bench", str(self.workload)]
        for name in ("config", "locks", "waiting", "threads", "seconds", "runs", "hogs", "seed", "only"):
            value = getattr(self, name)
            if value is not None:
                several = isinstance(value, Sequence) and not isinstance(value, str)
                line += [f"--{name}", ",".join(map(str, value)) if several else str(value)]
        for option in self.option_words():
            line += ["--set", option]
        line += ["--pin"] if self.pin else []
        line += [] if self.references else ["--no-references"]
        return [*line, "--json", str(file)] if file is not None else line


# --- plans of files ---


def results_to_repeat(source: Path, file: Path | None = None) -> BenchResults:
    """Return results without samples, with the plan of the file ``source``."""
    old = results.load(source)
    if file is not None and file.exists() and file.samefile(source):
        raise ArgumentError(f"--json {file} would replace the file of --from: name another file")
    command = ["bench", "--from", str(source), *(["--json", str(file)] if file is not None else [])]
    return harness.begin(old.plan, command, roster_for(old, source))


def results_to_resume(file: Path, *, anyway: bool = False) -> BenchResults:
    """Return the results of a file, which may lack samples."""
    kept = results.load(file)
    roster = roster_for(kept, file)
    if not anyway:
        harness.check_same_machine(kept, file, machine.facts(roster.compiler if roster is not None else None))
    harness.begin(kept.plan, [], roster)  # raises ArgumentError if this machine lacks something
    return kept


def roster_for(old: BenchResults, path: Path) -> Roster | None:
    """Return the roster if the plan needs it. Raise ArgumentError if this build cannot measure the plan."""
    for point in old.plan.points:
        if not measurable(point):
            raise ArgumentError(f"{path}: this build of fairlock cannot measure {point}")
    inside = [point for point in old.plan.points if point.family not in FAMILY_MODULES]
    if not inside:
        return None
    roster = native.roster()
    for point in inside:
        subject = roster.subjects.get(point.lock)
        known = point.family in native.WITHOUT_A_LOCK or (
            subject is not None and (point.waiting is None or point.waiting in subject.policies)
        )
        if point.family not in roster.families or not known:
            raise ArgumentError(f"{path}: this build of fairlock cannot measure {point}")
    return roster


def measurable(point: Point) -> bool:
    """Return whether a point of a file has what its module needs. ``fairlock_bench`` checks its own points."""
    if point.family in ROW_WORKLOADS:
        points = ROW_WORKLOADS[point.family].points((), None)
        return point.lock in {known.lock for known in points} and point.config in {known.config for known in points}
    if point.family in ("leveldb", "rocksdb") and not isinstance(point.options.get("entries"), int):
        return False
    if point.family == compare_program.FAMILY and not compare_program.well_formed(point):
        return False
    return point.family not in programs.FAMILIES or programs.is_available(point)


# --- arguments ---


def words(names: Names | None, option: str) -> tuple[str, ...]:
    """Return the names that an argument lists, each once."""
    if names is None:
        return ()
    parts = names.split(",") if isinstance(names, str) else texts(names, option)
    chosen = tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))
    if not chosen:
        raise ArgumentError(f"{option}: name at least one")
    return chosen


def texts(values: object, option: str) -> tuple[str, ...]:
    """Return one text, or several, as a tuple."""
    several = (values,) if isinstance(values, str) else tuple(values) if isinstance(values, Iterable) else (None,)
    if not all(isinstance(value, str) for value in several):
        raise ArgumentError(f"{option}: pass text, or a list of text, not {values!r}")
    return several


def thread_counts(counts: Counts | None, roster: Roster) -> tuple[int, ...]:
    most = min(machine.most_threads(), roster.most_threads)
    if isinstance(counts, int):
        counts = [counts]
    if counts is not None and not isinstance(counts, Iterable):
        raise ArgumentError(f"threads: choose numbers from 1 to {most}, not {counts!r}")
    names = counts if counts is None or isinstance(counts, str) else [str(count) for count in counts]
    chosen = set()
    for word in words(names, "threads"):
        if not (word.isascii() and word.isdigit() and len(word) < 10 and int(word) > 0):
            raise ArgumentError(f"threads: choose numbers from 1 to {most}, separated by commas, not '{word}'")
        if int(word) > most:
            raise ArgumentError(f"threads: {word} is too many: this system allows at most {most} threads")
        chosen.add(int(word))
    return tuple(sorted(chosen))


def listed(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}"
