# SPDX-License-Identifier: Apache-2.0
"""The results of a benchmark, and their file, which docs/reference/results.md describes."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from fairlock_lab.benchmarks import output_files
from fairlock_lab.errors import ArgumentError

FORMAT = "fairlock-results"
VERSION = 1

Option = str | int | float | bool
Metrics = dict[str, Any]


@dataclass(frozen=True)
class Point:
    """One combination to measure. Each run measures it again."""

    workload: str
    config: str
    lock: str
    waiting: str | None  # the waiting policy; None: the lock has no choice
    form: str | None  # None: the lock has no choice
    threads: int  # 0: a program that decides for itself
    hogs: int
    seconds: float
    family: str
    options: Mapping[str, Option] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The lock, with its waiting policy, and with its form if that is not the usual one."""
        details = [
            *([self.waiting] if self.waiting else []),
            *([self.form] if self.form not in (None, "guard") else []),
        ]
        return f"{self.lock} ({', '.join(details)})" if details else self.lock

    def __str__(self) -> str:
        beside = f" beside {self.hogs} hogs" if self.hogs else ""
        plural = "" if self.threads == 1 else "s"
        threads = f", {self.threads} thread{plural}" if self.threads else ""
        return f"{self.workload} {self.config}: {self.label}{threads}{beside}"


@dataclass(frozen=True)
class Plan:
    workload: str
    seconds: float | None  # None: each point has its own
    warm_up: float
    runs: int
    pin: bool
    hogs: int | None  # None: each point has its own
    seed: int
    points: Sequence[Point]
    order: Sequence[tuple[int, int]]  # (index of the point, run)


@dataclass(frozen=True)
class Sample:
    point: int
    run: int
    seed: int
    at: float  # seconds since the start
    oversubscribed: bool  # more threads than processors
    metrics: Metrics


@dataclass(frozen=True, repr=False)
class BenchResults:
    """A plan, the machine, and the samples so far. ``str()`` gives the tables that ``fairlock bench`` prints."""

    created: str
    fairlock: str
    command: Sequence[str]
    machine: Mapping[str, Any]
    plan: Plan
    missing: Mapping[str, str] = field(default_factory=dict)  # what could not be measured, and the remedy
    subjects: Sequence[Mapping[str, Any]] = ()
    samples: Sequence[Sample] = ()

    def __repr__(self) -> str:
        return f"<BenchResults of {self.plan.workload}: {len(self.samples)} of {len(self.plan.order)} samples>"

    @property
    def remaining(self) -> list[tuple[int, int]]:
        """The (point, run) pairs of the plan that have no sample yet, in order."""
        measured = {(sample.point, sample.run) for sample in self.samples}
        return [pair for pair in self.plan.order if pair not in measured]

    @property
    def complete(self) -> bool:
        """Whether every sample of the plan is there."""
        return not self.remaining

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the results file."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "created": self.created,
            "fairlock": self.fairlock,
            "command": list(self.command),
            "machine": dict(self.machine),
            "missing": dict(self.missing),
            "plan": {
                **{key: getattr(self.plan, key) for key in PLAN_KEYS},
                "points": [asdict(point) for point in self.plan.points],
                "order": [list(pair) for pair in self.plan.order],
            },
            "subjects": [dict(subject) for subject in self.subjects],
            "samples": [dict(vars(sample)) for sample in self.samples],
            "complete": self.complete,
        }

    def __str__(self) -> str:
        from fairlock_lab.reports import overview  # imported here, because overview imports this module

        return overview.text(self)

    def _repr_html_(self) -> str:
        """Return the same tables for a notebook."""
        from fairlock_lab.reports import overview

        return overview.html(self)


PLAN_KEYS = tuple(f.name for f in fields(Plan) if f.name not in ("points", "order"))


# --- writing ---


