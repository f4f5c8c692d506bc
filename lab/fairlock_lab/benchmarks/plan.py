# SPDX-License-Identifier: Apache-2.0
"""Plans: the points that a selection measures, and their order.

All points of a run are measured before the next run begins, so a noisy hour affects all points alike. Within a
run, points that are compared with each other (one config, one number of threads) follow one another. The seed shuffles
their order, and the order of the comparisons. All samples of a run share a seed, so the locks get the same work.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from fairlock.run import preload
from fairlock.usage import one_of
from fairlock_lab.benchmarks import programs
from fairlock_lab.benchmarks.families import FAMILY_MODULES
from fairlock_lab.benchmarks.results import Option, Plan, Point
from fairlock_lab.benchmarks.roster import Roster, Subject
from fairlock_lab.benchmarks.workload_types import OPTIONS, Config, Count, Workload
from fairlock_lab.errors import ArgumentError


@dataclass(frozen=True)
class Selection:
    """The part of a workload that is measured. None and empty select the workload's default."""

    configs: tuple[str, ...] = ()
    locks: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    threads: tuple[int, ...] = ()
    seconds: float | None = None
    runs: int | None = None
    hogs: int | None = None
    references: bool = True
    options: Mapping[str, Option] = field(default_factory=dict)


def points_of(name: str, workload: Workload, selection: Selection, roster: Roster) -> list[Point]:
    """Return the points of one workload."""
    if workload.threads == (1,) and set(selection.threads) - {1}:
        raise ArgumentError(f"{name} measures one thread: leave --threads out")
    points = []
    for config_name in chosen_configs(name, workload, selection):
        config = workload.configs[config_name]
        if config.family not in (*roster.families, *FAMILY_MODULES):
            raise ArgumentError(f"workload {name}: {why_no_family(config.family, roster)}")
        available = programs.roster(roster) if config.family in programs.FAMILIES else roster
        for policy in selection.waiting:
            if policy not in available.policies:
                raise ArgumentError(one_of("waiting policy", policy, available.policies))
        options = {**config.options, **selection.options}
        for hogs in workload.hogs if selection.hogs is None else (selection.hogs,):
            seconds = selection.seconds or workload.seconds * (workload.beside_hogs if hogs else 1)
            for threads in selection.threads or counts(config.threads or workload.threads, roster.cpus):
                for lock, waiting, form in subjects(workload, config, selection, available):
                    if lock == workload.control and threads == 1:
                        continue  # a single thread cannot breach exclusion
                    if not admits(available, lock, threads, options, insist=lock in selection.locks):
                        continue
                    points.append(
                        Point(name, config_name, lock, waiting, form, threads, hogs, seconds, config.family, options)
                    )
    if not points:
        raise ArgumentError(f"workload {name}: no lock is left with these --locks, --waiting and --threads")
    return points


def admits(roster: Roster, lock: str, threads: int, options: Mapping[str, Option], *, insist: bool) -> bool:
    """Return whether a lock admits this many threads and permits. With ``insist``, raise ArgumentError if not."""
    subject = roster.subjects.get(lock)
    if subject is None:
        return True
    if subject.max_threads is not None and threads > subject.max_threads:
        complaint = f"{lock} admits at most {subject.max_threads} threads, not {threads}"
    elif options.get("permits", 1) != 1 and not subject.permits:
        complaint = f"{lock} is not a semaphore: it has one permit, not {options['permits']}"
    else:
        return True
    if insist:
        raise ArgumentError(complaint)
    return False


def chosen_configs(name: str, workload: Workload, selection: Selection) -> list[str]:
    for chosen in selection.configs:
        if chosen not in workload.configs and chosen != "all":
            raise ArgumentError(one_of(f"config of {name}", chosen, [*workload.configs, "all"]))
    if "all" in selection.configs:
        return list(workload.configs)
    return list(selection.configs) or [name for name, config in workload.configs.items() if config.default]


def why_no_family(family: str, roster: Roster) -> str:
    remedy = next((text for key, text in roster.missing.items() if key == family), "build fairlock again: make build")
    return f"this build of fairlock_bench has no '{family}' ({remedy})"


def subjects(
    workload: Workload, config: Config, selection: Selection, roster: Roster
) -> Iterable[tuple[str, str | None, str | None]]:
    """Yield each lock with its waiting policy and its form."""
    if config.subject is not None:
        if selection.locks or selection.waiting:
            raise ArgumentError(f"{config.family} has no choice of lock: leave --locks and --waiting out")
        yield config.subject, None, None
        return
    named = [lock for name in selection.locks for lock in expand(name, workload, roster)]
    default = [name for name in config.locks or workload.locks if name in roster.subjects]
    references = [name for name in workload.references if name in roster.subjects and selection.references]
    control = [workload.control] if workload.control is not None and workload.control in roster.subjects else []
    for name in dict.fromkeys([*(named or default), *references, *control]):
        subject = roster.subjects[name]
        for waiting in policies(subject, workload, selection, insist=name in selection.locks):
            forms: list[str | None] = [form for form in config.forms if form in subject.forms]
            for form in forms or [None]:
                yield name, waiting, form


