# SPDX-License-Identifier: Apache-2.0
"""``fairlock run --stats``: the contended mutexes of a program, where threads waited, and how fairly."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import tempfile
import textwrap
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from fairlock import paths, signals, table
from fairlock.run import symbols
from fairlock.run.program import NotExecutableError
from fairlock.usage import UsageError

FORMAT = "fairlock-lock-statistics"
VERSION = 1

KEYS = {
    *("format", "version", "pid", "command", "lock", "waiting", "threads", "objects", "uncounted"),
    *("acquisitions", "contended", "abandoned", "waited_ns"),
}
ROWS = 10  # of a table
TABLES = 8  # processes that get a table

Document = dict[str, Any]  # the figures of a process, or a part of them: docs/reference/lock-statistics.md


def library() -> Path:
    """Return the shared object that counts acquisitions, or raise UsageError."""
    file = paths.preload_dir() / "stats.so"
    if not file.is_file():
        raise UsageError(f"--stats needs {file}, which this installation lacks; install fairlock again")
    return file


def run(command: list[str], environment: Mapping[str, str], json_file: str | None) -> int:
    """Run a program that preloads the library, report the counts on stderr, and return the exit status."""
    if json_file is not None:
        try:
            if Path(json_file).is_fifo():
                raise UsageError(
                    f"cannot write {json_file}: it is a pipe, and the program would wait for a reader; name a file"
                )
            Path(json_file).open("a").close()
        except OSError as error:
            raise UsageError(f"cannot write {json_file}: {error.strerror}") from None
    signals.all_as_ctrl_c()  # so that a signal during the report still removes the folder
    with temporary_folder() as folder:
        status = wait_for(command, {**environment, "FAIRLOCK_STATS": f"{folder}/process"})
        processes = collect(Path(folder))
    resolve(processes)
    print_error(report(processes))
    if json_file is not None:
        document = {"format": FORMAT, "version": VERSION, "command": command, "status": status, "processes": processes}
        try:
            Path(json_file).write_text(json.dumps(document, indent=1) + "\n")
        except OSError as error:  # the exit status is still the program's
            print_error(f"fairlock: cannot write {json_file}: {error.strerror}")
    return status


def temporary_folder() -> tempfile.TemporaryDirectory[str]:
    try:
        folder = tempfile.TemporaryDirectory(prefix="fairlock-stats-", ignore_cleanup_errors=True)
    except OSError as error:
        raise UsageError(f"--stats needs a temporary folder, which TMPDIR can name: {error.strerror}") from None
    if os.geteuid() == 0:
        Path(folder.name).chmod(0o1777)  # a server that root starts may end as another user
    return folder


def print_error(text: str) -> None:
    """Write to stderr. If that fails, the exit status is still the program's."""
    with contextlib.suppress(OSError):
        print(text, file=sys.stderr)


FROM_TERMINAL = {signal.SIGINT, signal.SIGQUIT, signal.SIGWINCH}  # not SIGHUP, which only the leader of a session gets
NOT_PASSED_ON = {
    # These stop or continue this process too.
    *(signal.SIGKILL, signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU, signal.SIGCONT),
    # These report faults of this process.
    *(signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGTRAP, signal.SIGSYS),
    signal.SIGCHLD,
}


def wait_for(command: list[str], environment: Mapping[str, str]) -> int:
    """Run a program as if in place of this process, and return the exit status that a shell would see."""
    # Pass on every signal that other processes send, even those that this process ignores. The terminal sends its
    # signals to the program as well, unless the program has left our process group.
    passed_on = signal.valid_signals() - NOT_PASSED_ON
    handler = signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # if it is ignored, children vanish before waitpid
    before = signal.pthread_sigmask(signal.SIG_BLOCK, passed_on | {signal.SIGCHLD})
    try:
        try:
            # Python ignores SIGPIPE and SIGXFSZ, and the program would inherit that.
            child = os.posix_spawnp(
                command[0],
                command,
                environment,
                setsigmask=before,
                setsigdef=[signal.SIGPIPE, signal.SIGXFSZ],
            )
        except OSError as error:
            raise NotExecutableError(f"could not start {command[0]}: {error.strerror}") from None
        while True:
            received = signal.sigwaitinfo(passed_on | {signal.SIGCHLD})
            if received.si_signo == signal.SIGCHLD:
                ended, status = os.waitpid(child, os.WNOHANG)
                if ended:
                    break
            # A signal from the kernel has a positive code.
            elif received.si_code <= 0 or received.si_signo not in FROM_TERMINAL or os.getpgid(child) != os.getpgrp():
                os.kill(child, received.si_signo)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        signal.signal(signal.SIGCHLD, handler)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def collect(folder: Path) -> list[Document]:
    """Return the documents of the processes, the longest waiting time first."""
    documents = []
    with contextlib.suppress(OSError):  # the program may have removed the folder
        for file in folder.iterdir():
            document = read(file)
            if isinstance(document, dict) and document.keys() >= KEYS and document["format"] == FORMAT:
                documents.append(document)
    return sorted(documents, key=lambda process: (-process["waited_ns"], -process["acquisitions"], process["pid"]))


def read(file: Path) -> object:
    """Return a document; None if its process has not finished it, or the file belongs to another program."""
    with contextlib.suppress(OSError, ValueError, RecursionError):
        if file.is_file():
            return json.loads(file.read_text(errors="surrogateescape"))  # names of any encoding
    return None


# --- names ---


