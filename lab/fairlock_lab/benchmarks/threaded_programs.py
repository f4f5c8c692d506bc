# SPDX-License-Identifier: Apache-2.0
"""Ordinary threaded programs, written with the standard library alone: the samples of ``fairlock bench install``.

    python threaded_programs.py PROGRAM THREADS SECONDS WARM_UP threading
    python -m fairlock threaded_programs.py PROGRAM THREADS SECONDS WARM_UP fairlock

A program is a function that returns a worker for each thread. A worker runs forever, and counts its work in
``done[0]``. The last argument names the module that the program's locks must come from: with other locks, the program
exits with status 1.
"""

from __future__ import annotations

import concurrent.futures
import functools
import hashlib
import json
import logging
import os
import queue
import random
import sys
import threading
import time
import traceback
from collections import OrderedDict
from collections.abc import Callable
from typing import NoReturn

Worker = Callable[[list[int]], NoReturn]


def digest(number: int) -> str:
    """Return the result of a task that takes about a microsecond."""
    return hashlib.sha256(b"%d" % number).hexdigest()


def any_key(dice: random.Random) -> int:
    """Return one of a thousand keys; some are far more frequent than others."""
    return int(1000 * dice.random() ** 3)


# --- the programs ---


def executor_map(threads: int) -> list[Worker]:
    pool = concurrent.futures.ThreadPoolExecutor(threads)

    def call(done: list[int]) -> NoReturn:
        while True:
            for _ in pool.map(digest, range(100)):
                done[0] += 1

    return [call]


def as_completed(threads: int) -> list[Worker]:
    pool = concurrent.futures.ThreadPoolExecutor(threads)

    def call(done: list[int]) -> NoReturn:
        while True:
            futures = [pool.submit(digest, number) for number in range(20)]
            for future in concurrent.futures.as_completed(futures):
                future.result()
                done[0] += 1

    return [call]


def bounded_queue(threads: int) -> list[Worker]:
    items: queue.Queue[int] = queue.Queue(maxsize=100)

    def produce(done: list[int]) -> NoReturn:
        while True:
            items.put(1)

    def consume(done: list[int]) -> NoReturn:
        while True:
            done[0] += items.get()

    return [produce, consume] * (threads // 2)


def task_queue(threads: int) -> list[Worker]:
    """One thread puts tasks, and the others do them, as in the documentation of ``queue``."""
    tasks: queue.Queue[int] = queue.Queue(maxsize=100)

    def produce(done: list[int]) -> NoReturn:
        while True:
            for number in range(1000):
                tasks.put(number)
            tasks.join()

    def work(done: list[int]) -> NoReturn:
        while True:
            digest(tasks.get())
            tasks.task_done()
            done[0] += 1

    return [produce, *[work] * threads]


def log(threads: int) -> list[Worker]:
    handler = logging.FileHandler(os.devnull)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(threadName)s: %(message)s"))
    logger = logging.getLogger("service")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)

    def serve(done: list[int]) -> NoReturn:
        while True:
            logger.info("request %d took %.1f ms", done[0], 1.5)
            done[0] += 1

    return [serve] * threads


def lru_cache(threads: int) -> list[Worker]:
    lock, cache = threading.RLock(), OrderedDict[int, str]()

    def get(key: int) -> str:
        with lock:
            if key in cache:
                cache.move_to_end(key)
            else:
                cache[key] = digest(key)
                if len(cache) > 500:
                    cache.popitem(last=False)
            return cache[key]

    def ask(done: list[int]) -> NoReturn:
        dice = random.Random(threading.get_ident())
        while True:
            get(any_key(dice))
            done[0] += 1

    return [ask] * threads


def memoised(threads: int) -> list[Worker]:
    def memoise(function: Callable[[int], str]) -> Callable[[int], str]:
        lock, known = threading.Lock(), dict[int, str]()

        @functools.wraps(function)
        def call(key: int) -> str:
            with lock:
                if key in known:
                    return known[key]
            value = function(key)
            with lock:
                if len(known) >= 500:
                    known.clear()
                known[key] = value
            return value

        return call

    remembered = memoise(digest)

    def ask(done: list[int]) -> NoReturn:
        dice = random.Random(threading.get_ident())
        while True:
            remembered(any_key(dice))
            done[0] += 1

    return [ask] * threads


class TokenBucket:
    def __init__(self, rate: float, burst: float) -> None:
        self.lock = threading.Lock()
        self.rate, self.burst, self.tokens, self.last = rate, burst, burst, time.monotonic()

    def take(self) -> bool:
        with self.lock:
            now = time.monotonic()
            self.tokens = min(self.burst, self.tokens + (now - self.last) * self.rate)
            self.last = now
            if self.tokens < 1:
                return False
            self.tokens -= 1
            return True


