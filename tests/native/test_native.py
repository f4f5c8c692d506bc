# SPDX-License-Identifier: Apache-2.0
"""The C++ side: every program of tests/native, in several builds, each of which detects different mistakes.

Each flavour has a build folder, `build/tests-FLAVOUR`, and a second run compiles only what changed.
Each .cpp file in tests/native is a program: to add a test, add a file.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import processes
import pytest
from conftest import Shared

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "include"
NATIVE = ROOT / "tests" / "native"
PROGRAMS = sorted(source.stem for source in NATIVE.glob("*.cpp"))
HEADERS = sorted(str(h.relative_to(INCLUDE)) for h in INCLUDE.rglob("*.hpp"))

STRICT = ["-Wall", "-Wextra", "-Werror"]
SKIPPED = 77  # exit status of a program that cannot test its property on this machine
TIMEOUT = 300  # seconds for one program, which also has a shorter limit for each of its steps


@dataclass(frozen=True)
class Flavour:
    flags: str
    scale: float  # share of the rounds: sanitizers and emulators are slow
    environment: dict[str, str] = field(default_factory=dict)
    jitter: bool = False  # disturb the locks between any two steps
    cross: str = ""  # machine to build for


FLAVOURS = {
    "release": Flavour("-O2 -DNDEBUG", 1),
    "debug": Flavour("-O1", 0.5, jitter=True),
    "tsan": Flavour("-O1 -g1 -fsanitize=thread", 0.3, {"TSAN_OPTIONS": "halt_on_error=1 report_bugs=1"}),
    "asan": Flavour(
        "-O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all",
        0.5,
        {"ASAN_OPTIONS": "detect_stack_use_after_return=1", "UBSAN_OPTIONS": "print_stacktrace=1"},
        jitter=True,
    ),
    "aarch64": Flavour("-O2 -DNDEBUG", 0.02, {"FAIRLOCK_TEST_EMULATED": "1"}, cross="aarch64"),
}

# `make test-all` runs the other flavours: sanitizers and the emulator.
QUICK = ("release", "debug")
EXHAUSTIVE = [pytest.param(name, marks=pytest.mark.exhaustive) for name in FLAVOURS if name not in QUICK]


def run(
    command: list[str],
    timeout: float = TIMEOUT,
    environment: dict[str, str] | None = None,
    source: str = "",
) -> processes.Result:
    return processes.run(
        command,
        input=source,
        stderr=subprocess.STDOUT,
        timeout=timeout,
        env={**os.environ, **(environment or {})},
    )


@dataclass(frozen=True)
class Build:
    """A flavour that has been built."""

    folder: Path
    flavour: Flavour
    prefix: list[str]  # the command that starts a program, such as an emulator

    def start(self, program: str) -> processes.Result:
        binary = self.folder / "tests" / "native" / program
        command = [*self.prefix, str(binary), str(self.flavour.scale)]
        return run(command, environment=self.flavour.environment)


def cross_tools(machine: str) -> tuple[str, list[str]]:
    """Return the cross compiler, and the emulator's command."""
    cross = shutil.which(f"{machine}-linux-gnu-g++")
    if cross is None:
        pytest.skip(f"no {machine}-linux-gnu-g++ (on Debian: apt install g++-{machine}-linux-gnu)")
    emulator = shutil.which(f"qemu-{machine}") or shutil.which(f"qemu-{machine}-static")
    if emulator is None:
        pytest.skip(f"no qemu-{machine} (on Debian: apt install qemu-user)")
    return cross, [emulator, "-L", f"/usr/{machine}-linux-gnu"]


def without_address_randomisation(build: Build) -> Build:
    """ThreadSanitizer's older run-time libraries fail where the kernel scatters mappings widely."""
    probe = build.start("layout")
    if "unexpected memory mapping" not in probe.stdout:
        return build
    fixed = Build(build.folder, build.flavour, ["setarch", "--addr-no-randomize"])
    if shutil.which("setarch") is None or fixed.start("layout").returncode != 0:
        pytest.skip("ThreadSanitizer cannot run here: vm.mmap_rnd_bits is too large for it")
    return fixed


