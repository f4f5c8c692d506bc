# SPDX-License-Identifier: Apache-2.0
"""fairlock run: the program has the lock, and else nothing of it changes; what would not work is told in one line."""

from __future__ import annotations

import os
import random
import shlex
import shutil
import signal
import stat
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import processes
import pytest

from fairlock import paths
from fairlock.run import elf, preload

ROOT = Path(__file__).resolve().parents[2]
FAIRLOCK = str(Path(sys.executable).with_name("fairlock"))

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="LD_PRELOAD with glibc is of Linux")

WHO = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
int main(int count, char** words) {
  const char* lock = dlsym(RTLD_DEFAULT, "fairlock_preload_lock");
  const char* waiting = dlsym(RTLD_DEFAULT, "fairlock_preload_waiting");
  printf("%s %s", lock ? lock : "glibc", waiting ? waiting : "-");
  for (int i = 1; i < count; ++i) printf(" [%s]", words[i]);
  printf("\n");
  return 0;
}
"""

Result = processes.Result
Compile = Callable[..., Path]


def call(*words: str | Path, **options: Any) -> Result:
    return processes.run([str(word) for word in words], **options)


def run(*words: str | Path, **options: Any) -> Result:
    return call(FAIRLOCK, "run", *words, **options)


def output(done: Result) -> str:
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


def refused(done: Result, status: int = 2) -> str:
    """Return the one line that it said."""
    assert done.returncode == status, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("fairlock: ")
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def script(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    folder = tmp_path_factory.mktemp("programs")

    def make(name: str, *options: str, compiler: str = "cc", source: str = "int main(void) { return 0; }") -> Path:
        if not shutil.which(compiler):
            pytest.skip(f"there is no {compiler}")
        file = folder / name
        if not file.exists():
            done = call(compiler, "-x", "c", "-", "-o", file, *options, input=source)
            if done.returncode:
                pytest.skip(f"{compiler} {' '.join(options)} does not work here: {done.stderr}")
        return file

    return make


@pytest.fixture
def who(compiled: Compile) -> Path:
    """A program that prints which lock is in its process, and its arguments."""
    return compiled("who", "-ldl", source=WHO)


# --- the lock is there ------------------------------------------------------------------------------------------------


def test_the_default_lock(who: Path) -> None:
    assert output(run("--", who)) == f"{preload.DEFAULT_LOCK} {preload.DEFAULT_WAITING}"


@pytest.mark.parametrize("lock", ["fair", "ticket", "twa", "hapax"])
def test_the_chosen_lock(lock: str, who: Path) -> None:
    assert output(run("--lock", lock, "--", who)) == f"{lock} {preload.DEFAULT_WAITING}"


def test_the_chosen_policy(who: Path) -> None:
    assert output(run("--lock", "twa", "--waiting", "park", "--", who)) == "twa park"


def test_glibc_is_no_replacement(who: Path) -> None:
    assert output(run("--lock", "glibc", "--", who)) == "glibc -"


@pytest.mark.parametrize("lock", ["glibc", "all", "fair"])
def test_a_policy_that_there_is_not_is_refused_with_every_lock(lock: str) -> None:
    assert "unknown waiting policy 'bogus'" in refused(run("--lock", lock, "--waiting", "bogus", "--", "true"))


def test_a_closed_output_is_the_programs_own_affair() -> None:
    assert call("sh", "-c", f"{FAIRLOCK} run -- sh -c 'exit 3' >&-").returncode == 3


def test_what_the_kernel_reads_of_a_first_line_ends_at_a_zero(tmp_path: Path) -> None:
    odd = script(tmp_path / "odd", "#!/bin/sh\0x\necho hi\n")
    assert output(run(odd)) == output(call(odd)) == "hi"


def test_an_env_that_will_complain_may_do_so(tmp_path: Path) -> None:
    assert run(script(tmp_path / "open", '#!/usr/bin/env -S "sh\n')).returncode == 125


@pytest.mark.parametrize("option", [("--seed", "0"), ("--timeout", "0"), ("--json", "")])
def test_an_option_of_others_is_refused_even_if_it_is_nothing(option: tuple[str, str]) -> None:
    refused(run(*option, "--", "true"))


def test_children_inherit_it(who: Path) -> None:
    command = f"(true; {who}) && exec {who}"
    assert output(run("--lock", "twa", "--", "sh", "-c", command)).splitlines() == ["twa spin-then-park"] * 2


def test_through_the_module(who: Path) -> None:
    assert output(call(sys.executable, "-m", "fairlock", "run", "--lock", "twa", who, cwd="/")) == "twa spin-then-park"


def test_scripts_and_what_they_lead_to(who: Path, tmp_path: Path) -> None:
    first = script(tmp_path / "first", f"#!/bin/sh\necho $0 $1; exec {who}\n")
    second = script(tmp_path / "second", f"#! {first} word\n")
    by_env = script(tmp_path / "by-env", f"#!/usr/bin/env -S A=1 sh -e\necho $0; exec {who}\n")
    assert output(run("--lock", "twa", second)).splitlines() == [f"{first} word", "twa spin-then-park"]
    assert output(run("--lock", "twa", "./by-env", cwd=tmp_path)).splitlines() == ["./by-env", "twa spin-then-park"]
    assert output(run("--lock", "twa", "env", "A=1", by_env)).splitlines() == [str(by_env), "twa spin-then-park"]


def test_a_program_that_the_loader_starts(who: Path) -> None:
    program = elf.read(who)
    assert program is not None
    assert output(run("--lock", "twa", "--", program.loader, who)) == "twa spin-then-park"


# --- and else nothing changes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "seen"),
    [
        (["--", "WHO", "--lock", "x", "--", "-h"], ["--lock", "x", "--", "-h"]),
        (["WHO", "--", "--version"], ["--", "--version"]),
        (["--lock=fair", "WHO", "--lock", "x y", ""], ["--lock", "x y", ""]),
    ],
    ids=["after two dashes", "without", "after an option"],
)
def test_arguments_are_the_programs(words: list[str], seen: list[str], who: Path) -> None:
    shown = "".join(f" [{word}]" for word in seen)
    assert output(run(*[who if word == "WHO" else word for word in words])) == f"fair spin-then-park{shown}"


def test_input_output_and_status() -> None:
    done = run("--", "sh", "-c", "cat; echo oops >&2; exit 7", input="some\ntext")
    assert (done.returncode, done.stdout, done.stderr) == (7, "some\ntext", "oops\n")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL], ids=lambda number: number.name)
def test_signals_are_the_programs(number: signal.Signals) -> None:
    words = [FAIRLOCK, "run", "--", "sh", "-c", "echo $$; exec sleep 60"]
    with processes.start(words) as process:
        assert process.stdout is not None
        assert int(process.stdout.readline()) == process.pid
        process.send_signal(number)
        assert process.wait() == -number


def test_signals_that_python_ignores_are_not_ignored() -> None:
    question = ["grep", "^Sig[BIC]", "/proc/self/status"]
    assert output(run("--", *question)) == output(call(*question))


@pytest.mark.parametrize("locale", [{}, {"LC_CTYPE": "C.UTF-8"}, {"LC_ALL": "C"}], ids=["none", "ctype", "all"])
def test_the_environment_stays(locale: dict[str, str]) -> None:
    before = {"PATH": os.environ["PATH"], "WORD": "a\nb \udcff", **locale}
    plain = output(call("env", "-0", env=before, errors="surrogateescape"))
    ours = output(run("--lock", "twa", "--", "env", "-0", env=before, errors="surrogateescape"))
    added = f"LD_PRELOAD={preload.library('twa')}"
    assert sorted(ours.split("\0")) == sorted([*plain.split("\0"), added])
    assert output(run("--lock", "glibc", "--", "env", "-0", env=before, errors="surrogateescape")) == plain


# --- with other things in LD_PRELOAD ----------------------------------------------------------------------------------


def preloaded(*words: str | Path, **options: Any) -> list[str]:
    done = run(*words, "--", "sh", "-c", 'echo "$LD_PRELOAD"', **options)
    return [word for word in output(done).split(":") if word]


def test_objects_of_others_stay_behind_ours(compiled: Compile) -> None:
    other = compiled("other.so", "-shared", "-fPIC", source="int of_another;")
    environment = {**os.environ, "LD_PRELOAD": f"{other} "}
    assert preloaded("--lock", "twa", env=environment) == [str(preload.library("twa")), str(other)]
    assert preloaded("--lock", "glibc", env=environment) == [str(other)]


def test_of_nested_runs_the_inner_one_wins(who: Path, tmp_path: Path) -> None:
    outer = ["--lock", "twa", "--", FAIRLOCK, "run"]
    assert preloaded(*outer, "--lock", "ticket") == [str(preload.library("ticket"))]
    assert preloaded(*outer, "--lock", "glibc") == []
    assert output(run(*outer, "--lock", "ticket", "--", who)) == "ticket spin-then-park"
    copy = shutil.copy(preload.library("twa"), tmp_path / "copy.so")  # of another installation
    assert preloaded(env={**os.environ, "LD_PRELOAD": str(copy)}) == [str(preload.library("fair"))]


# --- --print and --list -----------------------------------------------------------------------------------------------


def test_print_is_for_use_by_hand(who: Path) -> None:
    line = output(run("--lock", "twa", "--print"))
    assert output(call("sh", "-c", f"env {line} {who}")) == "twa spin-then-park"
    line = output(run("--lock", "twa", "--print", "--", who, "a b"))
    assert output(call("sh", "-c", line)) == "twa spin-then-park [a b]"
    assert output(run("--lock", "glibc", "--print")) == ""
    environment = {**os.environ, "LD_PRELOAD": str(preload.library("fair"))}
    assert output(run("--lock", "glibc", "--print", env=environment)) == "LD_PRELOAD="


def test_a_name_that_is_no_text() -> None:
    name = b"\xff".decode(errors="surrogateescape")
    done = run("--lock", "twa", "--print", "--", "echo", name, errors="surrogateescape")
    assert (done.returncode, done.stdout.split()[-1]) == (0, f"'{name}'")


def test_list_has_all_of_them() -> None:
    text = output(run("--list"))
    for waiting in preload.waitings():
        (line,) = (line for line in text.splitlines() if line.startswith(f"{waiting} "))
        assert line.split(maxsplit=1)[1].split(", ") == preload.locks(waiting)


def test_a_full_disk_is_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        done = run("--list", stdout=full)
    assert (done.returncode, done.stderr) == (1, "fairlock: cannot write the output: No space left on device\n")


# --- --stats: what they tell is in test_stats.py ----------------------------------------------------------------------


@pytest.fixture
def stats() -> Path:
    file = paths.preload_dir() / "stats.so"
    if not file.exists():
        pytest.skip("this build has no stats.so")
    return file


@pytest.mark.parametrize("lock", ["twa", "glibc"])
def test_statistics_stand_in_front(lock: str, stats: Path, who: Path) -> None:
    done = run("--lock", lock, "--stats", "--", "sh", "-c", f'{who}; echo "$LD_PRELOAD"; kill -TERM $$')
    ours = [stats] if lock == "glibc" else [stats, preload.library(lock)]
    assert done.stdout.splitlines()[0].split()[0] == lock
    assert done.stdout.splitlines()[1] == ":".join(map(str, ours))
    assert done.returncode == 128 + signal.SIGTERM


def test_an_inner_run_is_not_counted(stats: Path) -> None:
    inner = [FAIRLOCK, "run", "--lock", "ticket", "--", "sh", "-c", 'echo "$LD_PRELOAD"']
    assert run("--stats", "--", *inner).stdout.strip() == str(preload.library("ticket"))


# --- what is refused --------------------------------------------------------------------------------------------------


def test_no_program() -> None:
    line = refused(run())
    assert all(name in line for name in [*preload.locks(), *preload.waitings()])
    refused(run("--lock", "twa", "--"))


def test_unknown_names() -> None:
    line = refused(run("--lock", "twaa", "ls"))
    assert "did you mean twa?" in line
    assert "glibc" in line
    assert "did you mean park?" in refused(run("--waiting", "parc", "ls"))
    assert "unknown lock 'twaa'" in refused(run("--lock", "fair,twaa", "ls"))
    assert "unknown lock 'twaa'" in refused(run("--lock", "twaa", "--print"))


@pytest.mark.parametrize(
    "words",
    [["--json", "f", "ls"], ["--lock", "all", "--stats", "ls"], ["--repeat", "0", "ls"], ["--lock", "a,b", "--print"]],
    ids=" ".join,
)
def test_options_that_do_not_go_together(words: list[str]) -> None:
    assert "--" in refused(run(*words))


@pytest.mark.parametrize(
    "words",
    [["-S", "echo hi"], ["-S", "echo ${A}", "hi"], ["PATH=/usr/bin:/bin", "echo", "hi"], ["-u", "PATH", "echo", "hi"]],
    ids=str,
)
def test_what_env_would_start_is_started(words: list[str]) -> None:
    assert output(run("--", "env", *words, env={**os.environ, "A": ""})).split() == ["hi"]


def test_a_missing_program(tmp_path: Path) -> None:
    (tmp_path / "here").touch()
    assert "on the PATH" in refused(run("no-such-program"), 127)
    assert "did you mean ./here?" in refused(run("here", cwd=tmp_path), 127)
    assert "/no/such/program" in refused(run("/no/such/program"), 127)
    assert "''" in refused(run("--", ""), 127)
    assert "on the PATH" in refused(run("--lock", "glibc", "no-such-program"), 127)


def test_a_name_that_is_too_long() -> None:
    assert "there is no program" in refused(run("--", "a" * 300), 127)


def test_a_file_that_is_busy(tmp_path: Path) -> None:
    busy = tmp_path / "busy"
    shutil.copy("/bin/true", busy)
    with busy.open("ab"):
        for words in ([], ["--stats"]):
            assert "could not start" in refused(run(*words, "--", busy), 126)


def test_a_pipe_for_the_statistics_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "it is a pipe" in refused(run("--stats", "--json", tmp_path / "pipe", "--", "true"))


def test_no_room_for_the_statistics(tmp_path: Path) -> None:
    bash = f"ulimit -f 0; cd /proc; exec {FAIRLOCK} run --stats -- true"
    assert "TMPDIR can name" in refused(call("bash", "-c", bash))


def test_a_file_that_is_not_executable(tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    assert "chmod +x" in refused(run("./data", cwd=tmp_path), 126)
    assert "chmod +x" in refused(run("data", env={**os.environ, "PATH": f"/bin:{tmp_path}"}), 126)


def test_a_directory(tmp_path: Path) -> None:
    assert "is a directory" in refused(run(tmp_path), 126)


def test_an_empty_file(tmp_path: Path) -> None:
    assert "is empty" in refused(run(script(tmp_path / "empty", "")), 126)


def test_a_script_without_interpreter(tmp_path: Path) -> None:
    job = script(tmp_path / "some job", "echo done\n")
    line = refused(run(job), 126)
    remedy = shlex.split(line.partition("fairlock run -- ")[2])
    assert output(run("--", *remedy)) == "done"
    assert "interpreter" in refused(run(script(tmp_path / "job", "#!\necho\n")), 126)
    assert "interpreter" in refused(run("--lock", "glibc", job), 126)


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
    for each in (inner, outer):
        assert named in refused(run(each), 127)


def test_scripts_in_a_circle(tmp_path: Path) -> None:
    script(tmp_path / "one", f"#!{tmp_path}/two\n")
    script(tmp_path / "two", f"#!{tmp_path}/one\n")
    assert "circle" in refused(run(tmp_path / "one"), 126)


@pytest.mark.parametrize("option", ["-static", "-static-pie"])
def test_a_static_program(option: str, compiled: Compile, tmp_path: Path) -> None:
    program = compiled(option, option)
    assert "linked statically" in refused(run(program))
    assert "linked statically" in refused(run(script(tmp_path / "script", f"#!{program}\n")))
    assert output(run("--lock", "glibc", program)) == ""


def test_a_setuid_program(compiled: Compile, tmp_path: Path) -> None:
    for bits, word in ((stat.S_ISUID, "setuid"), (stat.S_ISGID, "setgid")):
        program = Path(shutil.copy(compiled("plain"), tmp_path / word))
        assert output(run(program)) == ""
        program.chmod(0o755 | bits)
        assert f"is {word}" in refused(run(program))


def test_file_capabilities(compiled: Compile, tmp_path: Path) -> None:
    program = Path(shutil.copy(compiled("plain"), tmp_path / "capable"))
    assert output(run(program)) == ""
    try:
        # cap_net_raw, permitted and effective: struct vfs_cap_data of revision 2
        os.setxattr(program, "security.capability", struct.pack("<5I", 0x02000001, 1 << 13, 0, 0, 0))
    except OSError as error:
        pytest.skip(f"a file can be given no capabilities here: {error}")
    assert "capabilities" in refused(run(program))


def test_a_32_bit_program(compiled: Compile) -> None:
    program = compiled("short", "-m32", "-nostdlib", "-pie", "-e", "main", "-Wl,--dynamic-linker=/lib/ld-linux.so.2")
    assert "32-bit" in refused(run(program))


@pytest.mark.parametrize("bits", [32, 64])
def test_a_program_for_another_machine(bits: int, tmp_path: Path) -> None:
    # All that tells is in the first bytes: a SPARC, which sorts its bytes the other way.
    start = b"\x7fELF" + bytes([bits // 32, 2, 1]) + bytes(9) + struct.pack(">HHI", 2, 43, 1)
    sizes = (32, 0) if bits == 32 else (56, 0)
    rest = struct.pack(">3II6H", 0, 52, 0, 0, 52, *sizes, 0, 0, 0) if bits == 32 else None
    program = tmp_path / "sparc"
    program.write_bytes(start + (rest or struct.pack(">3QI6H", 0, 64, 0, 0, 64, *sizes, 0, 0, 0)))
    program.chmod(0o755)
    assert f"{bits}-bit machine 43" in refused(run(program))


def test_an_aarch64_program(compiled: Compile) -> None:
    ours = elf.read(preload.library("fair"))
    assert ours is not None
    if ours.machine == 183:
        pytest.skip("this is such a machine")
    assert "aarch64" in refused(run(compiled("arm", compiler="aarch64-linux-gnu-gcc")))


@pytest.mark.parametrize(
    ("loader", "word"), [("/lib/ld-musl-x86_64.so.1", "musl"), ("/system/bin/linker64", "another C library")]
)
def test_another_c_library(loader: str, word: str, compiled: Compile) -> None:
    program = compiled(Path(loader).name, f"-Wl,--dynamic-linker={loader}")
    line = refused(run(program))
    assert word in line
    assert loader in line
    assert loader in refused(run("--lock", "glibc", program), 127)  # there is no such loader


def test_a_program_that_cannot_be_read(compiled: Compile, tmp_path: Path) -> None:
    program = Path(shutil.copy(compiled("plain"), tmp_path / "secret"))
    program.chmod(0o111)
    assert output(run(program)) == ""


def copy_of_the_package(folder: Path) -> Path:
    shutil.copytree(
        ROOT / "fairlock", folder / "fairlock", ignore=shutil.ignore_patterns("*.so", "preload", "__pycache__")
    )
    return folder


def test_an_installation_without_locks(tmp_path: Path) -> None:
    folder = copy_of_the_package(tmp_path)
    line = refused(call(sys.executable, "-S", "-m", "fairlock", "run", "ls", cwd=folder))
    assert "could not find the preloadable locks" in line
    assert "make build" in line


def test_an_installation_in_a_folder_with_a_space(tmp_path: Path) -> None:
    folder = copy_of_the_package(tmp_path / "some where")
    ours = preload.library("fair")
    (folder / "fairlock" / "preload" / ours.parent.name).mkdir(parents=True)
    shutil.copy(ours, folder / "fairlock" / "preload" / ours.parent.name)
    line = refused(call(sys.executable, "-S", "-m", "fairlock", "run", "ls", cwd=folder))
    assert "spaces" in line


def test_an_installation_without_statistics(tmp_path: Path) -> None:
    folder = copy_of_the_package(tmp_path)
    ours = folder / "fairlock" / "preload" / preload.DEFAULT_WAITING
    ours.mkdir(parents=True)
    shutil.copy(preload.library("fair"), ours)
    assert "--stats" in refused(call(sys.executable, "-S", "-m", "fairlock", "run", "--stats", "ls", cwd=folder))


def test_broken_headers_are_no_surprise(compiled: Compile, tmp_path: Path) -> None:
    whole = compiled("plain").read_bytes()[:4096]
    dice = random.Random(1)
    file = tmp_path / "broken"
    for _ in range(500):
        broken = bytearray(whole[: dice.randrange(len(whole))])
        for _ in range(dice.randrange(4)):
            if len(broken) > 4:
                broken[dice.randrange(4, min(len(broken), 600))] = dice.choice([0, 1, 2, 0x7F, 0xFF])
        file.write_bytes(broken)
        elf.read(file)  # whatever it says, it says something


# --- --python ---------------------------------------------------------------------------------------------------------

REPLACED = """
import ctypes, sys, threading
lock = ctypes.string_at(ctypes.addressof(ctypes.c_char.in_dll(ctypes.CDLL(None), "fairlock_preload_lock"))).decode()
print(lock, threading.Lock.__module__, sys.argv[1:])
"""

SPAWNING = """
import multiprocessing, threading
def show(): print(threading.Lock.__module__, flush=True)
if __name__ == "__main__":
    for how in ("spawn", "forkserver", "fork"):
        process = multiprocessing.get_context(how).Process(target=show)
        process.start()
        process.join()
