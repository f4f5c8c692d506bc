# SPDX-License-Identifier: Apache-2.0
"""Let eight threads compete for one semaphore, before and after fairlock.install().

Run it:

    python examples/starving_thread.py
"""

import threading
import time
import zlib

import fairlock

THREADS = 8
SECONDS = 1.0
DATA = bytes(16384)


def turns() -> list[int]:
    """Return how many times each thread acquired the semaphore, in ascending order."""
    semaphore = threading.Semaphore()  # after install(), a fairlock.Semaphore
    counts = [0] * THREADS
    start, stop = threading.Barrier(THREADS + 1), threading.Event()

    def work(number: int) -> None:
        start.wait()
        while not stop.is_set():
            with semaphore:
                zlib.crc32(DATA)  # releases the GIL meanwhile
            counts[number] += 1

    threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    start.wait()
    time.sleep(SECONDS)
    stop.set()
    for thread in threads:
        thread.join()
    return sorted(counts)


def show(name: str, counts: list[int]) -> None:
    share = counts[0] / counts[-1]
    print(f"{name:18} slowest thread {counts[0]:7,} turns, fastest {counts[-1]:7,}: a share of {share:.2f}")


if __name__ == "__main__":
    show("threading", turns())
    fairlock.install()
    show("fairlock.install()", turns())
