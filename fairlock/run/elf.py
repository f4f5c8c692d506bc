# SPDX-License-Identifier: Apache-2.0
"""The headers of an ELF file: its machine, and the loader that it names."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

PT_INTERP = 3

# For each EI_CLASS: the bits; the fields e_machine, e_phoff, e_phentsize and e_phnum of the file's header; and the
# fields p_type, p_offset and p_filesz of a program header.
CLASSES = {
    1: (32, "18xH8xI10xHH", "II8xI12x"),
    2: (64, "18xH12xQ14xHH", "I4xQ16xQ16x"),
}
BYTE_ORDERS = {1: "<", 2: ">"}  # EI_DATA

# The names of e_machine, for every machine with a distribution of Linux.
MACHINES = {
    3: "x86",
    8: "MIPS",
    20: "PowerPC",
    21: "PowerPC64",
    22: "s390x",
    40: "ARM",
    62: "x86-64",
    183: "aarch64",
    243: "RISC-V",
    258: "LoongArch",
}


@dataclass(frozen=True)
class Elf:
    bits: int  # 32 or 64
    machine: int  # e_machine
    loader: str  # PT_INTERP: the program that loads this one and its libraries; empty if there is none

    @property
    def kind(self) -> str:
        """Return a description such as '64-bit x86-64'."""
        return f"{self.bits}-bit {MACHINES.get(self.machine, f'machine {self.machine}')}"


def read(path: Path) -> Elf | None:
    """Return the headers of a file, or None if the kernel would not recognise it as an ELF program."""
    with path.open("rb") as file:
        start = file.read(64)
        try:
            if start[:4] != b"\x7fELF":
                return None
            order = BYTE_ORDERS[start[5]]
            bits, header, program_header = CLASSES[start[4]]
            machine, table, size, count = struct.unpack_from(order + header, start)
            if size != struct.calcsize(program_header):
                return None
            file.seek(table)
            for kind, offset, length in struct.iter_unpack(order + program_header, file.read(size * count)):
                if kind == PT_INTERP:
                    file.seek(offset)
                    loader = file.read(min(length, 4096)).rstrip(b"\0")
                    return Elf(bits, machine, loader.decode(errors="replace"))
        except (LookupError, OSError, OverflowError, ValueError, struct.error):  # truncated, or with wild offsets
            return None
    return Elf(bits, machine, "")
