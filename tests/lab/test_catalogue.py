# SPDX-License-Identifier: Apache-2.0
"""`fairlock list` and `fairlock explain`."""

from __future__ import annotations

import json

import pytest
from conftest import Command

from fairlock_lab import _native, entries

CATALOGUE = {entry["name"]: entry for entry in _native.locks()}
EVERYTHING = {entry["name"]: entry for entry in entries.entries(variations=True)}


def text_of(fairlock: Command, *arguments: str) -> str:
    done = fairlock(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_all_locks_of_the_family_are_there() -> None:
    names = [name for name, entry in CATALOGUE.items() if not entry["variation"]]
    assert names == [
        "tas", "tts", "tts-backoff", "ticket", "ticket-backoff", "partitioned-ticket", "anderson",
        "twa", "tidex", "hapax", "hapax-vw", "mcs", "clh", "hemlock", "reciprocating", "lifo", "qspinlock", "fair",
        "capacitor-reciprocating", "capacitor-ticket", "capacitor-lifo", "capacitor-mcs", "capacitor-tts",
        "capacitor-reciprocating-fractional", "capacitor-ticket-fractional", "capacitor-lifo-fractional",
        "capacitor-mcs-fractional", "capacitor-tts-fractional",
    ]  # fmt: skip


def test_list_shows_every_lock_and_agrees_with_its_json(fairlock: Command) -> None:
    text = text_of(fairlock, "list")
    entries = json.loads(text_of(fairlock, "list", "--json"))
    first_words = [line.split()[0] for line in text.splitlines() if line.strip()]
    conditions = _native.conditions()
    names = [entry["name"] for entry in entries]
    assert [word for word in first_words if word in names] == [*names[: -len(conditions)], "condition", "condition"]
    assert entries == [*(entry for entry in EVERYTHING.values() if not entry["variation"]), *conditions]
    assert len(json.loads(text_of(fairlock, "list", "--all", "--json"))) == len(EVERYTHING) + len(conditions)


def test_list_of_one_lock_tells_all_of_it(fairlock: Command) -> None:
    text = text_of(fairlock, "list", "twa")
    for key in CATALOGUE["twa"]:
        assert key.replace("_", " ") in text


def test_properties_agree_with_the_paper() -> None:
    """Table 2 of the Hapax paper, as far as it is about the algorithm and not about one implementation."""
    constant_time = {"clh", "ticket", "twa", "reciprocating", "tidex", "hapax", "hapax-vw"}
    context_free = {"hemlock", "ticket", "twa"}
    for name in ("mcs", "clh", "hemlock", "ticket", "twa", "reciprocating", "tidex", "hapax", "hapax-vw"):
        entry = CATALOGUE[name]
        assert entry["constant_time_release"] == (name in constant_time)
        assert entry["context_free"] == (name in context_free)
        assert (entry["order"] == "fifo") == (name != "reciprocating")
        assert entry["nodes_circulate"] == (name == "clh")
        assert entry["constructor_or_destructor"] == (name == "clh")
        assert entry["try_lock"] == (name != "tidex")


def test_sizes_are_those_of_the_paper() -> None:
    """In words of eight bytes: one for HemLock, two for the ticket and the hapax families."""
    assert CATALOGUE["hemlock"]["lock_bytes"] == 8
    for name in ("ticket", "twa", "tidex", "hapax", "hapax-vw"):
        assert CATALOGUE[name]["lock_bytes"] == 16
    assert CATALOGUE["qspinlock"]["lock_bytes"] == 4


@pytest.mark.parametrize("name", list(EVERYTHING))
def test_everything_can_be_explained(name: str) -> None:
    story = _native.explain(name)
    actions = [moment["action"] for moment in story["moments"]]
    assert actions[:3] == ["no thread is here", "A arrives and enters", "B arrives and waits"]
    assert len(story["fields"]) > 0
    assert all(len(moment["values"]) == len(story["fields"]) for moment in story["moments"])
    owners = {moment["owner"] for moment in story["moments"]} - {""}
    assert owners == ({"A", "B"} if EVERYTHING[name]["max_threads"] == 2 else {"A", "B", "C"})
    assert story["moments"][-1]["owner"] == ""
    assert not story["moments"][-1]["waiting"]


def column(name: str, field: str) -> list[str]:
    story = _native.explain(name)
    index = story["fields"].index(field)
    return [moment["values"][index] for moment in story["moments"]]


def test_tidex_goes_through_the_steps_of_the_papers_table() -> None:
    changes = {"arrive": ["0", "A", "B", "C", "C'"], "depart": ["0", "A", "B", "C", "C'"]}
    for field, expected in changes.items():
        assert list(dict.fromkeys(column("tidex", field))) == expected


def test_twa_successor_is_near_and_the_next_is_far() -> None:
    waits = [dict(moment["waiting"]) for moment in _native.explain("twa")["moments"]]
    assert waits[3]["B"] == "grant"
    assert waits[3]["C"].startswith("counter[")
    assert {"C": "grant"} in waits  # it moved up when A left


def test_visible_waiters_hand_over_without_touching_depart() -> None:
    story = _native.explain("hapax-vw")
    departs = column("hapax-vw", "depart")
    entries = [i for i, moment in enumerate(story["moments"]) if moment["action"] in ("B enters", "C enters")]
    assert len(entries) == 2
    assert {departs[i] for i in entries} == {"0"}


def test_capacitors_promise_what_their_form_can_keep() -> None:
    capacitors = [entry for entry in CATALOGUE.values() if entry["algorithm"] == "capacitor"]
    for entry in capacitors:
        by_chance = any(form in entry["name"] for form in ("fractional", "activated", "random"))
        assert entry["platoon"] is not None
        assert (entry["order"], entry["bypass"]) == (
            ("long-term", None) if by_chance else ("platoon", entry["platoon"] - 1)
        )
        assert entry["destroyable_by_next_owner"] == ("late-depart" not in entry["name"])
    assert {entry["platoon"] for entry in capacitors if not entry["variation"]} == {10}


def test_a_platoon_closes_and_the_next_one_waits(fairlock: Command) -> None:
    waits = [dict(moment["waiting"]) for moment in _native.explain("capacitor-tts/platoon-2")["moments"]]
    assert waits[3] == {"B": "inner.word", "C": "grant"}
    assert list(dict.fromkeys(column("capacitor-tts/platoon-2", "departed"))) == ["0", "1"]
    text = text_of(fairlock, "explain", "capacitor-tts")
    assert "at most 9 in all" in text
    assert "platoons of 10" in text
    assert "fair in the long run" in text_of(fairlock, "list", "capacitor-tts-fractional")


def test_explain_prints_a_table_and_every_operation(fairlock: Command) -> None:
    assert "C moves up" in text_of(fairlock, "explain", "twa")
    assert "ticket.fetch_add(1)" in text_of(fairlock, "explain", "twa", "--operations")
    assert json.loads(text_of(fairlock, "explain", "twa", "--json"))["fields"][:2] == ["ticket", "grant"]