def rate_limiter(threads: int) -> list[Worker]:
    bucket = TokenBucket(rate=100_000, burst=100)

    def serve(done: list[int]) -> NoReturn:
        while True:
            if bucket.take():
                digest(done[0])
            done[0] += 1

    return [serve] * threads


def connection_pool(threads: int) -> list[Worker]:
    size = threads // 2
    slots, idle = threading.BoundedSemaphore(size), queue.LifoQueue[bytearray]()
    for _ in range(size):
        idle.put(bytearray(4096))

    def query(done: list[int]) -> NoReturn:
        while True:
            with slots:
                connection = idle.get()
                try:
                    hashlib.sha256(connection)  # releases the GIL, as a socket would
                finally:
                    idle.put(connection)
            done[0] += 1

    return [query] * threads


def event_ping_pong(threads: int) -> list[Worker]:
    ping, pong = threading.Event(), threading.Event()
    ping.set()

    def play(own: threading.Event, other: threading.Event, done: list[int]) -> NoReturn:
        while True:
            own.wait()
            own.clear()
            done[0] += 1
            other.set()

    return [functools.partial(play, ping, pong), functools.partial(play, pong, ping)]


def barrier(threads: int) -> list[Worker]:
    meeting = threading.Barrier(threads)

    def meet(done: list[int]) -> NoReturn:
        while True:
            meeting.wait()
            done[0] += 1

    return [meet] * threads


PROGRAMS: dict[str, Callable[[int], list[Worker]]] = {
    "executor-map": executor_map,
    "as-completed": as_completed,
    "queue": bounded_queue,
    "task-queue": task_queue,
    "logging": log,
    "lru-cache": lru_cache,
    "memoised": memoised,
    "rate-limiter": rate_limiter,
    "connection-pool": connection_pool,
    "event-ping-pong": event_ping_pong,
    "barrier": barrier,
}


# --- one sample ---


def wrong_lock(module: str) -> str:
    """Return a message about a lock that does not come from that module; empty if all do."""
    pool = concurrent.futures.ThreadPoolExecutor(1)
    locks: dict[str, object] = {
        "threading.Lock()": threading.Lock(),
        "threading.RLock()": threading.RLock(),
        "threading.Semaphore()": threading.Semaphore(),
        "threading.BoundedSemaphore()": threading.BoundedSemaphore(),
        "threading.Condition()": threading.Condition(),
        "threading.Event()": threading.Event(),
        "threading.Barrier(1)": threading.Barrier(1),
        "the lock of queue.Queue()": queue.Queue[int]().mutex,
        "the condition of queue.Queue()": queue.Queue[int]().not_empty,
        "the lock of logging.Handler()": logging.Handler().lock,
        "the semaphore of ThreadPoolExecutor()": pool._idle_semaphore,
        "the condition of Future()": concurrent.futures.Future[int]()._condition,
    }
    for name, lock in locks.items():
        kind = type(lock)
        if (kind.__module__ == "fairlock") != (module == "fairlock"):
            return f"{name} is a {kind.__module__}.{kind.__qualname__}; expected one from {module}"
    return ""


def measure(workers: list[Worker], seconds: float, warm_up: float) -> dict[str, float]:
    """Return the work of all workers in a window after a warm-up."""
    counts = [[0] for _ in workers]
    ready = threading.Barrier(len(workers) + 1)

    def run(worker: Worker, done: list[int]) -> None:
        try:
            ready.wait()
            worker(done)
        except BaseException:
            traceback.print_exc()
            os._exit(1)  # without this thread, the sample would be of a different program

    for worker, done in zip(workers, counts, strict=True):
        threading.Thread(target=run, args=(worker, done), daemon=True).start()
    ready.wait()
    time.sleep(warm_up)
    before, begin = sum(done[0] for done in counts), time.perf_counter()
    time.sleep(seconds)
    after, end = sum(done[0] for done in counts), time.perf_counter()
    return {"elapsed": end - begin, "episodes": after - before, "throughput": (after - before) / (end - begin)}


def main(program: str, threads: str, seconds: str, warm_up: str, module: str) -> None:
    if complaint := wrong_lock(module):
        sys.exit(complaint)
    metrics = measure(PROGRAMS[program](int(threads)), float(seconds), float(warm_up))
    if not metrics["episodes"]:
        print(f"{program} did nothing in {seconds} s", file=sys.stderr, flush=True)
        os._exit(1)
    print(json.dumps(metrics), flush=True)
    os._exit(0)  # the workers run forever


if __name__ == "__main__":
    main(*sys.argv[1:])
