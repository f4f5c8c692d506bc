"""The command line: ``fairlock list``, ``explain``, ``check``, ``bench``, ``report`` and ``run``."""

from __future__ import annotations

import argparse
import errno
import io
import os
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NoReturn

from fairlock import __version__
from fairlock.usage import INTERRUPTED, UsageError

# Each is a module that has add_arguments(parser) and run(args). Only the one that is called is imported: most need the
# lab, which an installation may be without.
COMMANDS = {
    "list": ("catalogue", "the catalogue of locks, with their properties"),
    "explain": ("explain", "one lock's fields, step by step, as threads contend for it"),
    "check": ("check", "explore locks with the model checker, or find the planted bugs"),
    "bench": ("bench", "measure locks against what a program would otherwise use"),
    "report": ("report", "a page of the results: figures, a summary, and what changed between two files"),
    "run": ("run", "any program with another lock, nothing recompiled"),
}

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        print(f"{self.prog}: {message} ({self.prog} --help tells more)", file=sys.stderr)
        raise SystemExit(2)


def load(module: str) -> ModuleType:
    try:
        return import_module(f"fairlock.{module}")
    except ImportError as error:
        if "_lab" not in str(error):
            raise
        raise UsageError(
            "the native module of the lab is missing. In a source tree: run `make build`, then .venv/bin/fairlock"
        ) from error


def main(argv: list[str] | None = None) -> int:
    parser = Parser(
        "fairlock",
        description="Fair, scalable locks, and the workshop that proves them.",
        epilog="`python -m fairlock script.py` (or -m MODULE, or -c CODE) runs a program with fairlock's locks "
        "in place of threading's.",
    )
    if sys.stderr is None:  # closed by whoever started us: print() would take stdout for it
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # what others named may be no text, or none of this terminal
    parser.add_argument("--version", action="version", version=f"fairlock {__version__}")
    try:
        subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
        words = sys.argv[1:] if argv is None else argv
        chosen = None
        for name, (module, text) in COMMANDS.items():
            subparser = subparsers.add_parser(name, help=text)
            if name in words[:1]:  # only this one is loaded
                chosen = load(module)
                subparser.description = chosen.__doc__
                chosen.add_arguments(subparser)
        args = parser.parse_args(words)
        assert chosen is not None  # or the parser would have complained
        status: int = chosen.run(args)
        if sys.stdout is not None:
            sys.stdout.flush()
    except UsageError as error:
        print(f"fairlock: {error}", file=sys.stderr)
        return error.status
    except KeyboardInterrupt:
        print("fairlock: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # `fairlock list | head`
        sys.stderr.close()
        return 0
    except OSError as error:
        if error.errno not in FULL or error.filename is not None:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or Python would try again at its end
        print(f"fairlock: cannot write the output: {error.strerror}", file=sys.stderr)
        return 1
    return status
