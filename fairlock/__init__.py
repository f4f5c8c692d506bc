# SPDX-License-Identifier: Apache-2.0
"""Fair, scalable locks and semaphores.

``Lock``, ``RLock``, ``Semaphore``, ``BoundedSemaphore``, ``Condition``, ``Event`` and ``Barrier`` work like their
namesakes in ``threading``, but no thread starves::

    import fairlock

    lock = fairlock.Lock()
    with lock:
        ...

``Capacitor`` makes any other lock fair. After ``install()``, ``threading`` creates these types, and
``python -m fairlock script.py`` runs a program that way. ``dump()`` shows which thread waits for which lock.

``fairlock run`` gives these locks to programs in any language. ``python -m fairlock --include`` prints the directory of
the C++ headers.

The names in ``__all__`` are the public interface. Everything else may change without notice.
"""

__version__ = "0.1.0"

__all__ = [
    "TIMEOUT_MAX",
    "Barrier",
    "BoundedSemaphore",
    "Capacitor",
    "Condition",
    "Contention",
    "Event",
    "Lock",
    "RLock",
    "Semaphore",
    "Statistics",
    "contended",
    "deadlocks",
    "dump",
    "install",
    "uninstall",
]

# Type checkers treat this name like typing.TYPE_CHECKING. Importing that one would take time.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from fairlock._locks import TIMEOUT_MAX, BoundedSemaphore, Capacitor, Condition, Lock, RLock, Semaphore, Statistics
    from fairlock.contention import Contention, contended, deadlocks, dump
    from fairlock.events import Barrier, Event
    from fairlock.threading_patch import install, uninstall
else:
    # The module of each name that is imported on first use.
    _LAZY = {
        "Barrier": "fairlock.events",
        "Contention": "fairlock.contention",
        "Event": "fairlock.events",
        "contended": "fairlock.contention",
        "deadlocks": "fairlock.contention",
        "dump": "fairlock.contention",
        "install": "fairlock.threading_patch",
        "uninstall": "fairlock.threading_patch",
    }

    try:
        from fairlock._locks import (
            TIMEOUT_MAX,
            BoundedSemaphore,
            Capacitor,
            Condition,
            Lock,
            RLock,
            Semaphore,
            Statistics,
        )

        _import_error = None
    except ModuleNotFoundError as _error:  # raised on first use: C++ users of the headers need no native module
        _import_error = _error

    def __getattr__(name):
        if name not in __all__:
            raise AttributeError(f"module 'fairlock' has no attribute {name!r}")
        if _import_error is not None:
            import sys

            raise ImportError(
                f"fairlock has no native module for Python {sys.version.split()[0]} on {sys.platform}. In a source "
                "tree: run `make build` and start from another folder. Otherwise: `pip install fairlock` with Python "
                "3.11 or newer; without a wheel for this platform, that needs a C++20 compiler."
            ) from _import_error
        from importlib import import_module

        value = getattr(import_module(_LAZY[name]), name)
        globals()[name] = value
        return value

    def __dir__():
        return sorted({*globals(), *__all__})
