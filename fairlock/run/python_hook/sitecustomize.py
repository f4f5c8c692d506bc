# SPDX-License-Identifier: Apache-2.0
"""What a Python under ``fairlock run --python`` runs before its program: ``fairlock.install()``.

Every Python that the program starts comes here, also one of another version: no syntax that an old one does not know.
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
        import fairlock  # the one that is installed for this Python, which its programs would import, too

        fairlock.install()
    except (ImportError, AttributeError):  # none, or sources without the native module
        forget()
        spec = PathFinder.find_spec("fairlock", [str(HERE.parent.parent.parent)])  # the one that has the command
        if spec is None or spec.loader is None:
            raise
        sys.modules["fairlock"] = fairlock = module_from_spec(spec)
        spec.loader.exec_module(fairlock)
        fairlock.install()


def forget() -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "fairlock"]:
        del sys.modules[name]


# The program sees the folders that it would see without us; and those modules of ours that it imports.
sys.path[:] = [folder for folder in sys.path if folder != str(HERE)]

try:
    install()
except Exception:
    # Not the program: `fairlock run` has asked its Python beforehand. One that the program starts may go on as ever.
    forget()
    sys.stderr.write(
        f"fairlock: {sys.executable} (Python {sys.version.split()[0]}) can import no fairlock, and keeps its own "
        f"threading; install it there (from Python 3.11 on: {sys.executable} -m pip install fairlock)\n"
    )

# And the sitecustomize that there would be without us.
ours = sys.modules.pop("sitecustomize")
try:
    import_module("sitecustomize")
except ImportError as error:
    if error.name != "sitecustomize":
        raise
finally:
    sys.modules.setdefault("sitecustomize", ours)
