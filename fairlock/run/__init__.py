# SPDX-License-Identifier: Apache-2.0
"""``fairlock run`` and ``python -m fairlock``: programs that get other locks without a change."""