"""

PATHS = "import sys; print(sys.path, sys.argv, sys.flags, 'sitecustomize' in sys.modules)"


def run_python(*words: str | Path, **options: Any) -> Result:
    """Not from the clone: there, the sources hide the package."""
    return run("--python", "--lock", "twa", "--", *words, **{"cwd": "/", **options})


@pytest.fixture(scope="session")
def another(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment of the same Python, without fairlock."""
    folder = tmp_path_factory.mktemp("another")
    assert call(sys.executable, "-m", "venv", "--without-pip", folder).returncode == 0
    return folder / "bin" / "python"


def test_python_is_asked_for(tmp_path: Path) -> None:
    words = ["--", sys.executable, "-c", "import threading; print(threading.Lock.__module__)"]
    assert output(run(*words, cwd="/")) == "_thread"
    assert output(run("--python", *words, cwd="/")) == "fairlock"
    assert output(run("--python", "--lock", "glibc", *words, cwd="/")) == "fairlock"


def test_python_in_all_ways_to_start_it(tmp_path: Path) -> None:
    file = tmp_path / "app.py"
    file.write_text(REPLACED)
    executable = script(tmp_path / "tool", f"#!{sys.executable} -u\n{REPLACED}")
    by_env = script(tmp_path / "by-env", f"#!/usr/bin/env python\n{REPLACED}")
    by_shell = script(tmp_path / "by-shell", f'#!/bin/sh\nexec {sys.executable} {file} "$@"\n')
    path = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    ways: list[list[str | Path]] = [
        [sys.executable, file],
        [sys.executable, "-W", "error", "-c", REPLACED],
        [sys.executable, "-m", "app"],
        ["python", file],
        [executable],
        [by_env],
        [by_shell],
        ["env", "A=1", by_env],
    ]
    for words in ways:
        assert output(run_python(*words, "-I", "x", cwd=tmp_path, env=path)) == "twa fairlock ['-I', 'x']"


