# SPDX-License-Identifier: Apache-2.0
"""Real programs, unmodified, under `fairlock run`. Each module says how to run one, and what its result must be."""

from . import cpython, leveldb, mariadb, memcached, redis, rocksdb, sqlite, stress_ng, sysbench

PROGRAMS = {
    program.name: program
    for module in (sysbench, stress_ng, sqlite, memcached, redis, rocksdb, leveldb, mariadb, cpython)
    for program in module.PROGRAMS
}

# The locks that real programs must work with, and glibc's own: a failure under glibc's is not the fault of a lock.
LOCKS = ("glibc", "fair", "ticket", "twa", "hapax", "hapax-vw", "mcs", "clh", "hemlock", "reciprocating")
