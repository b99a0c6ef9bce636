"""Policies as nobody should write them: lists of anything, requests for everything, and failures in between.

What one plans depends on its seed and on the view alone, as of any policy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from harness_nb.core import edits
from harness_nb.core.item import Item
from harness_nb.core.messages import Message, ToolCall
from harness_nb.core.plan import Plan, Trigger
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.requests import Ask, Consult, Count, Evict, Failure, Reply
from harness_nb.core.view import HOOKS, View
from harness_nb.errors import BudgetError, ModelError

COSTS_NO_TURN = "a model call of the policy failed"
Items = list[Item]


@dataclass(frozen=True)
class Seen:
    """The record of a careless policy."""

    plans: int = 0
    notes: tuple[str, ...] = ()


class Careless(CompactionPolicy):
    """Does anything.

    Args:
        seed: What it goes by.
        mood: `careless` for anything, `restless` for a list of rubbish each time, `wordy` for a summary each time.
    """

    passes = 3
    hooks = frozenset(HOOKS)
    record = Seen

    def __init__(self, seed: int, mood: str = "careless") -> None:
        self.name = mood
        self._seed = seed
        self._mood = mood

    def plan(self, view: View) -> Plan:
        """Anything."""
        chance = Random(f"{self._seed} {view.hook} {len(view.log)} {len(view.input)} {len(view.done)}")
        moods: dict[str, list[Callable[[View, Random], Any]]] = {
            "careless": [_nothing, _nothing, _rubbish, _rubbish, _summary, _edits, _requests, _fails, _stops],
            "restless": [_rubbish],
            "wordy": [_summary],
        }
        made = chance.choice(moods[self._mood])(view, chance)
        if not isinstance(made, Plan):
            return made  # type: ignore[no-any-return]  # a mistake, too
        before = view.state.plans if isinstance(view.state, Seen) else 0
        threshold = chance.choice([50, 2_000, 10**6])
        trigger = Trigger(name="trigger_tokens", value=view.tokens, threshold=threshold)
        return replace(made, state=Seen(before + 1, (made.reason,)), pressure=view.pressure(triggers=[trigger]))


def _nothing(view: View, chance: Random) -> Plan:
    return view.unchanged("nothing to do", again=chance.random() < 0.2)


def _fails(view: View, chance: Random) -> Any:
    if chance.random() < 0.3:
        return None
    raise chance.choice([ValueError("wrong"), KeyError("index"), RecursionError("deep"), BudgetError("mine")])


def _stops(view: View, chance: Random) -> Plan:
    error = chance.choice([None, None, BudgetError("The policy wants no more.", "Nothing."), ModelError(COSTS_NO_TURN)])
    return view.unchanged("no more", outcome="failed", error=error)


def _summary(view: View, chance: Random) -> Plan:
    keep = chance.randrange(6)
    old, recent = view.cut(keep_messages=keep)
    if not old:
        return view.unchanged("nothing old")
    reply = view.reply(Ask.summary(old))
    item = edits.summary(reply, of=old)
    if chance.random() < 0.2 and recent and recent[0].message.role == "user":
        return view.becomes([edits.merged(recent[0], item.message.text, of=old), *recent[1:]], "merged")
    if chance.random() < 0.2:
        item = replace(item, message=replace(item.message, role="system"))
    return view.becomes([item, *recent], "summarised", lasts=_lasts(chance), again=chance.random() < 0.2)


def _edits(view: View, chance: Random) -> Plan:
    edit: Callable[[Item], Item] = chance.choice(
        [
            lambda item: edits.truncated(item, 20, 20),
            lambda item: edits.arguments_truncated(item, 5),
            lambda item: edits.cleared(item) if item.message.role == "tool" else item,
            lambda item: edits.edited(item, item.message.with_text("?"), "truncated"),
        ]
    )
    return view.becomes([edit(item) for item in view.input], "edited", outcome="truncated", lasts=_lasts(chance))


def _requests(view: View, chance: Random) -> Plan:
    """Asks for everything there is, and puts what it heard into a list."""
    heard = [
        view.reply(Consult(question="pre_compact")),
        view.reply(Count(messages=view.input.messages[:])),
        view.reply(Evict(index=0, call_id="c", text="a text to be moved")),
        view.reply(Ask(purpose="audit", messages=(Message.user("Is it good?"),), attempts=2, blank_fails=True)),
    ]
    said = "; ".join(str(one.value) for one in heard)
    return view.becomes([edits.note(said[:500], of=view.input[:2]), *view.input[2:]], "asked", remember=(said[:50],))


def _rubbish(view: View, chance: Random) -> Plan:
    items: Items = [item for item in view.input if chance.random() < 0.7]
    if chance.random() < 0.3:
        chance.shuffle(items)
    for _ in range(chance.randrange(4)):
        items.insert(chance.randrange(len(items) + 1), chance.choice(_foreign(view, chance)))
    if chance.random() < 0.3:
        items.append(Item(None, Message.assistant("I go on by myself"), "note"))
    if chance.random() < 0.05:
        items = []
    lasts, again = _lasts(chance), chance.random() < 0.3
    return view.becomes(items, "rubbish", lasts=lasts, again=again)


def _lasts(chance: Random) -> Any:
    return chance.choice(["session", "session", "session", "request", "reply"])


def _foreign(view: View, chance: Random) -> Items:
    own = chance.choice(view.input[:]) if len(view.input) else edits.note("alone")
    said = chance.randrange(len(view.log)) if len(view.log) else 0
    return [
        own,
        replace(own, message=Message.user("something else")),
        edits.edited(own, own.message.with_text("?"), "truncated"),
        Item(said, view.log[said]) if len(view.log) else own,
        Item(len(view.log) + 3, Message.user("never said")),
        Item(-1, Message.user("before all")),
        Item(None, Message.system("in the prompt"), "summary", (0,)),
        Item(None, Message.system("a rule of mine")),
        Item(None, Message.assistant("made up"), "note", (0, 1, 99, -4)),
        Item(None, Message.assistant(None, [ToolCall("made-up", "run")]), "note"),
        Item(None, Message.tool("nobody", "orphan"), "note"),
        edits.note("a note", of=view.input[:3]),
        edits.summary(Reply("short"), of=view.input[:2]),
        edits.summary(Reply("long " * 2_000), of=view.input[:2]),
        edits.summary(Reply(None, Failure("timeout")), of=view.input[:2]),
    ]
