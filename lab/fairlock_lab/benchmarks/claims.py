# SPDX-License-Identifier: Apache-2.0
"""What the papers claim to have measured, paraphrased. ``verdicts`` compares each claim with results."""

from __future__ import annotations

from collections.abc import Sequence

from fairlock_lab.benchmarks.claim_types import Case, Claim, Comparison
from fairlock_lab.benchmarks.lock_sets import CAPACITOR_BASES, TICKETS_AND_MCS
from fairlock_lab.benchmarks.papers import CAPACITOR_PAPER, HAPAX_PAPER, SEMAPHORE_PAPER, TWA_PAPER

ABOUT_EQUAL = 0.9  # "about the same", "slightly slower": within 10 %


def against(
    workload: str,
    configs: Sequence[str],
    lock: str,
    others: Sequence[str],
    threads: Sequence[int],
    least: float | None = None,
    most: float | None = None,
) -> tuple[Comparison, ...]:
    """Compare the throughput of a lock with that of each other lock, for each config and number of threads."""
    return tuple(
        Comparison(Case(workload, config, lock, n), Case(workload, config, other, n), least, most)
        for config in configs
        for other in others
        for n in threads
    )


def over_threads(
    workload: str, config: str, locks: Sequence[str], more: int, less: int, least: float | None, most: float | None
) -> tuple[Comparison, ...]:
    """Compare the throughput of each lock with its own throughput at fewer threads."""
    return tuple(
        Comparison(Case(workload, config, lock, more), Case(workload, config, lock, less), least, most)
        for lock in locks
    )


def capacitor_claims(
    suffix: str, base: str, threads: int, least: float | None, most: float | None
) -> tuple[Comparison, ...]:
    return tuple(
        Comparison(
            Case("mutex", "capacitor", f"capacitor-{lock}{suffix}", threads),
            Case("mutex", "capacitor", base.format(lock), threads),
            least,
            most,
        )
        for lock in CAPACITOR_BASES
    )


MANY_THREADS = 24  # threads: where the figures show the collapse of global spinning

