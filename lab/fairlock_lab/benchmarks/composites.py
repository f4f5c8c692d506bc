# SPDX-License-Identifier: Apache-2.0
"""Composites: parts of several workloads that answer one question together, ``short`` and ``targets``."""

from __future__ import annotations

from dataclasses import dataclass

from fairlock_lab.benchmarks.lock_sets import FIFO_LOCKS, NO_LOCK, SEMAPHORES, TICKETS_AND_MCS
from fairlock_lab.benchmarks.plan import Selection, points_of
from fairlock_lab.benchmarks.results import Point
from fairlock_lab.benchmarks.roster import Roster
from fairlock_lab.benchmarks.workloads import WORKLOADS
from fairlock_lab.errors import ArgumentError


@dataclass(frozen=True)
class Piece:
    """A part of a workload: one config, and these locks and references."""

    workload: str
    config: str
    locks: tuple[str, ...]
    threads: tuple[int, ...]  # empty: the config's
    seconds: float
    runs: int
    hogs: int = 0
    waiting: tuple[str, ...] = ()  # the waiting policies; empty: the workload's


@dataclass(frozen=True)
class Composite:
    title: str
    pieces: tuple[Piece, ...]
    warm_up: float = 0.1
    folder: str | None = None  # for the results and the page, unless the user names files


# --- short ---

CROWD_LOCKS = ("fair", "twa", "hapax", "mcs", "pthread-mutex", "pthread-mutex-pi", "absl", "nsync")
UNCONTENDED_LOCKS = (*CROWD_LOCKS, "ck-ticket", "ck-mcs")  # waiters of these two only spin: too slow in a crowd
TABLE_LOCKS = (*UNCONTENDED_LOCKS, NO_LOCK)
FIGURE_LOCKS = ("twa", "hapax", "hapax-vw", "mcs")  # the locks that a figure of the papers compares
CAPACITOR_PAIRS = ("ticket", "capacitor-ticket", "tts", "capacitor-tts")

SHORT = Composite(
    "which lock should I use here? Parts of the workloads below, in two to three minutes",
    (
        Piece("uncontended", "uncontended", UNCONTENDED_LOCKS, (1,), 0.05, 5),
        Piece("outside", "pair-100-100", TABLE_LOCKS, (), 0.15, 5),
        Piece("outside", "crowd-20-1000", (*CROWD_LOCKS, NO_LOCK), (), 0.5, 3),
        Piece("mutex", "twa", TICKETS_AND_MCS, (1, 2), 0.25, 7),
        Piece("mutex", "capacitor", CAPACITOR_PAIRS, (1,), 0.2, 5),
        Piece("mutex", "maximum", FIGURE_LOCKS, (2,), 0.15, 5),
        Piece("oversubscribed", "oversubscribed", CROWD_LOCKS, (32,), 1.25, 2),
        Piece("oversubscribed", "oversubscribed", CROWD_LOCKS, (32,), 2.0, 1, hogs=2),
    ),
    folder="build/bench",
)

# --- targets ---

CK_COUNTERPARTS = ("ck-ticket", "ck-mcs", "ck-anderson", "ck-clh")
AS_SEM_T = ("spin-then-park",)  # like sem_t, whose waiters sleep
CROWD = ("fair", *FIFO_LOCKS, *SEMAPHORES, "pthread-mutex", "pthread-mutex-pi", "sem_t")

TARGETS = Composite(
    "the performance targets of the project, and whether they are met",
    (
        Piece(
            "uncontended",
            "uncontended",
            (
                *("ticket", "mcs", "anderson", "clh", "twa", "hapax", "hapax-vw"),
                *(*CK_COUNTERPARTS, "pthread-mutex"),
            ),
            (1,),
            0.1,
            11,
        ),
        Piece("uncontended", "uncontended", (*SEMAPHORES, "sem_t"), (1,), 0.1, 11, waiting=AS_SEM_T),
        Piece("mutex", "maximum", (*FIFO_LOCKS, "ck-ticket"), (2,), 0.25, 9),
        Piece("semaphore", "semabench", (*SEMAPHORES, "sem_t"), (2,), 0.25, 9, waiting=AS_SEM_T),
        Piece("oversubscribed", "oversubscribed", (*CROWD, "lifo", "capacitor-lifo"), (32,), 1.25, 3),
        Piece("oversubscribed", "oversubscribed", CROWD, (32,), 2.5, 5, hogs=2),
        Piece("oversubscribed", "oversubscribed", ("lifo", "capacitor-lifo/platoon-8"), (8,), 1.25, 3),
        Piece("overhead", "overhead", (), (1,), 1.0, 5),
    ),
)

COMPOSITES: dict[str, Composite] = {"short": SHORT, "targets": TARGETS}


def points(composite: Composite, selection: Selection, roster: Roster) -> list[tuple[Point, int]]:
    """Return the points of all pieces, each with its runs; a selection may change locks, seconds and runs."""
    chosen_points: list[tuple[Point, int]] = []
    for lock in selection.locks:
        if not any(lock in piece.locks for piece in composite.pieces):
            known = dict.fromkeys(lock for piece in composite.pieces for lock in piece.locks)
            raise ArgumentError(f"this workload does not measure {lock}; choose from: {', '.join(known)}")
    for piece in composite.pieces:
        chosen = tuple(lock for lock in piece.locks if lock in roster.subjects and is_wanted(lock, selection, roster))
        if piece.locks and not chosen:
            continue
        inner = Selection(
            configs=(piece.config,),
            locks=chosen,
            threads=piece.threads,
            seconds=selection.seconds or piece.seconds,
            hogs=piece.hogs,
            waiting=piece.waiting,
            references=False,
        )
        runs = selection.runs or piece.runs
        chosen_points += [
            (point, runs) for point in points_of(piece.workload, WORKLOADS[piece.workload], inner, roster)
        ]
    return chosen_points


def is_wanted(lock: str, selection: Selection, roster: Roster) -> bool:
    return (
        not selection.locks
        or lock in selection.locks
        or (roster.subjects[lock].kind == "reference" and selection.references)
    )
