# SPDX-License-Identifier: Apache-2.0
"""``fairlock run`` and ``python -m fairlock``: run a program with other locks, without changing it."""
