# SPDX-License-Identifier: Apache-2.0
"""``fairlock list``: the catalogue as a table, or one lock with everything known of it."""

from __future__ import annotations

import argparse
import json

from fairlock import table
from fairlock.usage import UsageError, one_of
from fairlock_lab import _native, entries

LOCK_COLUMNS = {
    "name": "lock",
    "order": "order",
    "spinning": "spins",
    "constant_time_release": "O(1) release",
    "context_free": "context-free",
    "try_lock": "try",
    "thread_oblivious": "any thread releases",
    "parkable": "may sleep",
    "abandonable": "may leave",
    "waiting_array": "array",
    "dynamic_memory": "allocates",
    "nodes_circulate": "nodes circulate",
    "preloadable": "preloadable",
    "lock_bytes": "lock B",
    "episode_bytes": "episode B",
    "mutex_bytes": "mutex B",
}

SEMAPHORE_COLUMNS = {
    "name": "semaphore",
    "order": "order",
    "spinning": "spins",
    "waiting_array": "array",
    "destroyable_by_next_owner": "destroyable at once",
    "semaphore_bytes": "B",
}

CONDITION_COLUMNS = {
    "name": "condition",
    "order": "order",
    "spinning": "spins",
    "over": "over",
    "destroyable_when_notified": "destroyable when notified",
    "condition_bytes": "B",
}

COLUMNS = {"lock": LOCK_COLUMNS, "semaphore": SEMAPHORE_COLUMNS, "condition": CONDITION_COLUMNS}

LEGEND = """\
order: platoon bounds how many later arrivals pass a waiter by, in all; long-term is fair by chance, without a bound.
spins: where waiters look. L(ocal) or U(nknown) home; P(rivate), S(emi-private) or G(lobal) word.
Sizes are sizeof on this machine. `fairlock list NAME` tells everything of one entry; --all adds the variations."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="NAME", help="show all that is known of these")
    parser.add_argument("--all", action="store_true", help="the papers' variations too")
    parser.add_argument("--json", action="store_true", help="all properties, as JSON")


def run(args: argparse.Namespace) -> int:
    conditions = _native.conditions()
    by_name: dict[str, _native.Entry] = {
        entry["name"]: entry for entry in [*entries.entries(variations=True), *conditions]
    }
    for name in args.names:
        if name not in by_name:
            raise UsageError(one_of("name", name, by_name))
    chosen: list[_native.Entry] = [by_name[name] for name in args.names] or [
        *entries.entries(variations=args.all),
        *conditions,
    ]
    if args.json:
        print(json.dumps(chosen, indent=2))
    elif args.names:
        for entry in chosen:
            width = max(len(key) for key in entry)
            for key, value in {**entry, "order": entries.order_of(entry)}.items():
                print(f"{key.replace('_', ' '):{width}}  {table.show(value)}")
            print()
    else:
        for kind, columns in COLUMNS.items():
            rows = [[dict(entry)[key] for key in columns] for entry in chosen if entry["kind"] == kind]
            sizes = [title for title in columns.values() if title.split()[-1] == "B"]
            print(f"{table.render(list(columns.values()), rows, right=sizes)}\n")
        print(LEGEND)
    return 0
