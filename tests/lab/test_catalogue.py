# SPDX-License-Identifier: Apache-2.0
"""The catalogue, `fairlock list` and `fairlock explain`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from conftest import Command

from fairlock_lab import _native, catalogue, explain
from fairlock_lab.entries import ORDERS, LockEntry

ENTRIES = catalogue(variations=True)
LOCKS = {name: entry for name, entry in ENTRIES.items() if isinstance(entry, LockEntry)}
EXPLAINABLE = [name for name, entry in ENTRIES.items() if entry.kind != "condition"]
ROOT = Path(__file__).resolve().parents[2]


def text_of(fairlock: Command, *arguments: str) -> str:
    done = fairlock(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_catalogue_has_every_lock_of_the_family() -> None:
    names = [name for name, entry in LOCKS.items() if not entry.variation]
    assert names == [
        "tas", "tts", "tts-backoff", "ticket", "ticket-backoff", "partitioned-ticket", "anderson",
        "twa", "tidex", "hapax", "hapax-vw", "mcs", "clh", "hemlock", "reciprocating", "lifo", "qspinlock", "fair",
        "capacitor-reciprocating", "capacitor-ticket", "capacitor-lifo", "capacitor-mcs", "capacitor-tts",
        "capacitor-reciprocating-fractional", "capacitor-ticket-fractional", "capacitor-lifo-fractional",
        "capacitor-mcs-fractional", "capacitor-tts-fractional",
    ]  # fmt: skip


def test_list_shows_every_lock_and_agrees_with_its_json(fairlock: Command) -> None:
    text = text_of(fairlock, "list")
    rows = json.loads(text_of(fairlock, "list", "--json"))
    first_words = [line.split()[0] for line in text.splitlines() if line.strip()]
    names = list(catalogue())
    # The condition's name is also the title of its column.
    assert [word for word in first_words if word in names] == [*names[:-1], "condition", "condition"]
    assert rows == [entry.to_dict() for entry in catalogue().values()]
    assert rows == [entry.to_dict() for entry in ENTRIES.values() if not entry.variation]
    assert json.loads(text_of(fairlock, "list", "--all", "--json")) == list(ENTRIES.to_dict().values())


def test_the_catalogue_holds_what_the_native_module_reports() -> None:
    rows = [*_native.locks(), *_native.semaphores(), *_native.conditions()]
    assert list(ENTRIES) == [row["name"] for row in rows]
    assert list(ENTRIES.to_dict().values()) == [{"bypass": None} | row for row in rows]


def test_list_of_one_lock_prints_all_its_properties(fairlock: Command) -> None:
    text = text_of(fairlock, "list", "twa")
    assert text == f"{catalogue('twa')['twa']}\n\n"
    for key in _native.locks()[0]:
        assert key.replace("_", " ") in text


def test_every_order_of_admission_has_a_meaning() -> None:
    """The headers define the orders, and the lab explains each of them."""
    header = (ROOT / "include" / "fairlock" / "properties.hpp").read_text()
    (enumerators,) = re.findall(r"enum class Order \{(.*?)\};", header, re.DOTALL)
    names = re.findall(r"^ *(\w+),", enumerators, re.MULTILINE)
    assert [name.replace("_", "-") for name in names] == list(ORDERS)
    assert {entry.order for entry in ENTRIES.values()} <= set(ORDERS)


def test_entries_show_themselves_in_a_notebook() -> None:
    assert "<td>twa</td>" in catalogue()._repr_html_()
    assert "<td>order</td><td>fifo: " in catalogue()["twa"]._repr_html_()
    assert repr(catalogue("twa", "mcs")) == "<Catalogue: twa, mcs>"


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"unknown name 'hapaks' \(did you mean hapax\?\); choose from: tas, "):
        catalogue("hapaks")
    with pytest.raises(ValueError, match=r"did you mean ticket\?"):
        explain("tickets")
    with pytest.raises(ValueError, match="unknown name 'condition'"):
        explain("condition")
    with pytest.raises(KeyError, match=r"did you mean twa\?"):
        catalogue()["twaa"]


def test_properties_agree_with_the_paper() -> None:
    """Table 2 of the Hapax paper, without the properties of one implementation."""
    constant_time = {"clh", "ticket", "twa", "reciprocating", "tidex", "hapax", "hapax-vw"}
    context_free = {"hemlock", "ticket", "twa"}
    for name in ("mcs", "clh", "hemlock", "ticket", "twa", "reciprocating", "tidex", "hapax", "hapax-vw"):
        entry = LOCKS[name]
        assert entry.constant_time_release == (name in constant_time)
        assert entry.context_free == (name in context_free)
        assert (entry.order == "fifo") == (name != "reciprocating")
        assert entry.nodes_circulate == (name == "clh")
        assert entry.constructor_or_destructor == (name == "clh")
        assert entry.try_lock == (name != "tidex")


def test_the_fast_post_is_the_one_of_the_papers_listing() -> None:
    entries = catalogue("twa-semaphore", "twa-semaphore/fast-path")
    assert entries["twa-semaphore/fast-path"].source == "Dice, Kogan 2025; semaphore paper, Listing 2"
    assert entries["twa-semaphore"].source.endswith("Listing 2, with the Capacitor paper's post")


def test_sizes_are_those_of_the_paper() -> None:
    """In words of eight bytes: one for HemLock, two for the ticket and the hapax families."""
    assert LOCKS["hemlock"].lock_bytes == 8
    for name in ("ticket", "twa", "tidex", "hapax", "hapax-vw"):
        assert LOCKS[name].lock_bytes == 16
    assert LOCKS["qspinlock"].lock_bytes == 4


@pytest.mark.parametrize("name", EXPLAINABLE)
def test_every_lock_and_semaphore_can_be_explained(name: str) -> None:
    explanation = explain(name)
    actions = [moment.action for moment in explanation.moments]
    assert actions[:3] == ["no thread has arrived", "A arrives and enters", "B arrives and waits"]
    assert len(explanation.fields) > 0
    assert all(len(moment.values) == len(explanation.fields) for moment in explanation.moments)
    owners = {moment.owner for moment in explanation.moments} - {""}
    assert owners == ({"A", "B"} if explanation.entry.max_threads == 2 else {"A", "B", "C"})
    assert explanation.moments[-1].owner == ""
    assert not explanation.moments[-1].waiting


def values_of(name: str, field: str) -> list[str]:
    """Return the values of one field, moment by moment."""
    explanation = explain(name)
    index = explanation.fields.index(field)
    return [moment.values[index] for moment in explanation.moments]


def test_tidex_takes_the_steps_of_the_papers_table() -> None:
    changes = {"arrive": ["0", "A", "B", "C", "C'"], "depart": ["0", "A", "B", "C", "C'"]}
    for field, expected in changes.items():
        assert list(dict.fromkeys(values_of("tidex", field))) == expected


def test_the_first_waiter_of_twa_is_near_and_the_next_is_far() -> None:
    waits = [dict(moment.waiting) for moment in explain("twa").moments]
    assert waits[3]["B"] == "grant"
    assert waits[3]["C"].startswith("counter[")
    assert {"C": "grant"} in waits  # C moved up when A left


def test_visible_waiters_hand_over_without_touching_depart() -> None:
    departs = values_of("hapax-vw", "depart")
    moments = explain("hapax-vw").moments
    entering = [i for i, moment in enumerate(moments) if moment.action in ("B enters", "C enters")]
    assert len(entering) == 2
    assert {departs[i] for i in entering} == {"0"}


def test_capacitors_promise_what_their_form_can_keep() -> None:
    capacitors = [entry for entry in LOCKS.values() if entry.algorithm == "capacitor"]
    for entry in capacitors:
        by_chance = any(form in entry.name for form in ("fractional", "activated", "random"))
        assert entry.platoon is not None
        assert (entry.order, entry.bypass) == (("long-term", None) if by_chance else ("platoon", entry.platoon - 1))
        assert entry.destroyable_by_next_owner == ("late-depart" not in entry.name)
    assert {entry.platoon for entry in capacitors if not entry.variation} == {10}


def test_a_platoon_closes_and_the_next_one_waits(fairlock: Command) -> None:
    waits = [dict(moment.waiting) for moment in explain("capacitor-tts/platoon-2").moments]
    assert waits[3] == {"B": "inner.word", "C": "grant"}
    assert list(dict.fromkeys(values_of("capacitor-tts/platoon-2", "departed"))) == ["0", "1"]
    text = text_of(fairlock, "explain", "capacitor-tts")
    assert "at most 9 in all" in text
    assert "platoons of 10" in text
    assert "fair in the long run" in text_of(fairlock, "list", "capacitor-tts-fractional")


def test_explain_prints_a_table_and_every_operation(fairlock: Command) -> None:
    assert "C moves up" in text_of(fairlock, "explain", "twa")
    assert "ticket.fetch_add(1)" in text_of(fairlock, "explain", "twa", "--operations")
    assert json.loads(text_of(fairlock, "explain", "twa", "--json"))["fields"][:2] == ["ticket", "grant"]


def test_an_explanation_shows_itself(fairlock: Command) -> None:
    explanation = explain("twa")
    assert text_of(fairlock, "explain", "twa") == f"{explanation}\n"
    assert text_of(fairlock, "explain", "twa", "--operations") == f"{explanation.text(operations=True)}\n"
    assert json.loads(text_of(fairlock, "explain", "twa", "--json")) == json.loads(json.dumps(explanation.to_dict()))
    assert "<th>grant</th>" in explanation._repr_html_()
    assert repr(explanation) == f"<Explanation of twa: {len(explanation.moments)} moments>"