def test_python_in_processes_that_it_starts(tmp_path: Path) -> None:
    file = tmp_path / "app.py"
    file.write_text(SPAWNING)
    assert output(run_python(sys.executable, file)).split() == ["fairlock"] * 3


def test_python_sees_the_same_of_itself(tmp_path: Path) -> None:
    file = tmp_path / "app.py"
    file.write_text(PATHS)
    for words in ([file], ["-P", file], ["-c", PATHS], ["-m", "app"]):
        for extra in ({}, {"PYTHONPATH": f"{tmp_path}:/no/where:"}):
            options = {"cwd": tmp_path, "env": {**os.environ, **extra}}
            plain = call(sys.executable, *words, "x", **options)
            ours = run_python(sys.executable, *words, "x", **options)
            assert output(ours).replace("True", "False") == output(plain).replace("True", "False")


def test_the_sitecustomize_of_others_is_run(tmp_path: Path) -> None:
    other = tmp_path / "sitecustomize.py"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    words = [sys.executable, "-c", "import sys, sitecustomize; print(sys.seen, getattr(sitecustomize, '__file__', ''))"]
    for text in ("", "import nonsense", "1 / 0"):
        other.write_text(f"import sys, threading\nsys.seen = threading.Lock.__module__\n{text}\n")
        plain, ours = call(*words, env=environment), run_python(*words, env=environment)
        assert ours.returncode == plain.returncode
        assert ours.stdout == plain.stdout.replace("_thread", "fairlock")
        assert ours.stderr.splitlines()[-1:] == plain.stderr.splitlines()[-1:]