@pytest.fixture(scope="session")
def build(request: pytest.FixtureRequest, shared: Shared) -> Build:
    flavour = FLAVOURS[request.param]
    folder = ROOT / "build" / f"tests-{request.param}"
    options = {
        "FAIRLOCK_TESTS": "ON",
        "FAIRLOCK_PYTHON": "OFF",
        "FAIRLOCK_INSTALL": "OFF",
        "CMAKE_BUILD_TYPE": "None",  # the flags below and no others
        "CMAKE_CXX_FLAGS": f"{flavour.flags} -Werror",
        "FAIRLOCK_TEST_SCALE": str(flavour.scale),
        "FAIRLOCK_TEST_JITTER": "ON" if flavour.jitter else "OFF",
    }
    prefix: list[str] = []
    if flavour.cross:
        cross, prefix = cross_tools(flavour.cross)
        options |= {
            "CMAKE_SYSTEM_NAME": "Linux",
            "CMAKE_SYSTEM_PROCESSOR": flavour.cross,
            "CMAKE_CXX_COMPILER": cross,
            "CMAKE_CROSSCOMPILING_EMULATOR": ";".join(prefix),
        }
    configure = ["cmake", "-S", str(ROOT), "-B", str(folder), "-G", "Ninja"]
    configure += [f"-D{name}={value}" for name, value in options.items()]
    parallel = str(max(2, os.cpu_count() or 2))

    def compile_all(_: Path) -> None:
        for command in (configure, ["cmake", "--build", str(folder), "--parallel", parallel]):
            done = run(command, timeout=1200)
            if done.returncode != 0:
                pytest.fail(f"{shlex.join(command)}\n{done.stdout[-8000:]}", pytrace=False)

    shared.folder(f"native-{request.param}", compile_all)  # one worker compiles for all workers
    built = Build(folder, flavour, prefix)
    return without_address_randomisation(built) if request.param == "tsan" else built


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("build", [*QUICK, *EXHAUSTIVE], indirect=True)
def test_program(build: Build, program: str) -> None:
    try:
        done = build.start(program)
    except processes.HungError as hung:
        pytest.fail(f"{program}: {hung}", pytrace=False)
    if done.returncode == SKIPPED:
        pytest.skip(done.stdout.strip())
    if done.returncode != 0:
        text = f"{program} ended with status {done.returncode}\n{done.stdout[-8000:]}"
        pytest.fail(text, pytrace=False)


def compile_only(compiler: str, *arguments: str, source: str = "") -> tuple[bool, str]:
    command = [compiler, "-std=c++20", "-fsyntax-only", f"-I{INCLUDE}", *arguments]
    done = run(command, source=source)
    return done.returncode == 0, done.stdout


def compile_text(source: str, *flags: str) -> tuple[bool, str]:
    return compile_only(os.environ.get("CXX", "g++"), *flags, "-x", "c++", "-", source=source)


@pytest.mark.parametrize("header", HEADERS)
def test_header_stands_alone(header: str) -> None:
    compiled, output = compile_text(f"#include <{header}>\n", *STRICT, "-Wpedantic")
    assert compiled, output


# `make soak` builds these. No test has the time to run them.
SOAK = sorted((ROOT / "tests" / "soak").glob("*.cpp"))


@pytest.mark.parametrize("source", SOAK, ids=lambda source: source.stem)
def test_soak_compiles(source: Path) -> None:
    compiled, output = compile_only(os.environ.get("CXX", "g++"), "-Wall", "-Wextra", "-Werror", str(source))
    assert compiled, output


def machine_code(source: str) -> str:
    """Return the assembly of a program, with its local labels numbered in order of appearance."""
    compiler = os.environ.get("CXX", "g++")
    command = [compiler, "-std=c++20", "-O2", "-DNDEBUG", f"-I{INCLUDE}", "-S", "-o", "-", "-x", "c++", "-"]
    done = run(command, source=source)
    assert done.returncode == 0, done.stdout
    labels: dict[str, str] = {}
    return re.sub(r"\.L\w+", lambda label: labels.setdefault(label[0], f".L{len(labels)}"), done.stdout)


def test_statistics_cost_nothing_unless_used() -> None:
    """Including the header of statistics does not change the machine code of a lock without statistics."""
    headers = "#include <fairlock/catalogue.hpp>\n#include <fairlock/platform/native.hpp>\n"
    program = """
        using M = fairlock::Mutex<fairlock::TwaLock<fairlock::Native<>>>;
        void lock(M& mutex) { mutex.lock(); }
        bool try_lock_until(M& mutex) { return mutex.try_lock_until(1); }
        void unlock(M& mutex) { mutex.unlock(); }
    """
    without = machine_code(headers + program)
    assert "_Z4lock" in without
    assert machine_code(f"{headers}#include <fairlock/statistics.hpp>\n{program}") == without


@pytest.mark.slow
@pytest.mark.parametrize("source", ["catalogue", "variations"])
def test_clang_compiles_every_lock(source: str) -> None:
    if shutil.which("clang++") is None:
        pytest.skip("no clang++ (on Debian: apt install clang)")
    compiled, output = compile_only("clang++", *STRICT, str(NATIVE / "support" / f"{source}.cpp"))
    assert compiled, output