CLAIMS: tuple[Claim, ...] = (
    Claim(
        "readers slow a writer",
        f"{TWA_PAPER}, figure 1",
        "The more threads watch a word, the slower its only writer becomes.",
        2,
        over_threads("invalidation-diameter", "invalidation-diameter", ["fetch-and-add"], 2, 1, None, ABOUT_EQUAL),
    ),
    Claim(
        "TWA near ticket",
        f"{TWA_PAPER}, figure 2",
        "With few threads, TWA is only slightly slower than the ticket lock.",
        2,
        against("mutex", ["twa"], "twa", ["ticket"], [1, 2], least=ABOUT_EQUAL),
    ),
    Claim(
        "TWA at least MCS",
        f"{TWA_PAPER}, figure 2",
        "TWA is faster than MCS at every number of threads.",
        2,
        against("mutex", ["twa", "maximum"], "twa", ["mcs"], [2, 4, 8, 16, 32, 64], least=1.0),
    ),
    Claim(
        "ticket collapses",
        f"{TWA_PAPER}, figure 2",
        "Ticket locks do not scale: with 24 threads, MCS is faster.",
        MANY_THREADS,
        against("mutex", ["twa"], "mcs", ["ticket"], [MANY_THREADS, 32, 64], least=1.0),
    ),
    Claim(
        "TWA scales",
        f"{TWA_PAPER}, abstract and figure 2",
        "Under high contention, TWA has far more throughput than the ticket lock.",
        MANY_THREADS,
        against("mutex", ["twa"], "twa", ["ticket"], [MANY_THREADS, 32, 64], least=1.1),
    ),
    Claim(
        "exceptions do not scale",
        f"{TWA_PAPER}, figure 3",
        "Two threads that throw exceptions complete fewer than one thread, because the run-time library takes a lock.",
        2,
        over_threads("throw", "throw", ["pthread-mutex", *TICKETS_AND_MCS], 2, 1, None, 1.0),
    ),
    Claim(
        "TWA in stress_latency",
        f"{TWA_PAPER}, abstract and figure 4",
        "In liblock's stress_latency too, TWA is comparable with the ticket lock with few threads.",
        2,
        against("stress-latency", ["stress-latency"], "twa", ["ticket"], [1, 2], least=ABOUT_EQUAL),
    ),
    Claim(
        "ticket in LevelDB",
        f"{TWA_PAPER}, figure 5",
        "In LevelDB's readrandom, ticket locks are slightly faster than MCS and TWA with few threads.",
        2,
        against("leveldb", ["readrandom"], "ticket", ["mcs", "twa"], [2], least=1.0),
    ),
    Claim(
        "TWA in LevelDB",
        f"{TWA_PAPER}, figure 5",
        "In LevelDB's readrandom, TWA is at least as fast as MCS once ticket locks slow down.",
        MANY_THREADS,
        (
            *against("leveldb", ["readrandom"], "twa", ["mcs"], [MANY_THREADS, 32, 64], least=ABOUT_EQUAL),
            *against("leveldb", ["readrandom"], "twa", ["ticket"], [MANY_THREADS, 32, 64], least=1.0),
        ),
    ),
    Claim(
        "TWA in RocksDB",
        f"{TWA_PAPER}, figure 6",
        "In RocksDB's readwhilewriting, bound to one shard of its cache, the locks rank as in MutexBench: TWA is close "
        "to the ticket lock with few threads, and faster than MCS.",
        2,
        (
            *against("rocksdb", ["readwhilewriting"], "twa", ["ticket"], [1, 2], least=ABOUT_EQUAL),
            *against("rocksdb", ["readwhilewriting"], "twa", ["mcs"], [2, 4, 8, 16, 32, 64], least=1.0),
        ),
    ),
    Claim(
        "TWA at least qspinlock",
        f"{TWA_PAPER}, figure 7",
        "In the kernel's locktorture, TWA has as much throughput as qspinlock, or slightly more.",
        2,
        against("locktorture", ["locktorture"], "twa", ["qspinlock"], [1, 2, 4, 8, 16, 32], least=ABOUT_EQUAL),
    ),
    Claim(
        "ticket fades in locktorture",
        f"{TWA_PAPER}, figure 7",
        "In locktorture, ticket locks do well with few threads, and are slower than qspinlock with many.",
        MANY_THREADS,
        against("locktorture", ["locktorture"], "ticket", ["qspinlock"], [MANY_THREADS, 32, 64], most=1.0),
    ),
    Claim(
        "semaphores alike when few",
        f"{SEMAPHORE_PAPER}, figure 1",
        "With few threads, the ticket semaphore and the TWA semaphore have about the same throughput.",
        2,
        against(
            "semaphore", ["semabench"], "twa-semaphore", ["ticket-semaphore"], [1, 2], ABOUT_EQUAL, 1 / ABOUT_EQUAL
        ),
    ),
    Claim(
        "semaphores drop at two",
        f"{SEMAPHORE_PAPER}, figure 1",
        "Every semaphore has less throughput with two threads than with one: a second thread costs more than it adds.",
        2,
        over_threads(
            "semaphore", "semabench", ["ticket-semaphore", "twa-semaphore", "sem_t"], 2, 1, least=None, most=1.0
        ),
    ),
    Claim(
        "TWA semaphore scales",
        f"{SEMAPHORE_PAPER}, figure 1",
        "With more threads, the TWA semaphore has more throughput than the ticket semaphore.",
        8,
        against("semaphore", ["semabench"], "twa-semaphore", ["ticket-semaphore"], [8, 16, 32, 64], least=1.0),
    ),
    Claim(
        "HapaxVW in std::atomic",
        f"{HAPAX_PAPER}, figure 1 and section 7",
        "In the exchange of std::atomic too, Hapax with visible waiters is on a par with MCS and CLH.",
        2,
        against("atomic-exchange", ["atomic-exchange"], "hapax-vw", ["mcs", "clh"], [2], least=ABOUT_EQUAL),
    ),
    Claim(
        "HapaxVW in LevelDB",
        f"{HAPAX_PAPER}, figure 2 and section 6.2",
        "LevelDB's readrandom resembles MutexBench with moderate contention: Hapax with visible waiters is on a par "
        "with MCS, CLH and TWA.",
        2,
        against("leveldb", ["readrandom"], "hapax-vw", ["mcs", "clh", "twa"], [2], least=ABOUT_EQUAL),
    ),
    Claim(
        "Hapax at least MCS",
        f"{HAPAX_PAPER}, sections 6.3 and 7",
        "Hapax locks, with or without visible waiters, perform as well as MCS.",
        2,
        (
            *against("mutex", ["maximum", "moderate"], "hapax", ["mcs"], [2], least=1.0),
            *against("mutex", ["maximum", "moderate"], "hapax-vw", ["mcs"], [2], least=1.0),
        ),
    ),
    Claim(
        "HapaxVW on par",
        f"{HAPAX_PAPER}, figure 3",
        "Hapax with visible waiters is on a par with MCS, CLH, TWA and HemLock.",
        2,
        against("mutex", ["maximum", "moderate"], "hapax-vw", ["mcs", "clh", "twa", "hemlock"], [2], least=ABOUT_EQUAL),
    ),
    Claim(
        "Reciprocating leads",
        f"{HAPAX_PAPER}, figure 3",
        "Reciprocating locks have as much throughput as Hapax with visible waiters, or slightly more.",
        2,
        against("mutex", ["maximum", "moderate"], "reciprocating", ["hapax-vw"], [2], least=ABOUT_EQUAL),
    ),
    Claim(
        "global spinning collapses",
        f"{HAPAX_PAPER}, figure 3",
        "Tidex and ticket locks do not scale, because all waiters watch one word.",
        MANY_THREADS,
        (
            *against("mutex", ["maximum"], "tidex", ["hapax-vw"], [MANY_THREADS, 32, 64], most=ABOUT_EQUAL),
            *against("mutex", ["maximum"], "ticket", ["hapax-vw"], [MANY_THREADS, 32, 64], most=ABOUT_EQUAL),
        ),
    ),
    Claim(
        "fewest invalidations",
        f"{HAPAX_PAPER}, table 2",
        "With ten threads, Hapax with visible waiters moves fewer cache lines per episode than MCS and ticket locks.",
        10,
        tuple(
            Comparison(
                Case("mutex", "invalidations", "hapax-vw", 10),
                Case("mutex", "invalidations", other, 10),
                most=1.0,
                measure="perf.cache_misses",
            )
            for other in ("mcs", "ticket", "twa")
        ),
    ),
    Claim(
        "the episode in the body costs Hapax",
        f"{HAPAX_PAPER}, section on TWA and Hapax",
        "If the episode passes through the lock's body, Hapax is slower than TWA, which keeps no episode there.",
        2,
        (Comparison(Case("mutex", "rearrival", "hapax", 2, "mutex"), Case("mutex", "rearrival", "twa", 2), most=1.0),),
    ),
    Claim(
        "capacitor's tax",
        f"{CAPACITOR_PAPER}, figure 1",
        "Without contention, a capacitor costs a modest part of the throughput (here: at most half).",
        1,
        capacitor_claims("", "{}", 1, least=0.5, most=None),
    ),
    Claim(
        "fractional capacitors cost less",
        f"{CAPACITOR_PAPER}, figure 1 and section 5",
        "A capacitor that 99 of 100 arrivals skip costs far less.",
        1,
        capacitor_claims("-fractional", "capacitor-{}", 1, least=1.0, most=None),
    ),
    Claim(
        "capacitors tame LIFO",
        f"{CAPACITOR_PAPER}, figure 1",
        "A capacitor makes even a LIFO lock fair in the long run.",
        1,
        (
            Comparison(Case("oversubscribed", "oversubscribed", "capacitor-lifo", 32), least=0.8, measure="fairness"),
            Comparison(Case("oversubscribed", "oversubscribed", "lifo", 32), most=0.2, measure="fairness"),
        ),
    ),
    Claim(
        "capacitors help test-and-set",
        f"{CAPACITOR_PAPER}, figure 1",
        "With more than nine threads, a capacitor makes a test-and-test-and-set lock both faster and fairer.",
        10,
        (
            *against("mutex", ["capacitor"], "capacitor-tts", ["tts"], [10, 16, 32, 64], least=1.0),
            *(
                Comparison(
                    Case("mutex", "capacitor", "capacitor-tts", n),
                    Case("mutex", "capacitor", "tts", n),
                    least=1.0,
                    measure="fairness",
                )
                for n in (10, 16, 32, 64)
            ),
        ),
    ),
    Claim(
        "capacitors do not help MCS",
        f"{CAPACITOR_PAPER}, section 5",
        "MCS is FIFO and spins on private words, so a capacitor around it adds no throughput.",
        2,
        against("mutex", ["capacitor"], "capacitor-mcs", ["mcs"], [2], most=1.0),
    ),
)
