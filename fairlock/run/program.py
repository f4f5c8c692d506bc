# SPDX-License-Identifier: Apache-2.0
"""The steps from a command to the file that is loaded in the end, and whether a lock can be preloaded for that file."""

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

MAX_STEPS = 20  # from script to script; the kernel gives up earlier

# The file names of glibc's loaders: ld-linux-x86-64.so.2, ld-2.31.so, ld64.so.1. Users may call one directly.
GLIBC_LOADER = re.compile(r"ld(-linux.*|-[\d.]+|64)?\.so(\.\d+)?$")


class NotFoundError(UsageError):
    """The program does not exist. The exit status is that of a shell."""

    status = 127


class NotExecutableError(UsageError):
    """The file exists, but cannot be executed, with or without a lock. The exit status is that of a shell."""

    status = 126


@dataclass(frozen=True)
class Step:
    """A file and the words that start it. The next step is a script's interpreter, or the program of ``env``."""

    file: str
    words: list[str]
    elf: elf.Elf | None = None  # None for a script, and for a file that may be executed but not read


def steps(words: list[str], environment: Mapping[str, str]) -> list[Step]:
    """Return the steps from a command to the file that is loaded; raise UsageError if it cannot be started."""
    path: list[Step] = []
    context = ""  # the beginning of an error message about the next step
    while words:
        if len(path) == MAX_STEPS:
            raise NotExecutableError(
                f"{path[0].file} is a script whose #! lines lead in a circle; name a program in one of them"
            )
        file = _find(words[0], environment, context)
        try:
            binary = elf.read(Path(file))
            path.append(Step(file, words, binary))
            if binary:
                words = _after_env(words) if Path(file).name == "env" else []
                context = f"{file} starts another program, but "
            else:
                words = [*_interpreter(file), file, *words[1:]]
                context = f"{file} names its interpreter in the first line, but "
        except PermissionError:
            path.append(Step(file, words))
            break
    return path


def _find(name: str, environment: Mapping[str, str], context: str) -> str:
    """Return the file that a shell would start. It is not a Path, because a script sees its name with the './'."""
    folders = environment.get("PATH", os.defpath).split(":")
    files = [name] if "/" in name else [f"{folder or '.'}/{name}" for folder in folders if name]
    existing = [file for file in files if os.access(file, os.F_OK)]
    for file in existing:
        if os.access(file, os.X_OK) and Path(file).is_file():
            return file
    for file in existing:
        if Path(file).is_file():
            raise NotExecutableError(f"{context}{file} is not executable; if it is a program, use chmod +x")
    if "/" not in name:
        remedy = (
            f"did you mean ./{name}?"
            if os.access(name, os.F_OK) and Path(name).is_file()  # the second raises OSError for a long name
            else "is it installed, and is its folder on the PATH?"
        )
        raise NotFoundError(f"{context}there is no program {name!r} on the PATH; {remedy}")
    if existing:
        raise NotExecutableError(
            f"{context}{name} is a {'directory' if Path(name).is_dir() else 'device'}; name a program"
        )
    raise NotFoundError(f"{context}there is no file {name!r}; is the path right?")


def _interpreter(file: str) -> list[str]:
    """Return the words of a script's first line: a program, and the rest as a single argument."""
    with Path(file).open("rb") as script:
        start = script.read(256)  # as much as the kernel reads
    if not start:
        raise NotExecutableError(f"{file} is empty; name a program, or a script with a #! line")
    line = os.fsdecode(re.split(rb"[\n\0]", start[2:], maxsplit=1)[0]).strip(" \t") if start.startswith(b"#!") else ""
    if not line:
        raise NotExecutableError(
            f"{file} is neither an ELF program nor a script that names its interpreter in the first line (#!/bin/sh); "
            f"name it yourself: fairlock run -- sh {shlex.quote(file)}"
        )
    program, *argument = re.split(r"[ \t]+", line, maxsplit=1)
    return [program if "/" in program else f"./{program}", *argument]  # the kernel does not search the PATH


def _after_env(words: list[str]) -> list[str]:
    """Return the command of ``env``, as in ``#!/usr/bin/env -S python3 -u``; nothing if that is hard to tell."""
    rest = words[1:]
    while rest:
        word = rest[0]
        if word == "-S" and len(rest) > 1:
            rest = [word + rest[1], *rest[2:]]
        elif word.startswith("-S"):
            if "$" in word or "\\" in word:  # env has its own rules for these
                return []
            try:
                rest = [*shlex.split(word[2:]), *rest[1:]]
            except ValueError:  # an open quotation: env reports it
                return []
        elif word.startswith("PATH=") or rest[:2] == ["-u", "PATH"]:  # env then searches elsewhere
            return []
        elif word in ("-u", "--unset"):
            rest = rest[2:]
        elif word == "--" or ("=" in word and not word.startswith("-")) or word.startswith("--unset="):
            rest = rest[1:]
        else:
            return [] if word.startswith("-") else rest
    return []


def check(last: Step, library: Path) -> None:
    """Raise UsageError if the loader would not load ``library`` before the program."""
    file, program, library_elf = last.file, last.elf, elf.read(library)
    if program is None or library_elf is None:  # not readable: the loader decides
        return
    alternative = "use --lock glibc to run it unchanged"
    if (program.bits, program.machine) != (library_elf.bits, library_elf.machine):
        raise UsageError(
            f"{file} is a {program.kind} program, and this fairlock has locks only for {library_elf.kind}; "
            f"use a build for {library_elf.kind}"
        )
    loader = program.loader or (file if GLIBC_LOADER.match(Path(file).resolve().name) else "")
    if not loader:
        raise UsageError(
            f"{file} is linked statically: its locks are inside, and it loads no others; link it without -static, "
            f"or {alternative}"
        )
    if not GLIBC_LOADER.match(Path(loader).name):
        libc = "musl" if "musl" in loader else "a C library other than glibc"
        raise UsageError(
            f"{file} was built for {libc} ({loader}), but the locks replace those of glibc; build it for glibc, "
            f"or {alternative}"
        )
    if privilege := _privilege(file):
        raise UsageError(
            f"{file} {privilege}, and the loader ignores LD_PRELOAD for such programs; run a copy without the "
            f"privilege (cp makes one), or {alternative}"
        )


def check_loader(last: Step) -> None:
    """Raise UsageError if the program's loader is missing. The kernel's error would name only the program."""
    if last.elf and last.elf.loader and not os.access(last.elf.loader, os.F_OK):
        raise NotFoundError(
            f"{last.file} needs the loader {last.elf.loader}, which does not exist; install the C library that it was "
            "built for"
        )


def _privilege(file: str) -> str:
    mode = Path(file).stat().st_mode
    if mode & stat.S_ISUID:
        return "is setuid"
    if mode & stat.S_ISGID and mode & stat.S_IXGRP:  # without group execution, the bit has another meaning
        return "is setgid"
    try:
        return "has file capabilities" if os.getxattr(file, "security.capability") else ""
    except OSError:  # no capabilities, or the file system has none
        return ""