def save(results: BenchResults, path: Path) -> None:
    """Write the file atomically, with a line for each point and each sample."""
    content = results.to_dict()
    plan = content["plan"]
    lines = ["{"]
    for key, value in content.items():
        if key == "plan":
            lines.append('"plan": {' + " ".join(f"{_line(name, plan[name])}," for name in PLAN_KEYS))
            lines += _rows("points", plan["points"])
            lines.append(f"{_line('order', plan['order'])}}},")
        elif key in ("subjects", "samples"):
            lines += _rows(key, value)
        else:
            lines.append(_line(key, value) + ("" if key == "complete" else ","))
    output_files.write(path, "\n".join([*lines, "}", ""]))


def _line(key: str, value: object) -> str:
    return f"{json.dumps(key)}: {json.dumps(value)}"


def _rows(key: str, rows: Sequence[object]) -> list[str]:
    last = len(rows) - 1
    return [f'"{key}": [', *(f" {json.dumps(row)}{',' if i < last else ''}" for i, row in enumerate(rows)), "],"]


# --- reading ---


def load(path: Path) -> BenchResults:
    """Read a results file. Raise ArgumentError, with the reason in one line, if the file is not usable."""
    if path.is_char_device():  # /dev/zero has no end
        raise ArgumentError(f"{path} is not a results file of `fairlock bench`: it is a device")
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ArgumentError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ArgumentError(f"{path} is not a results file of `fairlock bench`: it is not JSON ({error})") from error
    if not isinstance(raw, dict) or raw.get("format") != FORMAT:
        raise ArgumentError(f'{path} is not a results file of `fairlock bench`: it has no "format": "{FORMAT}"')
    version = raw.get("version")
    if version != VERSION:
        newer = isinstance(version, int) and version > VERSION
        remedy = "update fairlock" if newer else "measure again with `fairlock bench`"
        raise ArgumentError(
            f"{path} has version {version} of the format; this fairlock reads version {VERSION}: {remedy}"
        )
    try:
        return _results(raw)
    except _DamageError as damage:
        raise ArgumentError(f"{path} is damaged: {damage}") from damage


class _DamageError(Exception):
    """The reason why a file is damaged."""


NUMBER = (int, float)
LARGEST = 1e9  # what a number of a plan or sample may be: seconds, shares and nanoseconds of an episode


def _get(raw: Mapping[str, Any], key: str, kind: type | tuple[type, ...], where: str) -> Any:
    if key not in raw:
        raise _DamageError(f"{where} has no '{key}'")
    value = raw[key]
    kinds = kind if isinstance(kind, tuple) else (kind,)
    if not isinstance(value, kind) or (isinstance(value, bool) and bool not in kinds):
        raise _DamageError(f"'{key}' of {where} is {json.dumps(value)[:40]}")
    if float in kinds and isinstance(value, NUMBER) and not abs(value) <= LARGEST:
        raise _DamageError(f"'{key}' of {where} is {json.dumps(value)[:40]}")
    return value


