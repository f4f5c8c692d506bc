# SPDX-License-Identifier: Apache-2.0
"""fairlock run: an impossible request is refused with a one-line error."""

from __future__ import annotations

import os
import random
import shlex
import shutil
import stat
import struct
import sys
from pathlib import Path

import pytest
from running import (
    FAIRLOCK,
    Compile,
    call,
    compiler_in,
    copy_of_the_package,
    error_line,
    linux_only,
    output,
    run,
    script,
)

from fairlock import paths
from fairlock.run import elf, preload

pytestmark = linux_only


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    return compiler_in(tmp_path_factory.mktemp("programs"))


@pytest.mark.parametrize("lock", ["glibc", "all", "fair"])
def test_an_unknown_policy_is_refused_with_every_lock(lock: str) -> None:
    assert "unknown waiting policy 'bogus'" in error_line(run("--lock", lock, "--waiting", "bogus", "--", "true"))


@pytest.mark.parametrize("option", [("--seed", "0"), ("--timeout", "0"), ("--json", "")])
def test_an_option_without_its_mode_is_refused_even_if_it_is_zero_or_empty(option: tuple[str, str]) -> None:
    error_line(run(*option, "--", "true"))


def test_no_program() -> None:
    line = error_line(run())
    assert all(name in line for name in [*preload.locks(), *preload.waiting_policies()])
    error_line(run("--lock", "twa", "--"))


def test_unknown_names() -> None:
    line = error_line(run("--lock", "twaa", "ls"))
    assert "did you mean twa?" in line
    assert "glibc" in line
    assert "did you mean park?" in error_line(run("--waiting", "parc", "ls"))
    assert "unknown lock 'twaa'" in error_line(run("--lock", "fair,twaa", "ls"))
    assert "unknown lock 'twaa'" in error_line(run("--lock", "twaa", "--print"))


@pytest.mark.parametrize(
    "words",
    [["--json", "f", "ls"], ["--lock", "all", "--stats", "ls"], ["--repeat", "0", "ls"], ["--lock", "a,b", "--print"]],
    ids=" ".join,
)
def test_conflicting_options(words: list[str]) -> None:
    assert "--" in error_line(run(*words))


def test_a_missing_program(tmp_path: Path) -> None:
    (tmp_path / "here").touch()
    assert "on the PATH" in error_line(run("no-such-program"), 127)
    assert "did you mean ./here?" in error_line(run("here", cwd=tmp_path), 127)
    assert "/no/such/program" in error_line(run("/no/such/program"), 127)
    assert "''" in error_line(run("--", ""), 127)
    assert "on the PATH" in error_line(run("--lock", "glibc", "no-such-program"), 127)


def test_a_name_that_is_too_long() -> None:
    assert "there is no program" in error_line(run("--", "a" * 300), 127)


def test_a_file_that_is_busy(tmp_path: Path) -> None:
    busy = tmp_path / "busy"
    shutil.copy("/bin/true", busy)
    with busy.open("ab"):
        for words in ([], ["--stats"]):
            assert "could not start" in error_line(run(*words, "--", busy), 126)


def test_a_pipe_for_the_statistics_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "it is a pipe" in error_line(run("--stats", "--json", tmp_path / "pipe", "--", "true"))


def test_no_room_for_the_statistics(tmp_path: Path) -> None:
    bash = f"ulimit -f 0; cd /proc; exec {FAIRLOCK} run --stats -- true"
    assert "TMPDIR can name" in error_line(call("bash", "-c", bash))


def test_a_file_that_is_not_executable(tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    assert "chmod +x" in error_line(run("./data", cwd=tmp_path), 126)
    assert "chmod +x" in error_line(run("data", env={**os.environ, "PATH": f"/bin:{tmp_path}"}), 126)


def test_a_directory(tmp_path: Path) -> None:
    assert "is a directory" in error_line(run(tmp_path), 126)


def test_an_empty_file(tmp_path: Path) -> None:
    assert "is empty" in error_line(run(script(tmp_path / "empty", "")), 126)


def test_a_script_without_interpreter(tmp_path: Path) -> None:
    job = script(tmp_path / "some job", "echo done\n")
    line = error_line(run(job), 126)
    remedy = shlex.split(line.partition("fairlock run -- ")[2])
    assert output(run("--", *remedy)) == "done"
    assert "interpreter" in error_line(run(script(tmp_path / "job", "#!\necho\n")), 126)
    assert "interpreter" in error_line(run("--lock", "glibc", job), 126)


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("/no/such/sh -e", "'/no/such/sh'"),
        ("/usr/bin/env no-such-sh", "'no-such-sh'"),
        ("/usr/bin/env -S A=1 no-such-sh -e", "'no-such-sh'"),
        ("no-such-sh", "'./no-such-sh'"),
        ("/bin/sh\r", r"'/bin/sh\r'"),
    ],
    ids=["path", "env", "env -S", "no path", "line end of Windows"],
)
def test_a_script_with_a_missing_interpreter(line: str, named: str, tmp_path: Path) -> None:
    inner = script(tmp_path / "inner", f"#!{line}\n")
    outer = script(tmp_path / "outer", f"#!{inner}\n")
    for file in (inner, outer):
        assert named in error_line(run(file), 127)


def test_scripts_in_a_circle(tmp_path: Path) -> None:
    script(tmp_path / "one", f"#!{tmp_path}/two\n")
    script(tmp_path / "two", f"#!{tmp_path}/one\n")
    assert "circle" in error_line(run(tmp_path / "one"), 126)


@pytest.mark.parametrize("option", ["-static", "-static-pie"])
def test_a_static_program(option: str, compiled: Compile, tmp_path: Path) -> None:
    program = compiled(option, option)
    assert "linked statically" in error_line(run(program))
    assert "linked statically" in error_line(run(script(tmp_path / "script", f"#!{program}\n")))
    assert output(run("--lock", "glibc", program)) == ""


