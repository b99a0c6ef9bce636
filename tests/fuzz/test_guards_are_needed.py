"""With any one guard taken out, random histories show it, and show what it was there for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from harness_nb.agent import driver, guards
from harness_nb.agent.conversation import Stall
from tests.fuzz.histories import CARELESS, History, Step
from tests.fuzz.playing import Fault, play


class Taken(NamedTuple):
    """A guard that is taken out.

    Attributes:
        owner: Module or class that has it.
        name: Its name there.
        instead: What stands in its place.
        faults: What shows then, any of these.
    """

    owner: Any
    name: str
    instead: Callable[..., Any]
    faults: frozenset[str]


def _step(name: str, *faults: str) -> Taken:
    return Taken(guards, name, lambda view, items: (items, ""), frozenset(faults))


def _refusal(owner: Any, name: str, *faults: str) -> Taken:
    return Taken(owner, name, lambda *_: "", frozenset(faults))


GUARDS = [
    _step("_once", "twice", "never said"),
    _step("_as_said", "resumed list"),
    _step("_verbatim", "latest request"),
    _step("_in_order", "order"),
    _step("_whole_rounds", "invalid list", "invalid request"),
    _step("_no_system_talk", "in the system role"),
    _step("_pinned", "pin"),
    _step("_user_first", "invalid list", "invalid request"),
    _step("_answerable", "invalid request"),
    _refusal(guards, "_failed_summary", "failed summary"),
    _refusal(guards, "_inflated", "inflated"),
    _refusal(guards, "_overhead", "overhead"),
    _refusal(Stall, "holds", "no rest"),
    Taken(guards, "hopeless", lambda *_: None, frozenset({"hopeless"})),
    Taken(guards, "_survived", guards.Verdict, frozenset({"cost the turn"})),
    Taken(driver, "_guarded", driver._as_shipped, frozenset({"not an error of ours", "invalid list", "twice"})),
]
STEPS = (
    Step("say"), Step("say", 1), Step("say", 0, ("one call", "two calls")), Step("pin", number=1), Step("say"),
    Step("say", 10, ("two calls", "big result")), Step("say"), Step("compact"), Step("say", 5), Step("say", 1, ("one call",)),
    Step("say"), Step("say"), Step("say", 0, ("overflow",)), Step("say"), Step("say"),
)  # fmt: skip
SEEDS = 120


def _histories() -> Iterator[History]:
    """The same steps under careless policies, one seed after the other."""
    for seed in range(SEEDS):
        for policy in CARELESS:
            asked = ("good", "server error") if seed % 2 else ("blank",)
            yield History(policy, (3_000, 1_500)[seed % 3 == 2], asked, False, seed, STEPS)


def _shows(history: History, faults: frozenset[str]) -> bool:
    try:
        play(history)
    except Fault as fault:
        return fault.kind in faults
    return False


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name)
def test_a_guard_that_is_taken_out_is_missed(guard: Taken, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard.owner, guard.name, guard.instead)
    found = next((history for history in _histories() if _shows(history, guard.faults)), None)
    assert found is not None, f"{3 * SEEDS} histories are as good without it"
    monkeypatch.undo()
    play(found)
