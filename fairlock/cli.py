# SPDX-License-Identifier: Apache-2.0
"""The command line: ``fairlock run``, and the commands that the lab adds."""

from __future__ import annotations

import argparse
import errno
import io
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from fairlock import __version__, extensions
from fairlock.usage import INTERRUPTED, UsageError, printable

# The product's own commands: the module of each, and its help.
COMMANDS = {"run": ("fairlock.run.command", "run any program with other locks; nothing is recompiled")}

# The commands of the lab, which is a distribution of its own.
LAB_COMMANDS = {
    "list": "show the catalogue of locks, with their properties",
    "explain": "show the fields of a lock, step by step, while threads contend for it",
    "check": "explore locks with the model checker, or find the planted bugs",
    "bench": "measure locks beside those that a program would otherwise use",
    "report": "make a page of the results: figures, a summary, and what changed between two files",
}

DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class Parser(argparse.ArgumentParser):
    """A parser that reports an error in one line."""

    def error(self, message: str) -> NoReturn:
        print(printable(f"{self.prog}: {message} (see {self.prog} --help)"), file=sys.stderr)
        raise SystemExit(2)


def all_commands() -> dict[str, str]:
    """Return every command with its help. The lab's commands are listed even if the lab is not installed."""
    others = [name for name in extensions.names(extensions.COMMANDS) if name not in LAB_COMMANDS]
    return {**LAB_COMMANDS, **dict.fromkeys(others, ""), **{name: text for name, (_, text) in COMMANDS.items()}}


def load(command: str) -> Any:
    """Return the module of a command, which has add_arguments(parser) and run(args)."""
    if command in COMMANDS:
        return import_module(COMMANDS[command][0])
    return extensions.load(extensions.COMMANDS, command, f"fairlock {command}")


def main(argv: list[str] | None = None) -> int:
    parser = Parser(
        "fairlock",
        description="Fair, scalable locks for any program, and the lab that measures and checks them.",
        epilog="`python -m fairlock script.py` (or -m MODULE, or -c CODE) runs a program with fairlock's locks "
        "in place of threading's.",
    )
    if sys.stdout is None:  # the parent closed it
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115
    if sys.stderr is None:  # print() would fall back to stdout
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # file names may contain bytes that the encoding lacks
    parser.add_argument("--version", action="version", version=f"fairlock {__version__}")
    try:
        subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
        words = sys.argv[1:] if argv is None else argv
        module = None
        for name, text in all_commands().items():
            subparser = subparsers.add_parser(name, help=text)
            if name in words[:1]:  # load only the chosen command
                module = load(name)
                subparser.description = module.__doc__
                module.add_arguments(subparser)
        args = parser.parse_args(words)
        assert module is not None  # the parser requires a command
        status: int = module.run(args)
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
        if error.errno not in DISK_FULL or error.filename is not None:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # so that Python does not write again at exit
        print(f"fairlock: cannot write the output: {error.strerror}", file=sys.stderr)
        return 1
    return status