def resolve(processes: list[Document]) -> None:
    """Add the names of objects, and the functions and lines of call sites."""
    objects = [entry for process in processes for entry in process["objects"]]
    sites = [site for entry in objects for site in entry["call_sites"]]
    for module in {place["module"] for place in chain(objects, sites) if place["module"]}:
        module_objects = [entry for entry in objects if entry["module"] == module]
        calls = [site for site in sites if site["module"] == module]
        symbol_names = symbols.names(module, {*map(_offset, module_objects), *map(_call, calls)})
        frames = symbols.frames(module, {*map(_call, calls)}) if calls else {}
        for entry in module_objects:
            entry["symbol"] = symbol_names.get(_offset(entry), entry["symbol"])
        for site in calls:
            site["symbol"] = symbol_names.get(_call(site), site["symbol"] or "").partition("+0x")[0] or None
            site["frames"] = [frame._asdict() for frame in frames.get(_call(site), [])]
    for entry in objects:
        entry["call_sites"].sort(key=lambda site: -site["waited_ns"])


def _offset(place: Document) -> int:
    return int(place["offset"], 16)


def _call(site: Document) -> int:
    """Return an address inside the call, which lies before its return address."""
    return _offset(site) - 1


def describe(place: Document) -> str:
    """Return a readable name of an object or a call site."""
    # Choose the innermost inlined function that is not part of the C++ library.
    for frame in place.get("frames", []):
        if not frame["function"].startswith(("std::", "__gthread")) or frame is place["frames"][-1]:
            return f"{frame['function']} ({Path(frame['file']).name}:{frame['line'] or '?'})"
    if place["symbol"]:
        return str(place["symbol"])
    if place["module"]:
        return f"{Path(place['module']).name}+{place['offset']}"
    return str(place["address"])


# --- what is printed ---


def report(processes: list[Document]) -> str:
    """Return a table for each process with contention, and a line for all others."""
    parts = []
    contended = [process for process in processes if _contended(process)]
    for process in contended[:TABLES]:
        parts += [process_report(process), ""]
    if contended:
        parts.append(LEGEND)
    remaining = contended[TABLES:]
    if remaining:
        parts.append(
            f"fairlock: {_counted(len(remaining), 'more process', 'es')} had contention: "
            f"{_time(_sum(remaining, 'waited_ns'))} of waiting"
        )
    uncontended = [process for process in processes if not _contended(process)]
    if uncontended:
        parts.append(
            f"fairlock: {_counted(len(uncontended), 'process', 'es')} without contention: "
            f"{_counted(_sum(uncontended, 'acquisitions'), 'acquisition')}"
        )
    return "\n".join(parts) or NOTHING


def process_report(process: Document) -> str:
    lock = process["lock"] if process["waiting"] is None else f"{process['lock']}, {process['waiting']}"
    command = textwrap.shorten(" ".join(process["command"]), 80, placeholder=" ...") or "a process"
    parts = [
        f"fairlock: {command} [{process['pid']}] with {lock}: "
        f"{_counted(process['threads'], 'thread')}, {_counted(process['acquisitions'], 'acquisition')}, "
        f"{process['contended']:,} contended, {_time(process['waited_ns'])} of waiting"
    ]
    for kind in ("mutex", "semaphore"):
        listed = [entry for entry in process["objects"] if entry["kind"] == kind and _contended(entry)]
        if listed:
            parts += ["", render(kind, listed[:ROWS])]
        if len(listed) > ROWS:
            parts.append(f"and {len(listed) - ROWS:,} more with contention")
    if process["uncounted"]:
        parts.append(f"fairlock: the table was full: {_counted(process['uncounted'], 'call')} could not be counted")
    return "\n".join(parts)


NOTHING = (
    "fairlock: no statistics: a signal killed the program, or it became another program, or it did not load stats.so"
)
LEGEND = """\
hand-overs: acquisitions of a thread that slept until the lock was handed over.
fairness: the fewest acquisitions of a waiting thread, divided by the most."""
COLUMNS = ("acquisitions", "contended", "abandoned", "waited", "longest", "parks", "hand-overs", "fairness")


def render(kind: str, objects: Iterable[Document]) -> str:
    """Return the table of one kind of objects."""
    rows = [
        [
            describe(entry),
            _sites(entry["call_sites"]),
            f"{entry['acquisitions']:,}",
            f"{entry['contended'] / entry['acquisitions']:.2%}" if entry["acquisitions"] else None,
            f"{entry['abandoned']:,}",
            _time(entry["waited_ns"]),
            _time(entry["longest_ns"]),
            _known(entry["parks"]),
            _known(entry["hand_overs"]),
            _fairness(entry["fairness"]),
        ]
        for entry in objects
    ]
    return table.render([kind, "where", *COLUMNS], rows, right=COLUMNS)


def _sites(sites: list[Document]) -> str:
    """Return the call site with the longest waiting time, and the number of the others."""
    others = f" and {len(sites) - 1} more" if len(sites) > 1 else ""
    return f"{describe(sites[0])}{others}"


def _fairness(fairness: Document | None) -> str | None:
    if fairness is None or fairness["threads"] < 2 or fairness["largest"] == 0:
        return None
    return f"{fairness['smallest'] / fairness['largest']:.2f}"


def _contended(counted: Document) -> bool:
    return bool(counted["contended"] or counted["abandoned"])


def _known(count: int | None) -> str | None:
    return None if count is None else f"{count:,}"


def _time(nanoseconds: int) -> str:
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:,.{0 if nanoseconds >= 100 * size else 1}f} {unit}"
    return f"{nanoseconds} ns"


def _sum(processes: Iterable[Document], key: str) -> int:
    return sum(process[key] for process in processes)


def _counted(number: int, what: str, plural: str = "s") -> str:
    return f"{number:,} {what}{'' if number == 1 else plural}"
