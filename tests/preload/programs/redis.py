# SPDX-License-Identifier: Apache-2.0
"""Redis with I/O threads: its values are right, even after a forked child has saved them and Redis has loaded them."""

from __future__ import annotations

import os
import shutil

from .trial import Program, Trial, demand, number, version_of, wait_for


def run(trial: Trial) -> str:
    # Debian's redis-tools has the server under another name. The package redis-server would also start a service.
    server, socket = trial.folder / "redis-server", trial.folder / "socket"
    server.symlink_to(shutil.which("redis-check-rdb") or "")
    requests = trial.times(16_000)  # a multiple of 16, because the benchmark rounds up to whole pipelines
    settings = f"--port 0 --unixsocket {socket} --dir {trial.folder} --appendonly yes --enable-debug-command local"
    # I/O threads spin while there is work. With more of them than processors, the benchmark would take minutes.
    threads = f"--io-threads {max(2, min(4, os.cpu_count() or 2))} --io-threads-do-reads yes"

    def ask(*words: object) -> str:
        return trial.help_with("redis-cli", "-e", "-s", socket, *words).strip()

    load = f"redis-benchmark -s {socket} --threads 2 -c 32 -P 16 -q -n {requests}".split()
    with trial.server(server, *settings.split(), *threads.split(), ready=lambda: ask("ping") == "PONG") as pid:
        output = trial.run(*load, "-t", "set,get,incr,lpush")
        rate = number(r"INCR: ([\d.]+) requests per second", output)
        demand(ask("get", "counter:__rand_int__"), str(requests), "the benchmark's counter")
        demand(ask("llen", "mylist"), str(requests), "the benchmark's list")

        # While Redis continues to count, forked children save everything, and a background thread frees the list.
        ask("bgrewriteaof")
        ask("unlink", "mylist")
        trial.run(*load, "-t", "incr")
        saved = "aof_rewrite_in_progress:0"
        wait_for(lambda: saved in ask("info", "persistence"), "the child that saves did not end", pid)
        demand("aof_last_bgrewrite_status:ok" in ask("info", "persistence"), True, "the child has saved")
        ask("debug", "reload")
        ask("debug", "loadaof")
        demand(ask("get", "counter:__rand_int__"), str(2 * requests), "the counter, after loading")
    return f"{rate:.0f} requests/s"


PROGRAMS = [
    Program(
        "redis",
        "redis-tools",
        ("redis-check-rdb", "redis-benchmark", "redis-cli"),
        lambda: version_of("redis-cli", "--version"),
        run,
        quick=True,
    )
]
