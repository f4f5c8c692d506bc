# SPDX-License-Identifier: Apache-2.0
"""Find a deadlock: two threads acquire two locks in opposite orders.

    python examples/deadlock.py

If your program may hang, install a signal handler. Then `kill -USR1 PID` prints this report:

    signal.signal(signal.SIGUSR1, lambda *_: fairlock.dump())
"""

import sys
import threading
import time

import fairlock

accounts, journal = fairlock.Lock(), fairlock.Lock()
both_hold_a_lock = threading.Barrier(2)


def transfer(first: fairlock.Lock, second: fairlock.Lock) -> None:
    with first:
        both_hold_a_lock.wait()
        with second:
            print("never printed")


if __name__ == "__main__":
    # Daemon threads: the example can end while they hang.
    threading.Thread(target=transfer, args=(accounts, journal), name="payer", daemon=True).start()
    threading.Thread(target=transfer, args=(journal, accounts), name="auditor", daemon=True).start()
    while not fairlock.deadlocks():
        time.sleep(0.01)
    fairlock.dump(sys.stdout)
