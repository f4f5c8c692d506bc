# SPDX-License-Identifier: Apache-2.0
from typing import Literal, TypedDict

Memory = Literal["sc", "weak"]
Scenario = Literal[
    "rounds", "try", "timed", "oblivious", "several", "destroy",
    "timed-destroy",
    "full-table",
    "interrupt",
    "wrap",
    "permits", "posts", "timed-permits", "timed-posts", "timed-batch", "timed-away",
    "notify", "notify-all", "notify-timed", "notify-destroy", "record",
]  # fmt: skip

class Properties(TypedDict):
    kind: Literal["lock", "semaphore"]
    name: str
    algorithm: str
    variation: bool
    source: str
    spinning: str
    order: Literal["fifo", "bounded", "at-head", "while-saturated", "barging", "lifo", "platoon", "long-term"]
    bypass: int | None
    waiting_array: bool
    parkable: bool
    destroyable_by_next_owner: bool
    max_threads: int | None
    space: str

class Semaphore(Properties):
    semaphore_bytes: int

class Condition(TypedDict):
    kind: Literal["condition"]
    name: str
    variation: bool
    source: str
    spinning: str
    order: Literal["fifo"]
    over: str
    destroyable_when_notified: bool
    condition_bytes: int

class Lock(Properties):
    platoon: int | None
    constant_time_release: bool
    context_free: bool
    on_stack: bool
    nodes_circulate: bool
    constructor_or_destructor: bool
    thread_exit_work: bool
    dynamic_memory: bool
    try_lock: bool
    thread_oblivious: bool
    abandonable: bool
    preloadable: bool
    lock_bytes: int
    episode_bytes: int
    mutex_bytes: int
    paper_branches: str
    paper_misses: str
    paper_invalidations: str

Entry = Lock | Semaphore | Condition

class Subject(TypedDict):
    name: str
    algorithm: str
    variation: bool
    waiting_array: bool
    sleeping: bool
    max_threads: int | None
    scenarios: list[Scenario]

class Mutant(TypedDict):
    name: str
    lock: str
    what: str

class Litmus(TypedDict):
    name: str
    what: str
    memory: Memory
    expected: bool
    found: bool
    states: int
    complete: bool

class Verdict(TypedDict):
    property: str | None
    what: str

class Result(Verdict):
    states: int
    complete: bool
    seconds: float
    schedule: str

class Replay(Verdict):
    lines: list[str]
    skipped: int

class Traces(Verdict):
    executions: int
    complete: bool
    schedule: str
    traces: set[int]

class Moment(TypedDict):
    action: str
    owner: str
    waiting: list[tuple[str, str]]
    values: list[str]
    operations: list[str]

class Story(TypedDict):
    fields: list[str]
    moments: list[Moment]

scenarios: tuple[Scenario, ...]

def locks() -> list[Lock]: ...
def semaphores() -> list[Semaphore]: ...
def conditions() -> list[Condition]: ...
def subjects() -> list[Subject]: ...
def mutants() -> list[Mutant]: ...
def litmus() -> list[Litmus]: ...
def explain(name: str) -> Story: ...
def replay(
    name: str,
    scenario: str,
    threads: int,
    episodes: int,
    slots: int,
    memory: str,
    mutant: str,
    schedule: str,
) -> Replay: ...

class Check:
    def __init__(
        self,
        name: str,
        scenario: str = ...,
        threads: int = ...,
        episodes: int = ...,
        slots: int = ...,
        memory: str = ...,
        mutant: str = ...,
        max_states: int = ...,
    ) -> None: ...
    def run(self) -> Result: ...
    def traces(self, reduce: bool) -> Traces: ...
    def cancel(self) -> None: ...
    @property
    def states(self) -> int: ...
