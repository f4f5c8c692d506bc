# SPDX-License-Identifier: Apache-2.0
"""What a command really starts: the file that is loaded in the end, and whether a lock can be loaded before it."""

from __future__ import annotations

import os
import re
import shlex
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fairlock.run import elf
from fairlock.usage import UsageError

MOST_STEPS = 20  # from script to script; the kernel gives up earlier

# The file names of glibc's loaders: ld-linux-x86-64.so.2, ld-2.31.so, ld64.so.1. A program may also be started by one.
GLIBC_LOADER = re.compile(r"ld(-linux.*|-[\d.]+|64)?\.so(\.\d+)?$")


class NotFoundError(UsageError):
    """There is no such program: the exit status is that of a shell."""

    status = 127


class NotExecutableError(UsageError):
    """There is a file, but it cannot be started, with or without a lock: the exit status is that of a shell."""

    status = 126


@dataclass(frozen=True)
class Step:
    """A file that is started with these words. A script's next step is its interpreter, that of ``env`` its program."""

    file: str
    words: list[str]
    elf: elf.Elf | None = None  # None for a script, and for a file that may be executed but not read


def steps(words: list[str], environment: Mapping[str, str]) -> list[Step]:
    """Return the command and all that it comes down to; raise UsageError if it cannot be started."""
    found: list[Step] = []
    asked = ""
    while words:
        if len(found) == MOST_STEPS:
            raise NotExecutableError(
                f"{found[0].file} is a script for a script, without end: its #! lines go in a circle"
            )
        file = _find(words[0], environment, asked)
        try:
            binary = elf.read(Path(file))
            found.append(Step(file, words, binary))
            if binary:
                words = _after_env(words) if Path(file).name == "env" else []
                asked = f"{file} is to start another program, but "
            else:
                words = [*_interpreter(file), file, *words[1:]]
                asked = f"{file} names its interpreter in the first line, but "
        except PermissionError:
            found.append(Step(file, words))
            break
    return found


def _find(name: str, environment: Mapping[str, str], asked: str) -> str:
    """Return the file that a shell would start. Not as a Path: a script sees the name, and './' counts."""
    folders = environment.get("PATH", os.defpath).split(":")
    files = [name] if "/" in name else [f"{folder or '.'}/{name}" for folder in folders if name]
    there = [file for file in files if os.access(file, os.F_OK)]
    for file in there:
        if os.access(file, os.X_OK) and Path(file).is_file():
            return file
    for file in there:
        if Path(file).is_file():
            raise NotExecutableError(f"{asked}{file} is not executable; if it is a program, `chmod +x` makes it so")
    if "/" not in name:
        remedy = (
            f"did you mean ./{name}?"
            if os.access(name, os.F_OK) and Path(name).is_file()  # of a name that is too long the second complains
            else "is it installed, and its folder there?"
        )
        raise NotFoundError(f"{asked}there is no program {name!r} on the PATH; {remedy}")
    if there:
        raise NotExecutableError(
            f"{asked}{name} is a {'directory' if Path(name).is_dir() else 'device'}; name a program"
        )
    raise NotFoundError(f"{asked}there is no file {name!r}; is the path right?")


def _interpreter(file: str) -> list[str]:
    """Return the words of a script's first line: a program, and all the rest as one argument."""
    with Path(file).open("rb") as script:
        start = script.read(256)  # as much as the kernel reads
    if not start:
        raise NotExecutableError(f"{file} is empty; a program or a script with a #! line would work")
    line = os.fsdecode(re.split(rb"[\n\0]", start[2:], maxsplit=1)[0]).strip(" \t") if start.startswith(b"#!") else ""
    if not line:
        raise NotExecutableError(
            f"{file} is neither an ELF program nor a script that names its interpreter in the first line (#!/bin/sh); "
            f"name it yourself: fairlock run -- sh {shlex.quote(file)}"
        )
    program, *argument = re.split(r"[ \t]+", line, maxsplit=1)
    return [program if "/" in program else f"./{program}", *argument]  # never looked for on the PATH


def _after_env(words: list[str]) -> list[str]:
    """Return what ``env`` starts, as in ``#!/usr/bin/env -S python3 -u``; nothing if that takes more to know."""
    rest = words[1:]
    while rest:
        word = rest[0]
        if word == "-S" and len(rest) > 1:
            rest = [word + rest[1], *rest[2:]]
        elif word.startswith("-S"):
            if "$" in word or "\\" in word:  # it has rules of its own for these
                return []
            try:
                rest = [*shlex.split(word[2:]), *rest[1:]]
            except ValueError:  # a quotation without an end: env will complain
                return []
        elif word.startswith("PATH=") or rest[:2] == ["-u", "PATH"]:  # where it looks for the program, then
            return []
        elif word in ("-u", "--unset"):
            rest = rest[2:]
        elif word == "--" or ("=" in word and not word.startswith("-")) or word.startswith("--unset="):
            rest = rest[1:]
        else:
            return [] if word.startswith("-") else rest
    return []


def check(last: Step, library: Path) -> None:
    """Raise UsageError if the loader would not load ``library`` before that program."""
    file, program, ours = last.file, last.elf, elf.read(library)
    if program is None or ours is None:  # it may not be read: the loader will tell
        return
    instead = "--lock glibc runs it as it is"
    if (program.bits, program.machine) != (ours.bits, ours.machine):
        raise UsageError(
            f"{file} is a {program.kind} program, and this fairlock has locks for {ours.kind} ones only; "
            f"a build of it for {ours.kind} would work"
        )
    loader = program.loader or (file if GLIBC_LOADER.match(Path(file).resolve().name) else "")
    if not loader:
        raise UsageError(
            f"{file} is linked statically: it has its locks inside and loads no others; link it without -static, "
            f"or {instead}"
        )
    if not GLIBC_LOADER.match(Path(loader).name):
        libc = "musl" if "musl" in loader else "another C library than glibc"
        raise UsageError(
            f"{file} was built for {libc} ({loader}), and the locks replace those of glibc; build it for glibc, "
            f"or {instead}"
        )
    if privilege := _privilege(file):
        raise UsageError(
            f"{file} {privilege}, and for such programs the loader ignores LD_PRELOAD; a copy of it without "
            f"(cp makes one) would work, or {instead}"
        )


def check_loader(last: Step) -> None:
    """Raise UsageError if there is nothing that would load that program: the kernel names only the program then."""
    if last.elf and last.elf.loader and not os.access(last.elf.loader, os.F_OK):
        raise NotFoundError(
            f"{last.file} asks for the loader {last.elf.loader}, which is not there; install the C library that it was "
            "built for"
        )


def _privilege(file: str) -> str:
    mode = Path(file).stat().st_mode
    if mode & stat.S_ISUID:
        return "is setuid"
    if mode & stat.S_ISGID and mode & stat.S_IXGRP:  # without the second it means something else
        return "is setgid"
    try:
        return "has file capabilities" if os.getxattr(file, "security.capability") else ""
    except OSError:  # it has none, or the file system knows none
        return ""
