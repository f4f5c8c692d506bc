# SPDX-License-Identifier: Apache-2.0
"""The code that a Python under ``fairlock run --python`` runs before its program: ``fairlock.install()``.

Every Python that the program starts runs this file, even an old Python, so the file uses only old syntax.
"""

import sys
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path

HERE = Path(__file__).absolute().parent


def install() -> None:
    """Replace the types of ``threading``, or raise ImportError."""
    try:
        import fairlock  # as installed for this Python: its programs import it too

        fairlock.install()
    except (ImportError, AttributeError):  # not installed, or sources without the native module
        forget()
        spec = PathFinder.find_spec("fairlock", [str(HERE.parent.parent.parent)])  # the command's own
        if spec is None or spec.loader is None:
            raise
        sys.modules["fairlock"] = fairlock = module_from_spec(spec)
        spec.loader.exec_module(fairlock)
        fairlock.install()


def forget() -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "fairlock"]:
        del sys.modules[name]


# The program sees the same folders as without this hook.
sys.path[:] = [folder for folder in sys.path if folder != str(HERE)]

try:
    install()
except Exception:
    # `fairlock run` has checked the Python of the command, so this is another Python. It continues, unchanged.
    forget()
    sys.stderr.write(
        f"fairlock: {sys.executable} (Python {sys.version.split()[0]}) cannot import fairlock, and keeps its own "
        f"threading; install it there (from Python 3.11 on: {sys.executable} -m pip install fairlock)\n"
    )

# Then run the sitecustomize that Python would have run without this hook.
this_module = sys.modules.pop("sitecustomize")
try:
    import_module("sitecustomize")
except ImportError as error:
    if error.name != "sitecustomize":
        raise
finally:
    sys.modules.setdefault("sitecustomize", this_module)
