# SPDX-License-Identifier: Apache-2.0
"""`import fairlock` is cheap, and `__all__` names what users may rely on."""

from __future__ import annotations

import json

import pytest
from conftest import Python

import fairlock

IMPORT = """
import json, sys
before = set(sys.modules)
import fairlock
files = [getattr(sys.modules[name], "__file__", None) for name in set(sys.modules) - before]
print(json.dumps([file for file in files if file is not None]))
"""


def test_the_import_loads_one_native_module_and_at_most_three_python_files(python: Python) -> None:
    done = python("-c", IMPORT)
    assert done.returncode == 0, done.stderr
    files = json.loads(done.stdout)
    sources = [file for file in files if file.endswith(".py")]
    native = [file for file in files if not file.endswith(".py")]
    assert len(native) == 1, native
    assert "_locks" in native[0]
    assert 1 <= len(sources) <= 3, sources


def test_every_public_name_exists_and_belongs_to_the_package() -> None:
    assert len(set(fairlock.__all__)) == len(fairlock.__all__)
    for name in fairlock.__all__:
        assert name in dir(fairlock)
        assert getattr(getattr(fairlock, name), "__module__", "fairlock") == "fairlock"  # TIMEOUT_MAX has none


@pytest.mark.parametrize("name", fairlock.__all__)
def test_a_public_name_can_be_imported_first(name: str, python: Python) -> None:
    done = python("-c", f"from fairlock import {name}; print({name} is not None)")
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


def test_every_public_type_and_function_has_a_docstring() -> None:
    for name in set(fairlock.__all__) - {"TIMEOUT_MAX"}:
        public = getattr(fairlock, name)
        assert public.__doc__, name
        if not isinstance(public, type):
            continue
        for attribute in dir(public):
            if not attribute.startswith("_") and attribute not in ("count", "index"):
                assert getattr(public, attribute).__doc__, f"{name}.{attribute}"


def test_an_unknown_name_raises() -> None:
    with pytest.raises(AttributeError, match="module 'fairlock' has no attribute 'lock'"):
        fairlock.lock  # type: ignore[attr-defined]  # noqa: B018