def test_a_setuid_program(compiled: Compile, tmp_path: Path) -> None:
    for bits, word in ((stat.S_ISUID, "setuid"), (stat.S_ISGID, "setgid")):
        program = Path(shutil.copy(compiled("plain"), tmp_path / word))
        assert output(run(program)) == ""
        program.chmod(0o755 | bits)
        assert f"is {word}" in error_line(run(program))


def test_file_capabilities(compiled: Compile, tmp_path: Path) -> None:
    program = Path(shutil.copy(compiled("plain"), tmp_path / "capable"))
    assert output(run(program)) == ""
    try:
        # cap_net_raw, permitted and effective: struct vfs_cap_data of revision 2
        os.setxattr(program, "security.capability", struct.pack("<5I", 0x02000001, 1 << 13, 0, 0, 0))
    except OSError as error:
        pytest.skip(f"a file can be given no capabilities here: {error}")
    assert "capabilities" in error_line(run(program))


def test_a_32_bit_program(compiled: Compile) -> None:
    program = compiled("short", "-m32", "-nostdlib", "-pie", "-e", "main", "-Wl,--dynamic-linker=/lib/ld-linux.so.2")
    assert "32-bit" in error_line(run(program))


@pytest.mark.parametrize("bits", [32, 64])
def test_a_program_for_another_machine(bits: int, tmp_path: Path) -> None:
    # The first bytes name the machine: a SPARC, which has the other byte order.
    start = b"\x7fELF" + bytes([bits // 32, 2, 1]) + bytes(9) + struct.pack(">HHI", 2, 43, 1)
    sizes = (32, 0) if bits == 32 else (56, 0)
    rest = struct.pack(">3II6H", 0, 52, 0, 0, 52, *sizes, 0, 0, 0) if bits == 32 else None
    program = tmp_path / "sparc"
    program.write_bytes(start + (rest or struct.pack(">3QI6H", 0, 64, 0, 0, 64, *sizes, 0, 0, 0)))
    program.chmod(0o755)
    assert f"{bits}-bit machine 43" in error_line(run(program))


def test_an_aarch64_program(compiled: Compile) -> None:
    ours = elf.read(preload.library("fair"))
    assert ours is not None
    if ours.machine == 183:
        pytest.skip("this is such a machine")
    assert "aarch64" in error_line(run(compiled("arm", compiler="aarch64-linux-gnu-gcc")))


@pytest.mark.parametrize(
    ("loader", "word"), [("/lib/ld-musl-x86_64.so.1", "musl"), ("/system/bin/linker64", "C library other than glibc")]
)
def test_another_c_library(loader: str, word: str, compiled: Compile) -> None:
    program = compiled(Path(loader).name, f"-Wl,--dynamic-linker={loader}")
    line = error_line(run(program))
    assert word in line
    assert loader in line
    assert loader in error_line(run("--lock", "glibc", program), 127)  # there is no such loader


def test_a_program_that_cannot_be_read(compiled: Compile, tmp_path: Path) -> None:
    program = Path(shutil.copy(compiled("plain"), tmp_path / "secret"))
    program.chmod(0o111)
    assert output(run(program)) == ""


def test_an_installation_without_locks(tmp_path: Path) -> None:
    folder = copy_of_the_package(tmp_path)
    line = error_line(call(sys.executable, "-S", "-m", "fairlock", "run", "ls", cwd=folder))
    assert "could not find the preloadable locks" in line
    assert "make build" in line


def test_an_installation_in_a_folder_with_a_space(tmp_path: Path) -> None:
    folder = copy_of_the_package(tmp_path / "some where")
    ours = preload.library("fair")
    (folder / "fairlock" / "preload" / ours.parent.name).mkdir(parents=True)
    shutil.copy(ours, folder / "fairlock" / "preload" / ours.parent.name)
    line = error_line(call(sys.executable, "-S", "-m", "fairlock", "run", "ls", cwd=folder))
    assert "a space or a colon" in line


def test_an_installation_without_statistics(tmp_path: Path) -> None:
    folder = copy_of_the_package(tmp_path)
    ours = folder / "fairlock" / "preload" / "sleeping"
    ours.mkdir(parents=True)
    shutil.copy(preload.library("fair"), ours)
    assert "--stats" in error_line(call(sys.executable, "-S", "-m", "fairlock", "run", "--stats", "ls", cwd=folder))


def test_broken_headers_raise_no_exception(compiled: Compile, tmp_path: Path) -> None:
    header = compiled("plain").read_bytes()[:4096]
    dice = random.Random(1)
    file = tmp_path / "broken"
    for _ in range(500):
        broken = bytearray(header[: dice.randrange(len(header))])
        for _ in range(dice.randrange(4)):
            if len(broken) > 4:
                broken[dice.randrange(4, min(len(broken), 600))] = dice.choice([0, 1, 2, 0x7F, 0xFF])
        file.write_bytes(broken)
        elf.read(file)  # any result will do, but no exception


@pytest.mark.parametrize("option", [("--lock", "mcs"), ("--waiting", "yield")], ids=" ".join)
def test_an_object_of_the_lab_is_refused_with_the_way_to_get_it(option: tuple[str, str], tmp_path: Path) -> None:
    folder = copy_of_the_package(tmp_path)
    shutil.copytree(paths.preload_dir(), folder / "fairlock" / "preload")
    line = error_line(call(sys.executable, "-S", "-m", "fairlock", "run", *option, "--", "ls", cwd=folder))
    assert f"'{option[1]}'" in line
    assert "the lab has more: pip install 'fairlock[lab]'" in line
