# SPDX-License-Identifier: Apache-2.0
"""Share a few database connections among many threads.

Run it:

    python examples/connection_pool.py
"""

import sqlite3
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from fairlock import BoundedSemaphore, Lock

THREADS = 8
ORDERS = 25  # by each thread


class Pool:
    """Connections to one SQLite database. While none is idle, threads wait in line."""

    def __init__(self, path: Path, size: int) -> None:
        self.idle = [sqlite3.connect(path, timeout=30, check_same_thread=False) for _ in range(size)]
        self.permits = BoundedSemaphore(size)  # raises ValueError if a connection comes back twice
        self.lock = Lock()

    @contextmanager
    def connection(self) -> Iterator[sqlite3.Connection]:
        with self.permits:
            with self.lock:
                connection = self.idle.pop()  # cannot fail: this thread has a permit
            try:
                with connection:  # commit, or roll back after an exception
                    yield connection
            finally:
                with self.lock:
                    self.idle.append(connection)


def place_orders(pool: Pool, customer: int) -> None:
    for number in range(ORDERS):
        with pool.connection() as connection:
            connection.execute("INSERT INTO orders VALUES (?, ?)", (customer, number))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        pool = Pool(Path(folder) / "shop.db", size=3)
        with pool.connection() as connection:
            connection.execute("CREATE TABLE orders (customer INTEGER, number INTEGER)")
        with ThreadPoolExecutor(THREADS) as threads:
            list(threads.map(place_orders, [pool] * THREADS, range(THREADS)))  # list() raises what a thread raised
        with pool.connection() as connection:
            ((count,),) = connection.execute("SELECT count(*) FROM (SELECT DISTINCT customer, number FROM orders)")
        print(f"{THREADS} threads stored {count} orders over {len(pool.idle)} connections")
        print(f"threads waited {pool.permits.statistics().contended} times for a connection")
