# SPDX-License-Identifier: Apache-2.0
"""``python -m fairlock script.py``: run a program as Python does, with fairlock's locks in place of ``threading``'s."""

from __future__ import annotations

import builtins
import io
import pkgutil
import runpy
import sys
from importlib.machinery import BuiltinImporter, SourceFileLoader
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, Literal

from fairlock import install

# Python calls this function for -m. The public run_module() and run_path() remove `__main__` after the program's last
# line, but its threads and the pools that it left open may still need it.
_run_module_as_main: Any = vars(runpy)["_run_module_as_main"]


def run(kind: Literal["-c", "-m", "file"], program: str, arguments: list[str]) -> None:
    """Call :func:`fairlock.install`, then run code, a module or a file. Exceptions of the program pass through."""
    install()
    try:
        if kind == "-c":
            _run_code(program, arguments)
        elif kind == "-m":
            _new_main()
            sys.argv = ["-m", *arguments]  # runpy replaces "-m" with the module's path; sys.path is already right
            _run_module_as_main(program)
        elif pkgutil.get_importer(program) is not None:  # a folder or an archive, with a __main__.py inside
            _new_main()
            _set_arguments(program, folder := str(Path(program).absolute()), arguments)
            if sys.flags.safe_path:
                sys.path.insert(0, folder)  # as Python does, because this folder is the program
            _run_module_as_main("__main__", alter_argv=False)
        else:
            _run_file(program, arguments)
    except BaseException as error:
        _hide_our_frames(error)
        raise


def _run_code(code: str, arguments: list[str]) -> None:
    main = _new_main(__loader__=BuiltinImporter)
    _set_arguments("-c", "", arguments)
    exec(compile(code, "<string>", "exec", dont_inherit=True), main.__dict__)


def _run_file(path: str, arguments: list[str]) -> None:
    absolute = str(Path(path).absolute())
    try:
        with io.open_code(absolute) as file:
            source = file.read()
    except OSError as error:
        print(f"fairlock: can't open file '{absolute}': {error.strerror}; is the path right?", file=sys.stderr)
        raise SystemExit(2) from None
    main = _new_main(__loader__=SourceFileLoader("__main__", absolute), __file__=absolute, __cached__=None)
    _set_arguments(path, str(Path(path).resolve().parent), arguments)
    exec(compile(source, absolute, "exec", dont_inherit=True), main.__dict__)


def _new_main(**attributes: object) -> ModuleType:
    main = ModuleType("__main__")
    main.__dict__.update(__builtins__=builtins, **attributes)
    sys.modules["__main__"] = main
    return main


def _set_arguments(name: str, folder: str, arguments: list[str]) -> None:
    """Set the arguments of the program, and the folder of its modules."""
    sys.argv = [name, *arguments]
    if not sys.flags.safe_path:  # with -P, sys.path[0] is not a folder of the program
        sys.path[0] = folder


def _hide_our_frames(error: BaseException) -> None:
    """Make the traceback that Python prints begin in the program."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_globals is globals():
        trace = trace.tb_next
    show = sys.excepthook  # the program may have set one

    def show_shorter(kind: type[BaseException], value: BaseException, full: TracebackType | None) -> None:
        show(kind, *((value.with_traceback(trace), trace) if value is error else (value, full)))

    sys.excepthook = show_shorter
