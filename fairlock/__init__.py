"""Fair, scalable locks and semaphores, with the workshop to prove what they claim.

``Lock``, ``RLock``, ``Semaphore``, ``BoundedSemaphore``, ``Condition``, ``Event`` and ``Barrier`` are used like their
namesakes in ``threading``, and let no thread starve. ``install()`` puts them in the place of those, as
``python -m fairlock script.py`` does for a program; ``dump()`` shows who waits for whom. The command ``fairlock``
studies the algorithms behind them: ``fairlock list``, ``explain`` and ``check``. ``python -m fairlock --include``
prints where the C++ headers are.
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
    from fairlock.adopt import install, uninstall
    from fairlock.contention import Contention, contended, deadlocks, dump
    from fairlock.events import Barrier, Event
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
