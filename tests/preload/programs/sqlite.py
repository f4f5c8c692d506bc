# SPDX-License-Identifier: Apache-2.0
"""SQLite: all threads share one connection, and so its recursive mutex. Python's module drives it."""

from __future__ import annotations

import sqlite3
import sys

from .trial import Program, Trial, number

THREADS, ACCOUNTS, BALANCE = 6, 20, 1000

# This program runs under the lock. Each thread moves money, and counts its moves in the same statement.
DRIVER = """
import random, sqlite3, sys, threading, time

file, threads, accounts, balance, moves = sys.argv[1], *map(int, sys.argv[2:])
shared = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
shared.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;"
                     "CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER, moves INTEGER);")
shared.executemany("INSERT INTO account VALUES (?, ?, 0)", [(i, balance) for i in range(accounts)])
failures = []

def move(seed):
    try:
        choose = random.Random(seed)
        for _ in range(moves):
            give, take = choose.sample(range(accounts), 2)
            shared.execute("UPDATE account SET balance = balance + CASE id WHEN ? THEN -1 ELSE 1 END,"
                           " moves = moves + 1 WHERE id IN (?, ?)", (give, give, take))
            total, = shared.execute("SELECT sum(balance) FROM account").fetchone()
            assert total == accounts * balance, f"a reader saw {total}"
    except BaseException as error:
        failures.append(error)

crew = [threading.Thread(target=move, args=(seed,)) for seed in range(threads)]
begin = time.monotonic()
for thread in crew: thread.start()
for thread in crew: thread.join()
seconds = time.monotonic() - begin
assert not failures, failures
total, counted = shared.execute("SELECT sum(balance), sum(moves) FROM account").fetchone()
assert total == accounts * balance, f"{total} is left"
assert counted == 2 * threads * moves, f"{counted} were counted"
assert shared.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
print(round(2 * threads * moves / seconds), "statements/s")
"""


def run(trial: Trial) -> str:
    words = [sys.executable, "-c", DRIVER, trial.folder / "database", THREADS, ACCOUNTS, BALANCE, trial.times(4000)]
    rate = number(r"(\d+) statements/s", trial.run(*words))
    return f"{rate:.0f} statements/s"


def unusable() -> str:
    return "" if sqlite3.threadsafety == 3 else "this SQLite does not let threads share a connection"


PROGRAMS = [Program("sqlite", "libsqlite3-0", (), lambda: sqlite3.sqlite_version, run, unusable, quick=True)]
