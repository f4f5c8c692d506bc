# SPDX-License-Identifier: Apache-2.0
"""The directories of this installation: C++ headers, CMake package config and preloadable locks."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path


def include_dir() -> Path:
    """Return the directory for the compiler's ``-I``, or raise FileNotFoundError."""
    return _find("include", "fairlock/fairlock.hpp", "the C++ headers")


def cmake_dir() -> Path:
    """Return the directory for CMake's ``fairlock_DIR``, or raise FileNotFoundError."""
    return _find("cmake", "fairlockConfig.cmake", "the CMake package config")


def preload_dir() -> Path:
    """Return the directory of the shared objects for LD_PRELOAD, or raise FileNotFoundError."""
    return _find("preload", "sleeping/fair.so", "the preloadable locks")


def find(package: str, file: str, folder: str, marker: str, what: str) -> Path:
    """Return the directory ``folder`` of an installed package, or raise FileNotFoundError.

    The right directory contains the file ``marker``. ``file`` is the ``__file__`` of a module of the package.
    """
    here = Path(file).resolve().parent
    places = [here / folder]
    try:
        # A Python that starts inside a clone imports the sources from the current directory. The installation, if
        # there is one, is elsewhere.
        installed = Path(str(metadata.distribution(package).locate_file(package))).resolve()
        if installed != here:
            places.append(installed / folder)
    except metadata.PackageNotFoundError:
        pass
    for place in places:
        if (place / marker).is_file():
            return place
    raise FileNotFoundError(
        f"could not find {what} of fairlock: no {marker} in "
        + " or ".join(str(place) for place in places)
        + " (in a clone, `make build` installs it in .venv)"
    )


def _find(folder: str, marker: str, what: str) -> Path:
    return find("fairlock", __file__, folder, marker, what)
