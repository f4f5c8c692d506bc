# SPDX-License-Identifier: Apache-2.0
"""The files that the lab writes: each is checked before the measurement, and replaced as a whole."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from fairlock.usage import UsageError
from fairlock_lab.errors import ArgumentError


def write(path: Path, content: str | bytes) -> None:
    """Replace a file atomically: a reader sees the old content or the new. Raise UsageError if that fails."""
    path = path.resolve()  # a symbolic link stays a link
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content.encode() if isinstance(content, str) else content)
        part.replace(path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error
    finally:
        with suppress(OSError):
            part.unlink()


def check_writable(path: Path) -> None:
    """Raise ArgumentError now if ``path`` could not be written later."""
    try:
        folder = path.absolute().parent
    except OSError as error:  # the current folder has been deleted
        raise ArgumentError(f"cannot write {path}: {error.strerror}") from error
    if not folder.is_dir():
        raise ArgumentError(f"cannot write {path}: there is no folder {folder}")
    if path.is_dir():
        raise ArgumentError(f"cannot write {path}: it is a folder")
    if path.exists() and not path.is_file():  # a device or a pipe, which the new file would replace
        raise ArgumentError(f"cannot write {path}: it is not a regular file")
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise ArgumentError(f"cannot write {path}: {error.strerror}") from error


def check_page(page: Path, *results: Path) -> None:
    """Raise ArgumentError if ``page`` cannot be written, or would replace one of the results files."""
    for path in results:
        if page.resolve() == path.resolve():
            raise ArgumentError(f"cannot write the page to {page}: the results are there; name another file")
    check_writable(page)


def make_folder(folder: Path, hint: str = "") -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ArgumentError(f"cannot make the folder {folder}: {error.strerror}{hint}") from error
