# SPDX-License-Identifier: Apache-2.0
"""The results of the model checker: of one run, of a check, of the mutants, of the litmus tests, and of a replay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, TypeVar, overload

from fairlock_lab import _native
from fairlock_lab.checking.coverage import Coverage
from fairlock_lab.checking.plan import Run
from fairlock_lab.checking.subjects import MEMORIES, SCENARIOS, Memory, mutants
from fairlock_lab.errors import ArgumentError
from fairlock_lab.presentation import Table, Tabular, as_json, counted, numbered

Verdict = Literal["holds", "violated", "incomplete", "killed", "survived"]
Item = TypeVar("Item")


@dataclass(frozen=True, repr=False)
class Replay(Tabular):
    """The steps of one schedule. ``property`` is the violated property, or None, and ``what`` describes the violation.

    ``skipped`` counts the steps of threads that were waiting or had finished. A schedule that was recorded with another
    version of the lock may have such steps.
    """

    run: Run
    schedule: str
    property: str | None
    what: str
    lines: tuple[str, ...]
    skipped: int

    def to_dict(self) -> dict[str, Any]:
        row = as_json(self)
        return {**row.pop("run"), **row}

    def table(self) -> Table:
        return Table(["step", "operation"], list(enumerate(self.lines, 1)), right=["step"])

    def __str__(self) -> str:
        lines = [*numbered(self.lines), ""]
        if self.skipped:
            steps = counted(self.skipped, "step")
            lines += [f"skipped {steps}: the schedule was recorded with another version of the lock", ""]
        lines.append(f"{self.property}: {self.what}" if self.property else "holds: no property is violated")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Replay of {self.run}: {counted(len(self.lines), 'step')}, {self.property or 'holds'}>"


def replay_run(run: Run, schedule: str) -> Replay:
    """Replay a schedule of a run. Raise ArgumentError if it is not a schedule of this run."""
    try:
        outcome = _native.replay(*run.arguments(), schedule)
    except ValueError as error:
        raise ArgumentError(str(error)) from None
    lines = tuple(outcome["lines"])
    return Replay(run, schedule, outcome["property"], outcome["what"], lines, outcome["skipped"])


@dataclass(frozen=True)
class RunResult:
    """The result of one run. ``property`` is the violated property, or None, and ``schedule`` leads to the violation.

    ``what`` describes the violation, or says why the run is incomplete.
    """

    run: Run
    states: int
    complete: bool
    seconds: float
    verdict: Verdict
    property: str | None = None
    what: str = ""
    schedule: str = ""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self.run) | {key: value for key, value in asdict(self).items() if key != "run"}

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> RunResult:
        """Return the result from which ``to_dict`` made this row."""
        names = {field.name for field in fields(Run)}
        run = Run(**{key: value for key, value in row.items() if key in names})
        return cls(run, **{key: value for key, value in row.items() if key not in names})

    def replay(self) -> Replay:
        """Replay the schedule of a violation. Raise ArgumentError if there is none."""
        if not self.schedule:
            raise ArgumentError(f"{self.run}: there is no schedule to replay: the verdict is '{self.verdict}'")
        return replay_run(self.run, self.schedule)

    def problem(self) -> str:
        """Describe a violation with its steps, or say why the run is incomplete. Return "" if there is no problem."""
        if self.verdict == "incomplete":
            reason = self.what or f"it reached the limit of {self.states:,} states"
            return f"{self.run}: not complete: {reason}"
        if self.property is None:
            return ""
        head = f"{self.run}: {self.property}: {self.what}"
        replay = f"  replay: {self.run.command(self.schedule)}"
        return "\n".join([head, *numbered(self.replay().lines, indent="  "), replay])


class Results(Tabular, Sequence[Item]):
    """A sequence of results."""

    results: tuple[Item, ...]

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Item, ...]: ...
    def __getitem__(self, index: int | slice) -> Item | tuple[Item, ...]:
        return self.results[index]

    def __len__(self) -> int:
        return len(self.results)


@dataclass(frozen=True, repr=False)
class CheckResults(Results[RunResult]):
    """The results of a check: one for each run. ``seconds`` is the elapsed time, on ``jobs`` threads."""

    results: tuple[RunResult, ...]
    seconds: float
    jobs: int

    @property
    def holds(self) -> bool:
        """Whether every run is complete and violates no property."""
        return all(result.verdict == "holds" for result in self)

    @property
    def violations(self) -> tuple[RunResult, ...]:
        return tuple(result for result in self if result.verdict == "violated")

    @property
    def incomplete(self) -> tuple[RunResult, ...]:
        return tuple(result for result in self if result.verdict == "incomplete")

    @property
    def states(self) -> int:
        return sum(result.states for result in self)

    def coverage(self) -> Coverage:
        return Coverage(self.results)

    def to_dict(self) -> dict[str, Any]:
        return {"runs": [result.to_dict() for result in self], "seconds": self.seconds, "jobs": self.jobs}

    def table(self) -> Table:
        """Return a table with a line for each subject."""
        by_name: dict[str, list[RunResult]] = {}
        for result in self:
            by_name.setdefault(result.run.name, []).append(result)
        header = ["name", "runs", "memory", "threads x episodes", "scenarios", "states", "verdict"]
        rows = [self._row(name, results) for name, results in by_name.items()]
        return Table(header, rows, right=["runs", "states"])

    def _row(self, name: str, results: Sequence[RunResult]) -> list[object]:
        runs = [result.run for result in results]
        verdicts = {result.verdict for result in results}
        return [
            name,
            len(runs),
            "+".join(memory for memory in MEMORIES if any(run.memory == memory for run in runs)),
            " ".join(sorted({run.size for run in runs})),
            " ".join(scenario for scenario in SCENARIOS if any(run.scenario == scenario for run in runs)),
            f"{sum(result.states for result in results):,}",
            next(verdict for verdict in ("violated", "incomplete", "holds") if verdict in verdicts),
        ]

    def totals(self) -> str:
        """Return one line: how many states were explored, and how fast."""
        parts = [f"{counted(len(self), 'run')}, {self.states:,} states in {self.seconds:.1f} s"]
        for memory in MEMORIES:
            results = [result for result in self if result.run.memory == memory]
            busy = sum(result.seconds for result in results) / min(self.jobs, len(results) or 1)
            if busy > 0.01:
                parts.append(f"{memory}: {sum(result.states for result in results) / busy / 1e6:.2f} M states/s")
        return f"{'; '.join(parts)} (on {counted(self.jobs, 'thread')})"

    def problems(self) -> list[str]:
        """Return a description of each violation, and of each incomplete run."""
        return [result.problem() for result in (*self.violations, *self.incomplete)]

    def __str__(self) -> str:
        return "\n\n".join([str(self.table()), self.totals(), *self.problems()])

    def __repr__(self) -> str:
        verdict = "holds" if self.holds else f"{len(self.violations)} violated, {len(self.incomplete)} incomplete"
        return f"<CheckResults: {counted(len(self), 'run')}, {self.states:,} states: {verdict}>"


@dataclass(frozen=True, repr=False)
class MutantResults(Results[RunResult]):
    """For each mutant, the run that kills it, or the last run if it survives."""

    results: tuple[RunResult, ...]
    seconds: float
    jobs: int

    @property
    def survivors(self) -> tuple[RunResult, ...]:
        return tuple(result for result in self if result.verdict == "survived")

    def to_dict(self) -> dict[str, Any]:
        return {"mutants": [result.to_dict() for result in self], "seconds": self.seconds, "jobs": self.jobs}

    def table(self) -> Table:
        bugs = {mutant.name: mutant.what for mutant in mutants()}
        header = ["mutant", "lock", "killed by", "memory", "size", "slots", "states", "the planted bug"]
        rows = []
        for result in self:
            run = result.run
            killer = result.property or "SURVIVED"
            states = f"{result.states:,}"
            rows.append([run.mutant, run.name, killer, run.memory, run.size, run.slots, states, bugs[run.mutant]])
        return Table(header, rows, right=["slots", "states"])

    def __str__(self) -> str:
        killed = len(self) - len(self.survivors)
        return f"{self.table()}\n\n{killed} of {counted(len(self), 'mutant')} killed in {self.seconds:.1f} s"

    def __repr__(self) -> str:
        return f"<MutantResults: {counted(len(self), 'mutant')}, {len(self.survivors)} survived>"


@dataclass(frozen=True)
class LitmusResult:
    """A litmus test under one memory model: whether its outcome is expected, and whether it was found."""

    name: str
    what: str
    memory: Memory
    expected: bool
    found: bool
    states: int
    complete: bool

    @property
    def as_expected(self) -> bool:
        return self.complete and self.found == self.expected

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, repr=False)
class LitmusResults(Results[LitmusResult]):
    """Each litmus test under both memory models."""

    results: tuple[LitmusResult, ...]

    @property
    def as_expected(self) -> bool:
        return all(result.as_expected for result in self)

    def to_dict(self) -> dict[str, Any]:
        return {"tests": [result.to_dict() for result in self]}

    def table(self) -> Table:
        return Table(["litmus test", "sc", "weak", "", "the outcome"], list(self._rows()))

    def _rows(self) -> Iterator[list[str]]:
        for sc, weak in zip(self[::2], self[1::2], strict=True):
            answers = ["reachable" if result.found else "never" for result in (sc, weak)]
            verdict = "as expected" if sc.as_expected and weak.as_expected else "WRONG"
            yield [sc.name, *answers, verdict, sc.what]

    def __repr__(self) -> str:
        wrong = sum(not result.as_expected for result in self)
        return f"<LitmusResults: {counted(len(self), 'result')}, {wrong} wrong>"
