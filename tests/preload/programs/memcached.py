# SPDX-License-Identifier: Apache-2.0
"""memcached with four threads: memcaslap verifies a part of what it reads, and a counter misses no increment."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor

from .trial import START_LIMIT, Program, Trial, demand, number, version_of

CLIENTS = 8
LOAD = "key\n64 64 1\nvalue\n1024 1024 1\ncmd\n0 0.1\n1 0.9\n"  # lengths; then 1 set for 9 gets


def run(trial: Trial) -> str:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with trial.server(*f"memcached -u nobody -U 0 -l 127.0.0.1 -p {port} -t 4".split(), ready=lambda: answers(port)):
        operations, load = trial.times(200_000), trial.folder / "load"
        load.write_text(LOAD)  # otherwise memcaslap writes a file into the user's home
        words = f"memcaslap -s 127.0.0.1:{port} -F {load} -T 2 -c 16 -w 1k -x {operations} -v 0.2"
        output = trial.run(*words.split())
        demand(number(r"Ops: (\d+)", output), operations, "operations")
        for complaint in ("get_misses", "verify_misses", "verify_failed"):
            demand(number(rf"{complaint}: (\d+)", output), 0, complaint)
        count(port, trial.times(400))
    rate = number(r"TPS: (\d+)", output)
    return f"{rate:.0f} operations/s"


def count(port: int, increments: int) -> None:
    """Let several clients count at once. Each client gets numbers that no other client gets."""

    def client(_: int) -> list[str]:
        with Connection(port) as connection:
            return [connection.ask("incr counter 1") for _ in range(increments)]

    with Connection(port) as connection, ThreadPoolExecutor(CLIENTS) as clients:
        demand(connection.ask("set counter 0 0 1\r\n0"), "STORED", "set")
        numbers = {word for answers in clients.map(client, range(CLIENTS)) for word in answers}
        demand(sorted(numbers), sorted(map(str, range(1, CLIENTS * increments + 1))), "numbers that the clients got")


class Connection:
    """A client that sends a line, and receives a line."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=START_LIMIT)
        self._file = self._socket.makefile("rwb")

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._socket.close()

    def ask(self, line: str) -> str:
        self._file.write(line.encode() + b"\r\n")
        self._file.flush()
        return self._file.readline().decode().strip()


def answers(port: int) -> bool:
    with Connection(port) as connection:
        return connection.ask("version").startswith("VERSION")


PROGRAMS = [
    Program(
        "memcached",
        "memcached libmemcached-tools",
        ("memcached", "memcaslap"),
        lambda: version_of("memcached", "--version"),
        run,
        quick=True,
    )
]
