# SPDX-License-Identifier: Apache-2.0
"""Find a deadlock: two threads take two locks in opposite orders.

    python examples/deadlock.py

A program that may hang installs a signal handler instead, and then `kill -USR1 PID` prints the same:

    signal.signal(signal.SIGUSR1, lambda *_: fairlock.dump())
"""

import sys
import threading
import time

import fairlock

accounts, journal = fairlock.Lock(), fairlock.Lock()
both_hold_one = threading.Barrier(2)


def transfer(first: fairlock.Lock, second: fairlock.Lock) -> None:
    with first:
        both_hold_one.wait()
        with second:
            print("this line is never reached")


if __name__ == "__main__":
    # Daemon threads, so that the example ends although they hang.
    threading.Thread(target=transfer, args=(accounts, journal), name="payer", daemon=True).start()
    threading.Thread(target=transfer, args=(journal, accounts), name="auditor", daemon=True).start()
    while not fairlock.deadlocks():
        time.sleep(0.01)
    fairlock.dump(sys.stdout)
