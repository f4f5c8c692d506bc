"""``fairlock list``: the catalogue as a table, or one lock with everything known of it."""

from __future__ import annotations

import argparse
import json

from fairlock import _lab, table
from fairlock.usage import UsageError, one_of

COLUMNS = {
    "name": "name",
    "order": "order",
    "spinning": "spins",
    "constant_time_release": "O(1) release",
    "context_free": "context-free",
    "try_lock": "try",
    "thread_oblivious": "any thread releases",
    "waiting_array": "array",
    "dynamic_memory": "allocates",
    "nodes_circulate": "nodes circulate",
    "preloadable": "preloadable",
    "lock_bytes": "lock B",
    "episode_bytes": "episode B",
    "mutex_bytes": "mutex B",
}

LEGEND = """\
spins: where waiters look. L(ocal) or U(nknown) home; P(rivate), S(emi-private) or G(lobal) word.
Sizes are sizeof on this machine. `fairlock list NAME` tells everything of one lock; --all adds the variations."""


def locks(variations: bool = False) -> list[_lab.Properties]:
    """Return the properties of every lock of the catalogue, and of the papers' variations if asked."""
    return [entry for entry in _lab.catalogue() if variations or not entry["variation"]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="NAME", help="show all that is known of these")
    parser.add_argument("--all", action="store_true", help="the papers' variations too")
    parser.add_argument("--json", action="store_true", help="all properties, as JSON")


def run(args: argparse.Namespace) -> int:
    entries = locks(variations=True)
    by_name = {entry["name"]: entry for entry in entries}
    for name in args.names:
        if name not in by_name:
            raise UsageError(one_of("lock", name, by_name))
    chosen = [by_name[name] for name in args.names] or locks(variations=args.all)
    if args.json:
        print(json.dumps(chosen, indent=2))
    elif args.names:
        for entry in chosen:
            width = max(len(key) for key in entry)
            for key, value in entry.items():
                print(f"{key.replace('_', ' '):{width}}  {table.show(value)}")
            print()
    else:
        rows = [[entry[key] for key in COLUMNS] for entry in map(dict, chosen)]
        print(table.render(list(COLUMNS.values()), rows, right=["lock B", "episode B", "mutex B"]))
        print(f"\n{LEGEND}")
    return 0
