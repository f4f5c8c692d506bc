"""Fair, scalable locks and semaphores, with the workshop to prove what they claim.

This version holds the C++ headers and the tools to study them: ``fairlock list``, ``fairlock
explain`` and ``fairlock check``. ``python -m fairlock --include`` prints where the headers are.
"""

__version__ = "0.1.0"