def test_another_environment_borrows_ours(another: Path) -> None:
    alone = call(another, "-c", "import fairlock", cwd="/")
    assert "ModuleNotFoundError" in alone.stderr
    assert output(run_python(another, "-c", REPLACED)) == "twa fairlock []"


def test_a_fairlock_that_does_not_work_is_no_hindrance(another: Path, tmp_path: Path) -> None:
    broken = tmp_path / "fairlock"
    broken.mkdir()
    (broken / "__init__.py").write_text("import fairlock.adopt\n")
    (broken / "adopt.py").touch()
    hook = paths.preload_dir().parent / "python_hook"
    words = "import fairlock, threading; print(threading.Lock.__module__, fairlock.__file__)"
    done = call(another, "-c", words, env={**os.environ, "PYTHONPATH": f"{hook}:{tmp_path}"}, cwd="/")
    assert output(done) == f"fairlock {hook.parent / '__init__.py'}"


def test_a_python_that_cannot_have_it(tmp_path: Path) -> None:
    python = script(tmp_path / "python9", "#!/bin/sh\necho 9.8.7\nexit 1\n")
    tool = script(tmp_path / "tool", f"#!{python}\n")
    for words in ([python, "app.py"], [tool], ["env", tool]):
        line = refused(run_python(*words))
        assert f"{python} (Python 9.8.7)" in line
        assert "pip install fairlock" in line


