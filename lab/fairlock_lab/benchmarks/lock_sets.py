# SPDX-License-Identifier: Apache-2.0
"""Sets of locks, semaphores and references that several workloads measure."""

from __future__ import annotations

TICKETS_AND_MCS = ("ticket", "twa", "mcs")
PAPER_LOCKS = ("mcs", "clh", "twa", "tidex", "ticket", "hemlock", "reciprocating", "hapax", "hapax-vw")
CAPACITOR_BASES = ("reciprocating", "ticket", "lifo", "mcs", "tts")  # the inner locks of the capacitor paper
CAPACITORS = tuple(
    form.format(name)
    for name in CAPACITOR_BASES
    for form in ("{}", "capacitor-{}", "capacitor-{}-fractional", "semaphore-around-{}")
)
SEMAPHORES = ("ticket-semaphore", "twa-semaphore", "twa-semaphore-futex", "twa-semaphore-chain", "fair-semaphore")
FIFO_LOCKS = (
    *("ticket", "ticket-backoff", "partitioned-ticket", "anderson", "twa", "tidex", "hapax", "hapax-vw"),
    *("mcs", "clh", "hemlock"),
)
SMALL_ARRAYS = tuple(
    f"{name}{slots}" for name in ("twa", "hapax", "hapax-vw") for slots in ("/slots-1", "/slots-4", "/slots-64", "")
)

# What a program would otherwise use. Every run measures these references. Results list those that this build lacks.
GLIBC = ("pthread-mutex", "std-mutex", "pthread-mutex-pi")
CK = ("ck-ticket", "ck-mcs", "ck-anderson", "ck-clh")
LOCK_REFERENCES = (*GLIBC, *CK)
PEERS = ("absl", "nsync", "boost", "tbb-spin", "tbb-queuing")  # locks of other libraries
NO_LOCK = "nolock"  # the work without a lock: an upper limit, not a choice
SEMAPHORE_REFERENCES = ("sem_t", "std-semaphore")

# A selection of the locks that can be preloaded.
PRELOADED = ("fair", "ticket", "twa", "hapax", "hapax-vw", "mcs", "clh")
