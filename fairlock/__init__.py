# SPDX-License-Identifier: Apache-2.0
"""Fair, scalable locks and semaphores.

``Lock``, ``RLock``, ``Semaphore``, ``BoundedSemaphore``, ``Condition``, ``Event`` and ``Barrier`` work like their
namesakes in ``threading``, but no thread starves. ``install()`` makes ``threading`` itself use them, and
``python -m fairlock script.py`` does so for a whole program. ``dump()`` shows which thread waits for which lock.
``fairlock run`` gives other locks to any program. ``python -m fairlock --include`` prints where the C++ headers are.

The names in ``__all__`` are the public interface; everything else may change without notice.
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

try:
    from fairlock._locks import TIMEOUT_MAX, BoundedSemaphore, Capacitor, Condition, Lock, RLock, Semaphore, Statistics
    from fairlock.contention import Contention, contended, deadlocks, dump
    from fairlock.events import Barrier, Event

    def install() -> None:
        """Make ``threading`` create fairlock's locks, in all code that creates locks from now on.

        ``queue``, ``concurrent.futures``, ``logging`` and ``multiprocessing.pool`` then use them too. Locks that exist
        already stay what they are, and so do names that were imported earlier with ``from threading import Lock``. So
        call this early. Calling it twice is harmless. A forked process inherits it; a spawned one must call it again.
        """
        from fairlock import threading_patch

        threading_patch.install()

    def uninstall() -> None:
        """Undo :func:`install`. Locks that exist already stay what they are.

        A name in ``threading`` that other code has replaced since stays as it is. Once that code has put fairlock's
        type back, another call restores the original.
        """
        from fairlock import threading_patch

        threading_patch.uninstall()

except ModuleNotFoundError as _error:
    _missing = _error

    def __getattr__(name: str) -> object:  # not at once: who asks only for the C++ headers needs no native module
        import sys

        if name not in __all__:
            raise AttributeError(f"module 'fairlock' has no attribute {name!r}")
        raise ImportError(
            f"fairlock has no native module for Python {sys.version.split()[0]} on {sys.platform}. In a source tree: "
            "run `make build` and start from another folder. Otherwise: `pip install fairlock` with Python 3.11 or "
            "newer; where there is no wheel, that needs a C++20 compiler."
        ) from _missing
