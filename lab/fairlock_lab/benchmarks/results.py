# SPDX-License-Identifier: Apache-2.0
"""The file of a benchmark: the plan, the machine, and every sample. docs/reference/results.md describes it."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from fairlock.usage import UsageError

FORMAT = "fairlock-results"
VERSION = 1

Option = str | int | float | bool
Metrics = dict[str, Any]


@dataclass(frozen=True)
class Point:
    """One thing that is measured, again in each run."""

    workload: str
    config: str
    lock: str
    waiting: str | None  # no choice: None
    form: str | None  # the same
    threads: int  # 0: a program that has as many as it likes
    hogs: int
    seconds: float
    family: str
    options: Mapping[str, Option] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The lock, with how it waits and the form that is not the usual one."""
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
    seconds: float | None  # None: each point its own
    warm_up: float
    runs: int
    pin: bool
    hogs: int | None  # None: each point its own
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


@dataclass
class Results:
    created: str
    fairlock: str
    command: list[str]
    machine: dict[str, Any]
    plan: Plan
    missing: dict[str, str] = field(default_factory=dict)  # what could not be measured, and the remedy
    subjects: list[dict[str, Any]] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    complete: bool = False

    def left(self) -> list[tuple[int, int]]:
        """What is planned and not yet measured, in order."""
        done = {(sample.point, sample.run) for sample in self.samples}
        return [one for one in self.plan.order if one not in done]


# --- writing ---


def save(results: Results, path: Path) -> None:
    """Write the file, all of it or nothing; one line a point and one a sample."""
    lines = ["{"]
    lines += [f"{json.dumps(key)}: {json.dumps(value)}," for key, value in _head(results).items()]
    lines.append(
        f'"plan": {{{", ".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in _plan_head(results.plan).items())},'
    )
    lines += _rows("points", [asdict(point) for point in results.plan.points], ",")
    lines.append(f'"order": {json.dumps(list(results.plan.order))}}},')
    lines += _rows("subjects", results.subjects, ",")
    lines += _rows("samples", [vars(sample) for sample in results.samples], ",")
    lines += [f'"complete": {json.dumps(results.complete)}', "}", ""]
    write(path, "\n".join(lines))


def write(path: Path, text: str) -> None:
    """Put text in the place of a file at once: whoever reads it sees the old text or the new."""
    path = path.resolve()  # a link stays one
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _head(results: Results) -> dict[str, Any]:
    keys = ("created", "fairlock", "command", "machine", "missing")
    return {"format": FORMAT, "version": VERSION} | {key: getattr(results, key) for key in keys}


def _plan_head(plan: Plan) -> dict[str, Any]:
    return {key: getattr(plan, key) for key in (f.name for f in fields(plan)) if key not in ("points", "order")}


def _rows(key: str, rows: Sequence[Mapping[str, Any]], end: str) -> list[str]:
    inside = [f" {json.dumps(row)}," for row in rows]
    if inside:
        inside[-1] = inside[-1].removesuffix(",")
    return [f'"{key}": [', *inside, f"]{end}"]


# --- reading ---


def load(path: Path) -> Results:
    """Read a file, or say in one line why it cannot be used."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is no results file of `fairlock bench`: it is not JSON ({error})") from error
    if not isinstance(raw, dict) or raw.get("format") != FORMAT:
        raise UsageError(f'{path} is no results file of `fairlock bench`: it has no "format": "{FORMAT}"')
    version = raw.get("version")
    if version != VERSION:
        newer = isinstance(version, int) and version > VERSION
        remedy = "update fairlock" if newer else "measure again with `fairlock bench`"
        raise UsageError(f"{path} has version {version} of the format, this fairlock reads version {VERSION}: {remedy}")
    try:
        return _results(raw)
    except _DamageError as damage:
        raise UsageError(f"{path} is damaged: {damage}") from damage


class _DamageError(Exception):
    """What is wrong in a file."""


NUMBER = (int, float)


def _get(raw: Mapping[str, Any], key: str, kind: type | tuple[type, ...], where: str) -> Any:
    if key not in raw:
        raise _DamageError(f"{where} has no '{key}'")
    value = raw[key]
    kinds = kind if isinstance(kind, tuple) else (kind,)
    if not isinstance(value, kind) or (isinstance(value, bool) and bool not in kinds):
        raise _DamageError(f"'{key}' of {where} is {json.dumps(value)[:40]}")
    return value


def _objects(raw: Mapping[str, Any], key: str, where: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = _get(raw, key, list, where)
    if not all(isinstance(row, dict) for row in rows):
        raise _DamageError(f"'{key}' of {where} has something that is no object")
    return rows


def _results(raw: Mapping[str, Any]) -> Results:
    where = "the file"
    plan = _plan(_get(raw, "plan", dict, where))
    known = set(plan.order)
    samples = [_sample(row, f"sample {i}", known) for i, row in enumerate(_objects(raw, "samples", where))]
    return Results(
        created=_get(raw, "created", str, where),
        fairlock=_get(raw, "fairlock", str, where),
        command=[str(word) for word in _get(raw, "command", list, where)],
        machine=_machine(_get(raw, "machine", dict, where)),
        missing=_get(raw, "missing", dict, where),
        plan=plan,
        subjects=_objects(raw, "subjects", where),
        samples=samples,
        complete=_get(raw, "complete", bool, where),
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
        points=points,
        order=order,
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
        options=_get(raw, "options", dict, where),
    )


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
        raise _DamageError(f"{where} is of point {sample.point} and run {sample.run}, which the plan does not have")
    return sample


def _metrics(raw: Metrics, where: str) -> Metrics:
    """Check what has a form; a number that is none is as good as not there."""
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
