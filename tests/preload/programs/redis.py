"""Redis with four threads that read and write: the benchmark's values are right, while children save and others free."""

from __future__ import annotations

import shutil

from .trial import FailedError, Program, Trial, demand, version_of, wait_for

FIELD = 16  # requests in a pipeline


def run(trial: Trial) -> str:
    # The server's file has another name in Debian's redis-tools, which has no service that would have to be stopped.
    server, socket = trial.folder / "redis-server", trial.folder / "socket"
    server.symlink_to(shutil.which("redis-server") or shutil.which("redis-check-rdb") or "")
