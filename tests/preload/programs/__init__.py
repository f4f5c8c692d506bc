# SPDX-License-Identifier: Apache-2.0
"""Real programs, unmodified, under `fairlock run`. One module for each says how it is run and what must come of it."""

from . import cpython, leveldb, mariadb, memcached, redis, rocksdb, sqlite, stress_ng, sysbench

PROGRAMS = {
    program.name: program
    for module in (sysbench, stress_ng, sqlite, memcached, redis, rocksdb, leveldb, mariadb, cpython)
    for program in module.PROGRAMS
}

# Those that programs are promised to work with, and glibc's own: what fails there too is not the lock's fault.
LOCKS = ("glibc", "fair", "ticket", "twa", "hapax", "hapax-vw", "mcs", "clh", "hemlock", "reciprocating")