def test_a_later_python_without_it_goes_on(another: Path, tmp_path: Path) -> None:
    # A package without the native module, as it looks to a Python of another version.
    folder = copy_of_the_package(tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(folder / "fairlock" / "python_hook")}
    words = "import sys, threading; print(threading.Lock.__module__, 'fairlock' in sys.modules)"
    done = call(another, "-c", words, env=environment, cwd="/")
    assert (done.returncode, done.stdout) == (0, "_thread False\n")
    assert done.stderr.startswith(f"fairlock: {another} (Python ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "options", [["-I"], ["-E"], ["-S"], ["-uES"], ["-X", "dev", "-Wignore", "-I"], ["-sI"]], ids=str
)
def test_options_that_make_python_deaf(options: list[str], tmp_path: Path) -> None:
    assert "leave out -" in refused(run_python(sys.executable, *options, "-c", "print('half')"))
    if len(options) == 1:
        tool = script(tmp_path / "tool", f"#!{sys.executable} {options[0]}\nprint('half')\n")
        assert "leave out -" in refused(run_python(tool))
    assert output(run(sys.executable, *options, "-c", "print('whole')")) == "whole"


def test_a_deaf_python_behind_env_or_another_name(tmp_path: Path) -> None:
    snake = tmp_path / "snake"
    snake.symlink_to(sys.executable)
    for words in (["env", "-u", "X", "--", "A=1", sys.executable], ["env", "--unset=X", sys.executable], [snake]):
        assert "leave out -I" in refused(run_python(*words, "-I", "-c", "print('half')"))


@pytest.mark.parametrize(
    "words", [["-cpass"], ["-c", "pass", "-I"], ["-XI", "-c", "pass"], ["-", "-I"], ["-um", "this", "-S"]], ids=str
)
def test_options_that_only_look_so(words: list[str]) -> None:
    assert run_python(sys.executable, *words, stdin=subprocess.DEVNULL).returncode == 0


def test_of_nested_runs_the_inner_one_says_whether_python() -> None:
    ask = [sys.executable, "-c", "import os, threading; print(threading.Lock.__module__, os.getenv('PYTHONPATH'))"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    inner = run_python(FAIRLOCK, "run", "--", *ask, env=environment)
    assert output(inner) == "_thread None"
    both = run_python(FAIRLOCK, "run", "--python", "--", *ask, env={**environment, "PYTHONPATH": "/no/where"})
    kind, path = output(both).split()
    assert kind == "fairlock"
    assert [Path(folder).name for folder in path.split(":")] == ["python_hook", "where"]


def test_print_with_python() -> None:
    line = output(run("--python", "--print", "--", sys.executable, "-c", REPLACED, cwd="/"))
    assert output(call("sh", "-c", line, cwd="/")) == "fair fairlock []"
