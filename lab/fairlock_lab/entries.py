# SPDX-License-Identifier: Apache-2.0
"""The entries of the catalogue, and what their orders of admission mean."""

from __future__ import annotations

from fairlock_lab import _native

ORDERS = {
    "fifo": "no later arrival enters before a waiter",
    "bounded": "how often a thread that arrives later enters before a waiter: at most {bypass}, for each",
    "at-head": "newcomers that enter before the first in line: at most {bypass} in all",
    "while-saturated": "newcomers that enter before the first in line: at most {bypass} in all, while the lock is "
    "saturated",
    "barging": "whoever comes at the right moment enters: no bound on bypass",
    "lifo": "the newest waiter enters first: no bound on bypass",
    "platoon": "later arrivals that enter before a waiter: at most {bypass} in all",
    "long-term": "fair in the long run, by chance: no bound on one wait",
}


def order_of(entry: _native.Entry) -> str:
    """Return the entry's order of admission, and what it means."""
    return f"{entry['order']}: {ORDERS[entry['order']].format(bypass=entry.get('bypass'))}"


def entries(variations: bool = False) -> list[_native.Lock | _native.Semaphore]:
    """Return every lock and semaphore, and the papers' variations if asked."""
    every: list[_native.Lock | _native.Semaphore] = [*_native.locks(), *_native.semaphores()]
    return [entry for entry in every if variations or not entry["variation"]]