def platform_names() -> set[str]:
    """Return the names of the platform that the algorithms use."""
    text = "".join((INCLUDE / header).read_text(encoding="utf-8") for header in HEADERS)
    of_statistics = {"parks"}  # ParkCountingPlatform
    return set(re.findall(r"\b(?:P|Memory)::(?:template )?([a-z]\w*)", text)) - of_statistics


def test_the_contract_covers_every_name() -> None:
    text = (NATIVE / "platform.cpp").read_text(encoding="utf-8")
    assert platform_names() == set(re.findall(r"^LACKS(?:_TEMPLATE)?\((\w+)\)", text, re.MULTILINE))


def test_the_error_names_what_a_platform_lacks() -> None:
    templates = {"atomic", "plain", "scoped"}
    source = "#include <fairlock/fairlock.hpp>\nusing namespace fairlock;\n"
    for name in platform_names():
        member = f"template <class> class {name};" if name in templates else f"static void {name}();"
        source += f"struct Lacks_{name} : Native<> {{ private: {member} }};\nTasLock<Lacks_{name}> {name}_;\n"
    compiler = os.environ.get("CXX", "g++")
    errors = run([compiler, "-std=c++20", "-fsyntax-only", f"-I{INCLUDE}", "-x", "c++", "-"], source=source).stdout
    missing = set(re.findall(r"P::(?:template )?(\w+)[^\n]*is invalid", errors))
    missing |= set(re.findall(r"P::(?:template )?(\w+)[^\n]*does not satisfy", errors))
    assert platform_names() <= missing, errors


MISUSE = {
    "unknown name": ('mutex<"tikcet"> m;', "has no entry of this name"),
    "anderson for no threads": (
        "AndersonLock<Native<>, AndersonOptions{.threads = 0}> l;",
        "O.threads > 0",
    ),
    "anderson for three threads": (
        "AndersonLock<Native<>, AndersonOptions{.threads = 3}> l;",
        "O.threads - 1",
    ),
    "slots not a power of two": (
        "auto s = Native<Yield, DomainOptions{.slots = 100}>::slots();",
        "slots: a power of two",
    ),
    "too many lanes": (
        "auto s = Native<Yield, DomainOptions{.lanes = 128}>::slots();",
        "lanes: a power of two",
    ),
    "a platoon of no threads": (
        "SimplyWrapped<Native<>, TtsLock<Native<>>, CapacitorOptions{.platoon = 0}> l;",
        "platoon: at least one",
    ),
    "skip more often than always": (
        "SimplyWrapped<Native<>, TtsLock<Native<>>, CapacitorOptions{.skip = {101, 100}}> l;",
        "skip: a probability, from 0 to 1",
    ),
    "skip in no tries": (
        "SimplyWrapped<Native<>, TtsLock<Native<>>, CapacitorOptions{.skip = {0, 0}}> l;",
        "skip: a probability, from 0 to 1",
    ),
    "skip less often than never": (
        "SimplyWrapped<Native<>, TtsLock<Native<>>, CapacitorOptions{.skip = {-1, 100}}> l;",
        "narrowing",
    ),
    "three random lanes": (
        "SimplyWrapped<Native<>, TtsLock<Native<>>, CapacitorOptions{.lanes = 3}> l;",
        "lanes: a power of two",
    ),
    "activation over a lock without try": (
        "SimplyWrapped<Native<>, TidexLock<Native<>>, CapacitorOptions{.activate = true}> l;",
        "the inner lock needs try_acquire",
    ),
    "a semaphore of another size": (
        "Capacitor<Native<>, TicketSemaphore<Native<>>, TtsLock<Native<>>> l;",
        "a permit for each member of the platoon",
    ),
    "a timed mutex whose waiters cannot leave": ('timed_mutex<"mcs"> m;', "cannot leave"),
    "copy of a mutex": ('mutex<"twa"> a; mutex<"twa"> b(a);', "deleted"),
    "try_lock where there is none": ('void f(mutex<"tidex">& m) { m.try_lock(); }', "try_lock"),
}


@pytest.mark.parametrize("mistake", MISUSE)
def test_misuse_does_not_compile(mistake: str) -> None:
    code, message = MISUSE[mistake]
    source = f"#include <fairlock/fairlock.hpp>\nusing namespace fairlock;\n{code}\n"
    compiled, output = compile_text(source)
    assert not compiled, f"this compiled: {code}"
    assert message in output
