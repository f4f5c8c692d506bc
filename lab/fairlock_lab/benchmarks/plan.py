# SPDX-License-Identifier: Apache-2.0
"""From what was asked for to the points that are measured, and their order.

All points of a run are measured before the next run begins, so that a noisy hour hurts all alike. Within a run those
that are compared with each other (one config, one number of threads) come one after the other, in an order that the
seed shuffles, as it does the comparisons themselves. All samples of a run have one seed: the locks get the same work.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from fairlock.run import preload
from fairlock.usage import UsageError, one_of
from fairlock_lab.benchmarks import programs
from fairlock_lab.benchmarks.families import ELSEWHERE
from fairlock_lab.benchmarks.results import Option, Plan, Point
from fairlock_lab.benchmarks.roster import Roster, Subject
from fairlock_lab.benchmarks.workloads import OPTIONS, Config, Count, Workload


@dataclass(frozen=True)
class Wish:
    """What the command line says; None and empty: as the workload has it."""

    configs: tuple[str, ...] = ()
    locks: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    threads: tuple[int, ...] = ()
    seconds: float | None = None
    runs: int | None = None
    hogs: int | None = None
    references: bool = True
    options: Mapping[str, Option] = field(default_factory=dict)


def points_of(name: str, workload: Workload, wish: Wish, roster: Roster) -> list[Point]:
    """Return what is to be measured of one workload."""
    if workload.threads == (1,) and set(wish.threads) - {1}:
        raise UsageError(f"{name} is about one thread: leave --threads out")
    points = []
    for config_name in chosen_configs(name, workload, wish):
        config = workload.configs[config_name]
        if config.family not in (*roster.families, *ELSEWHERE):
            raise UsageError(f"workload {name}: {why_no_family(config.family, roster)}")
        there = programs.roster(roster) if config.family in programs.FAMILIES else roster
        for policy in wish.waiting:
            if policy not in there.policies:
                raise UsageError(one_of("way of waiting", policy, there.policies))
        options = {**config.options, **wish.options}
        for hogs in workload.hogs if wish.hogs is None else (wish.hogs,):
            seconds = wish.seconds or workload.seconds * (workload.beside_hogs if hogs else 1)
            for threads in wish.threads or counts(config.threads or workload.threads, roster.cpus):
                for lock, waiting, form in subjects(workload, config, wish, there):
                    if lock == workload.control and threads == 1:
                        continue  # alone it breaks nothing
                    if not admits(there, lock, threads, options, insist=lock in wish.locks):
                        continue
                    points.append(
                        Point(name, config_name, lock, waiting, form, threads, hogs, seconds, config.family, options)
                    )
    if not points:
        raise UsageError(f"workload {name}: no lock is left with these --locks, --waiting and --threads")
    return points


def admits(roster: Roster, lock: str, threads: int, options: Mapping[str, Option], *, insist: bool) -> bool:
    """Return whether a lock takes so many threads, and permits; complain if it was asked for by name."""
    subject = roster.subjects.get(lock)
    if subject is None:
        return True
    if subject.max_threads is not None and threads > subject.max_threads:
        complaint = f"{lock} admits at most {subject.max_threads} threads, not {threads}"
    elif options.get("permits", 1) != 1 and not subject.permits:
        complaint = f"{lock} is no semaphore: permits=1 is all that it can have"
    else:
        return True
    if insist:
        raise UsageError(complaint)
    return False


def chosen_configs(name: str, workload: Workload, wish: Wish) -> list[str]:
    for config in wish.configs:
        if config not in workload.configs and config != "all":
            raise UsageError(one_of(f"config of {name}", config, [*workload.configs, "all"]))
    if "all" in wish.configs:
        return list(workload.configs)
    return list(wish.configs) or [config for config, one in workload.configs.items() if one.chosen]


def why_no_family(family: str, roster: Roster) -> str:
    remedy = next((text for key, text in roster.missing.items() if key == family), "build fairlock again: make build")
    return f"this build of fairlock_bench has no '{family}' ({remedy})"


def subjects(
    workload: Workload, config: Config, wish: Wish, roster: Roster
) -> Iterable[tuple[str, str | None, str | None]]:
    """Yield each lock with how it waits and in which form."""
    if config.subject is not None:
        if wish.locks or wish.waiting:
            raise UsageError(f"{config.family} leaves no choice of lock: leave --locks and --waiting out")
        yield config.subject, None, None
        return
    named = [name for one in wish.locks for name in expand(one, workload, roster)]
    default = [name for name in config.locks or workload.locks if name in roster.subjects]
    references = [name for name in workload.references if name in roster.subjects and wish.references]
    control = [workload.control] if workload.control is not None and workload.control in roster.subjects else []
    for name in dict.fromkeys([*(named or default), *references, *control]):
        subject = roster.subjects[name]
        for waiting in policies(subject, workload, wish, insist=name in wish.locks):
            forms: list[str | None] = [form for form in config.forms if form in subject.forms]
            for form in forms or [None]:
                yield name, waiting, form


def expand(name: str, workload: Workload, roster: Roster) -> list[str]:
    if name == "all":  # of the catalogue, of the kind that the workload is about
        kinds = {roster.subjects[lock].kind for lock in workload.locks if lock in roster.subjects}
        return [
            one.name
            for one in roster.subjects.values()
            if one.kind in kinds and "/" not in one.name and "around" not in one.name and one.order is not None
        ]
    if name == preload.GLIBC:
        return [programs.UNREPLACED]
    if name not in roster.subjects:
        library = next((key for key in roster.missing if belongs_to(name, key)), None)
        if library is not None:
            raise UsageError(f"{name} is not in this build: {library} is {roster.missing[library]}")
        raise UsageError(one_of("lock", name, [*roster.subjects, "all"]))
    return [name]


def belongs_to(name: str, library: str) -> bool:
    """Return whether a subject is a lock of this library, as `absl` is of absl, and `tbb-spin` of tbb."""
    return name == library or name.startswith(f"{library}-")


def policies(subject: Subject, workload: Workload, wish: Wish, *, insist: bool) -> Sequence[str | None]:
    if not subject.policies:
        return [None]
    wanted = wish.waiting or workload.waiting
    able = [policy for policy in wanted if policy in subject.policies]
    if not able and insist and wish.waiting:
        raise UsageError(f"{subject.name} cannot wait by {', '.join(wanted)}; it can: {', '.join(subject.policies)}")
    if not able and insist:  # asked for by name: then as it can
        return [subject.policies[0]]
    return able


def counts(threads: Sequence[Count], cpus: int) -> list[int]:
    """Return numbers of threads on a machine of so many processors."""
    found: list[int] = []
    for one in threads:
        if isinstance(one, int):
            found.append(one)
            continue
        least, _, product = one.removeprefix("..").rpartition(" or ")
        factor, _, _ = product.rpartition("*")
        most = max(int(least or 0), int(factor or 1) * cpus)
        if one.startswith(".."):
            found += [2**i for i in range(most.bit_length()) if 2**i < most]
        found.append(most)
    return sorted(set(found))


def option(text: str) -> tuple[str, Option]:
    """Read ``name=value`` of --set."""
    name, equals, value = text.partition("=")
    if name not in OPTIONS:
        raise UsageError(one_of("option", name, OPTIONS))
    kind = OPTIONS[name]
    if kind is bool:
        if value not in ("", "yes", "no") or (equals and not value):
            raise UsageError(f"--set {name}: 'yes' or 'no', not '{value}'")
        return name, value != "no"
    if kind is int:
        if not (value.isascii() and value.isdigit() and len(value) < 11 and int(value) < 2**31):
            raise UsageError(f"--set {name}: a number from 0 to {2**31 - 1}, not '{value}'")
        return name, int(value)
    if kind is str:
        if not value:
            raise UsageError(f"--set {name}: needs a value")
        return name, value
    assert isinstance(kind, tuple)
    if value not in kind:
        raise UsageError(one_of(f"{name}", value, kind))
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
    """Return a plan of points, each with its number of runs."""
    runs = [runs for _, runs in points]
    chosen = [point for point, _ in points]
    return Plan(
        workload=workload,
        seconds=seconds,
        warm_up=warm_up,
        runs=max(runs),
        pin=pin,
        hogs=hogs,
        seed=seed,
        points=chosen,
        order=shuffled(chosen, runs, seed),
    )


def shuffled(points: Sequence[Point], runs: Sequence[int], seed: int) -> list[tuple[int, int]]:
    """Return (point, run) in the order in which they are measured."""
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
    """Return the seed that the samples of a run get."""
    return random.Random(f"sample {seed} {run}").getrandbits(32)
