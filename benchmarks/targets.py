"""What the locks are to reach, and whether they do."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from figures import Figure, Subject, Subjects, figure_of, ratio_of

PARKING = "spin-then-park"

# uncontended: lock -> (reference, at most this many times as long)
UNCONTENDED = {
    "ticket": ("ck-ticket", 1.1),
    "mcs": ("ck-mcs", 1.1),
    "anderson": ("ck-anderson", 1.1),
    "clh": ("ck-clh", 1.5),
    "twa": ("pthread-mutex", 1.1),
    "hapax": ("pthread-mutex", 1.0),
    "hapax-vw": ("pthread-mutex", 1.0),
}
# contending: every FIFO lock -> (reference, at least this many times as fast)
CONTENDED = ("ck-ticket", 1.0)
# every semaphore: alone at most this many times as long, contending at least so many times as fast
SEMAPHORE = "sem_t"
SEMAPHORE_ALONE, SEMAPHORE_CONTENDING = 0.75, 1.0

# oversubscribed, on an idle machine and beside hogs
IDLE, BESIDE_HOGS = 0, 1
FIFO_REFERENCE, FIFO_RATE = "pthread-mutex-pi", (1.2, 1.0)
FAIR_REFERENCE, FAIR_RATE, FAIR_FAIRNESS, FAIR_WAIT = "pthread-mutex", (1.2, 1.0), (0.9, 0.85), 1.0
TAMED, WILD = "capacitor-lifo", "lifo"
TAMED_FAIRNESS, WILD_FAIRNESS = 0.9, 0.2


@dataclass(frozen=True)
class Target:
    lock: str
    case: str
    what: str  # the figure is a number of these
    bound: float
    at_most: bool
    figure: Figure | None
    absent: str = "not measured"  # why there is no figure

    def verdict(self) -> str:
        if self.figure is None:
            return self.absent
        met = self.figure.median <= self.bound if self.at_most else self.figure.median >= self.bound
        return "pass" if met else "miss"

    def in_doubt(self) -> bool:
        return self.figure is not None and self.figure.low <= self.bound <= self.figure.high


def all_targets(raw: dict[str, Any]) -> list[Target]:
    found: list[Target] = []
    for part, targets in (
        ("uncontended", uncontended),
        ("contended", contended),
        ("semaphores", semaphores),
    ):
        if part in raw:
            found += targets(raw[part], Subjects(raw[part]["subjects"]))
    if "oversubscribed" in raw:
        found += oversubscribed(raw)
    return found


def uncontended(_: dict[str, Any], subjects: Subjects) -> Iterator[Target]:
    for lock in subjects.own:
        if lock["name"] in UNCONTENDED and lock["policy"] == "spin":
            other, bound = UNCONTENDED[lock["name"]]
            ratio = ratio_of(lock, subjects.reference(other), "uncontended_ns")
            yield Target(subjects.label(lock), "uncontended", f"x {other}", bound, True, ratio)


def contended(part: dict[str, Any], subjects: Subjects) -> Iterator[Target]:
    other, bound = CONTENDED
    for lock in subjects.own:
        if lock["order"] == "fifo" and lock["policy"] == "spin" and part["threads"] == 2:
            ratio = ratio_of(lock, subjects.reference(other), "pairs_per_second")
            yield Target(subjects.label(lock), "contending", f"x {other}", bound, False, ratio)


def semaphores(part: dict[str, Any], subjects: Subjects) -> Iterator[Target]:
    reference = subjects.reference(SEMAPHORE)
    what = f"x {SEMAPHORE}"
    for one in subjects.own:
        ratio = ratio_of(one, reference, "uncontended_ns")
        yield Target(subjects.label(one), "uncontended", what, SEMAPHORE_ALONE, True, ratio)
    for one in subjects.own:
        if part["threads"] == 2:
            ratio = ratio_of(one, reference, "pairs_per_second")
            yield Target(subjects.label(one), "contending", what, SEMAPHORE_CONTENDING, False, ratio)


def oversubscribed(raw: dict[str, Any]) -> Iterator[Target]:
    if PARKING not in raw["policies"]:
        yield absent("FIFO", PARKING)
    for name in ("fair", TAMED):
        if name not in raw["catalogue"]:
            yield absent(name, "oversubscribed")
    for case in raw["oversubscribed"]["cases"]:
        subjects = Subjects(case["subjects"])
        where = f"{case['threads']} threads" + (", hogs" if case["hogs"] else "")
        place = BESIDE_HOGS if case["hogs"] else IDLE
        for lock in subjects.own:
            label = subjects.label(lock)
            if lock["name"] in (TAMED, WILD) and not case["hogs"]:
                yield from lifo(label, where, lock)
            elif lock["name"] == "fair" and lock["policy"] == PARKING:
                yield from fair(label, where, place, lock, subjects)
            elif lock["order"] == "fifo" and lock["policy"] == PARKING:
                ratio = ratio_of(lock, subjects.reference(FIFO_REFERENCE), "pairs_per_second")
                yield Target(label, where, f"x {FIFO_REFERENCE}", FIFO_RATE[place], False, ratio)


def fair(label: str, where: str, place: int, lock: Subject, subjects: Subjects) -> Iterator[Target]:
    reference = subjects.reference(FAIR_REFERENCE)
    ratio = ratio_of(lock, reference, "pairs_per_second")
    yield Target(label, where, f"x {FAIR_REFERENCE}", FAIR_RATE[place], False, ratio)
    fairness = figure_of(lock, "slowest_to_fastest")
    yield Target(label, where, "slowest/fastest", FAIR_FAIRNESS[place], False, fairness)
    wait = ratio_of(lock, reference, "longest_wait")
    yield Target(label, where, f"x the longest wait of {FAIR_REFERENCE}", FAIR_WAIT, True, wait)


def lifo(label: str, where: str, lock: Subject) -> Iterator[Target]:
    fairness = figure_of(lock, "slowest_to_fastest")
    tamed = lock["name"] == TAMED
    yield Target(label, where, "slowest/fastest", TAMED_FAIRNESS if tamed else WILD_FAIRNESS, not tamed, fairness)


def absent(name: str, case: str) -> Target:
    return Target(name, case, "", 0, False, None, "not in this build")


def print_targets(targets: list[Target]) -> None:
    if not targets:
        return
    print("\nTargets (the figure, and between which two values half of the rounds lie)\n")
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    colours = {"pass": "\033[32m", "miss": "\033[31m"}
    name = max(len(target.lock) for target in targets)
    case = max(len(target.case) for target in targets)
    for target in targets:
        verdict = target.verdict()
        mark = verdict if verdict in colours else "-   "
        if colour and verdict in colours:
            mark = f"{colours[verdict]}{mark}\033[0m"
        line = f"{mark}  {target.lock:{name}}  {target.case:{case}}  "
        if target.figure is not None:
            figure = target.figure
            line += f"{figure.median:5.2f} ({figure.low:.2f} to {figure.high:.2f}) "
        line += f"{target.what}, {'at most' if target.at_most else 'at least'} {target.bound:g}" if target.what else ""
        if target.figure is None:
            line += f": {verdict}" if target.what else verdict
        print(line + (": within the noise" if target.in_doubt() else ""))
    met = sum(target.verdict() == "pass" for target in targets)
    missed = sum(target.verdict() == "miss" for target in targets)
    unmeasured = len(targets) - met - missed
    print(f"\n{met} met, {missed} missed" + (f", {unmeasured} not measured" if unmeasured else ""))