def expand(name: str, workload: Workload, roster: Roster) -> list[str]:
    """Return the locks that a name of ``--locks`` stands for."""
    if name == "all":  # every lock of the catalogue, or every semaphore, as the workload uses
        kinds = {roster.subjects[lock].kind for lock in workload.locks if lock in roster.subjects}
        return [
            subject.name
            for subject in roster.subjects.values()
            if subject.kind in kinds
            and "/" not in subject.name
            and "around" not in subject.name
            and subject.order is not None
        ]
    if name == preload.GLIBC:
        return [programs.UNREPLACED]
    if name not in roster.subjects:
        library = next((key for key in roster.missing if belongs_to(name, key)), None)
        if library is not None:
            raise ArgumentError(f"{name} is not in this build: {library} is {roster.missing[library]}")
        raise ArgumentError(one_of("lock", name, [*roster.subjects, "all"]))
    return [name]


def belongs_to(name: str, library: str) -> bool:
    """Return whether a lock belongs to this library, as `absl` does to absl, and `tbb-spin` to tbb."""
    return name == library or name.startswith(f"{library}-")


def policies(subject: Subject, workload: Workload, selection: Selection, *, insist: bool) -> Sequence[str | None]:
    if not subject.policies:
        return [None]
    wanted = selection.waiting or workload.waiting
    supported = [policy for policy in wanted if policy in subject.policies]
    if not supported and insist and selection.waiting:
        raise ArgumentError(
            f"{subject.name} has no waiting policy {', '.join(wanted)}; choose from: {', '.join(subject.policies)}"
        )
    if not supported and insist:  # the user named the lock, but no policy: take one that the lock has
        return [subject.policies[0]]
    return supported


def counts(threads: Sequence[Count], cpus: int) -> list[int]:
    """Return the numbers of threads on a machine with this many processors."""
    numbers: set[int] = set()
    for count in threads:
        if isinstance(count, int):
            numbers.add(count)
            continue
        least, _, product = count.removeprefix("..").rpartition(" or ")
        factor, _, _ = product.rpartition("*")
        most = max(int(least or 0), int(factor or 1) * cpus)
        if count.startswith(".."):
            numbers.update(2**i for i in range(most.bit_length()) if 2**i < most)
        numbers.add(most)
    return sorted(numbers)


def option(text: str) -> tuple[str, Option]:
    """Parse the ``NAME=VALUE`` of ``--set``."""
    name, equals, value = text.partition("=")
    if name not in OPTIONS:
        raise ArgumentError(one_of("option", name, OPTIONS))
    kind = OPTIONS[name]
    if kind is bool:
        if value not in ("", "yes", "no") or (equals and not value):
            raise ArgumentError(f"option {name}: choose 'yes' or 'no', not '{value}'")
        return name, value != "no"
    if kind is int:
        if not (value.isascii() and value.isdigit() and len(value) < 11 and int(value) < 2**31):
            raise ArgumentError(f"option {name}: choose a number from 0 to {2**31 - 1}, not '{value}'")
        return name, int(value)
    if kind is str:
        if not value:
            raise ArgumentError(f"option {name}: the value is missing")
        return name, value
    assert isinstance(kind, tuple)
    if value not in kind:
        raise ArgumentError(one_of(name, value, kind))
    return name, value


# --- the order ---


def make(
    workload: str,
    points: Sequence[tuple[Point, int]],
    *,
    seed: int,
    warm_up: float,
    seconds: float | None = None,
    hogs: int | None = None,
    pin: bool = False,
) -> Plan:
    """Return a plan with these points, each with its number of runs."""
    runs = [runs for _, runs in points]
    chosen = tuple(point for point, _ in points)
    return Plan(
        workload=workload,
        seconds=seconds,
        warm_up=warm_up,
        runs=max(runs),
        pin=pin,
        hogs=hogs,
        seed=seed,
        points=chosen,
        order=tuple(shuffled(chosen, runs, seed)),
    )


def shuffled(points: Sequence[Point], runs: Sequence[int], seed: int) -> list[tuple[int, int]]:
    """Return (point, run) pairs, in the order in which they are measured."""
    groups: dict[object, list[int]] = {}
    for i, point in enumerate(points):
        key = (point.workload, point.config, point.threads, point.hogs, tuple(point.options.items()))
        groups.setdefault(key, []).append(i)
    order = []
    for run in range(max(runs)):
        dice = random.Random(f"order {seed} {run}")
        for group in dice.sample(list(groups.values()), len(groups)):
            order += [(i, run) for i in dice.sample(group, len(group)) if run < runs[i]]
    return order


def seed_of(seed: int, run: int) -> int:
    """Return the seed that all samples of a run share."""
    return random.Random(f"sample {seed} {run}").getrandbits(32)