def _objects(raw: Mapping[str, Any], key: str, where: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = _get(raw, key, list, where)
    if not all(isinstance(row, dict) for row in rows):
        raise _DamageError(f"'{key}' of {where} has an element that is not an object")
    return rows


def _results(raw: Mapping[str, Any]) -> BenchResults:
    where = "the file"
    plan = _plan(_get(raw, "plan", dict, where))
    known = set(plan.order)
    samples = [_sample(row, f"sample {i}", known) for i, row in enumerate(_objects(raw, "samples", where))]
    _get(raw, "complete", bool, where)
    return BenchResults(
        created=_get(raw, "created", str, where),
        fairlock=_get(raw, "fairlock", str, where),
        command=[str(word) for word in _get(raw, "command", list, where)],
        machine=_machine(_get(raw, "machine", dict, where)),
        missing=_get(raw, "missing", dict, where),
        plan=plan,
        subjects=_objects(raw, "subjects", where),
        samples=tuple(samples),
    )


def _machine(raw: dict[str, Any]) -> dict[str, Any]:
    if _get(raw, "cpus", int, "the machine") < 1:
        raise _DamageError(f"'cpus' of the machine is {raw['cpus']}")
    return raw


def _plan(raw: Mapping[str, Any]) -> Plan:
    where = "the plan"
    points = [_point(row, f"point {i}") for i, row in enumerate(_objects(raw, "points", where))]
    order = []
    for pair in _get(raw, "order", list, where):
        match pair:
            case [int(point), int(run)] if 0 <= point < len(points):
                order.append((point, run))
            case _:
                raise _DamageError(f"'order' of {where} has {json.dumps(pair)[:40]}")
    return Plan(
        workload=_get(raw, "workload", str, where),
        seconds=_get(raw, "seconds", (*NUMBER, type(None)), where),
        warm_up=_get(raw, "warm_up", NUMBER, where),
        runs=_get(raw, "runs", int, where),
        pin=_get(raw, "pin", bool, where),
        hogs=_get(raw, "hogs", (int, type(None)), where),
        seed=_get(raw, "seed", int, where),
        points=tuple(points),
        order=tuple(order),
    )


def _point(raw: Mapping[str, Any], where: str) -> Point:
    optional = (str, type(None))
    return Point(
        workload=_get(raw, "workload", str, where),
        config=_get(raw, "config", str, where),
        lock=_get(raw, "lock", str, where),
        waiting=_get(raw, "waiting", optional, where),
        form=_get(raw, "form", optional, where),
        threads=_get(raw, "threads", int, where),
        hogs=_get(raw, "hogs", int, where),
        seconds=_get(raw, "seconds", NUMBER, where),
        family=_get(raw, "family", str, where),
        options=_options(_get(raw, "options", dict, where), where),
    )


def _options(raw: dict[str, Any], where: str) -> dict[str, Option]:
    for name, value in raw.items():
        if not isinstance(value, Option):
            raise _DamageError(f"option '{name}' of {where} is {json.dumps(value)[:40]}")
    return raw


def _sample(raw: Mapping[str, Any], where: str, known: set[tuple[int, int]]) -> Sample:
    sample = Sample(
        point=_get(raw, "point", int, where),
        run=_get(raw, "run", int, where),
        seed=_get(raw, "seed", int, where),
        at=_get(raw, "at", NUMBER, where),
        oversubscribed=_get(raw, "oversubscribed", bool, where),
        metrics=_metrics(_get(raw, "metrics", dict, where), f"the metrics of {where}"),
    )
    if (sample.point, sample.run) not in known:
        raise _DamageError(f"{where} is of point {sample.point} and run {sample.run}, which the plan lacks")
    return sample


def _metrics(raw: Metrics, where: str) -> Metrics:
    """Check the metrics that have a structure. Any other metric that is not a number counts as missing."""
    if raw.get("other_work") is not None:
        _get(raw, "other_work", NUMBER, where)
    if raw.get("counts") is not None:
        _numbers(raw, "counts", where)
    for key in ("waits", "handover"):
        if raw.get(key) is not None:
            histogram, inside = _get(raw, key, dict, where), f"'{key}' of {where}"
            edges, counts = (_numbers(histogram, name, inside) for name in ("edges_ns", "counts"))
            if len(edges) != len(counts) + 1:
                raise _DamageError(f"{inside} has {len(edges)} edges and {len(counts)} counts")
    for row in _objects(raw, "rows", where) if "rows" in raw else ():
        _get(row, "lock", str, f"a row of {where}")
        for key in ("loop_ns", "hand_ns"):
            _get(row, key, NUMBER, f"a row of {where}")
    return raw


def _numbers(raw: Mapping[str, Any], key: str, where: str) -> list[float]:
    values: list[float] = _get(raw, key, list, where)
    for value in values:
        if not isinstance(value, NUMBER) or isinstance(value, bool) or not 0 <= value < math.inf:
            raise _DamageError(f"'{key}' of {where} has {json.dumps(value)[:40]}")
    return values
