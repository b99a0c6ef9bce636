"""compaction-conformance-kit: policies as its compactors, and its compactors as policies.

The kit calls a compactor round after round, each time with the text of the round before as a single turn. The compactor made
here knows its own text again, and goes on with the conversation that it stands for.

Any preset can be checked from a terminal, by its name with `_` for `-`::

    compaction-kit check harness_nb.lab.adapters.kit:harness
    compaction-kit benchmark --spec harness_nb.lab.adapters.kit:gemini_cli
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, cast

from harness_nb import presets
from harness_nb.agent.driver import finished
from harness_nb.core.config import PinsConfig, in_tokens
from harness_nb.core.item import How, Item
from harness_nb.core.messages import Message, Role, ToolCall
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.view import View
from harness_nb.lab.adapters.budget import said
from harness_nb.lab.adapters.listed import Applied, Compacted, Given
from harness_nb.lab.adapters.ours import CHARS_PER_TOKEN, text_of, to_text
from harness_nb.lab.adapters.packages import foreign
from harness_nb.lab.adapters.theirs import TheirPolicy, asked, keeping, stood_for
from harness_nb.lab.answers import Answers
from harness_nb.model.base import Model
from harness_nb.model.resolve import resolve
from harness_nb.presets import Preset

if TYPE_CHECKING:
    from compaction_kit.compacted import CompactedContext
    from compaction_kit.compactors import Compactor
    from compaction_kit.session import Turn

_PACKAGE = "compaction-conformance-kit"


class PolicyCompactor:
    """A policy as a compactor of the kit; made by `compactor`.

    Attributes:
        name: As the kit's reports name it.
    """

    def __init__(self, name: str, applied: Applied, model: Model) -> None:
        self.name = name
        self._applied = applied
        self._model = model
        self._last: tuple[str, Compacted] | None = None

    def compact(self, turns: Sequence[Turn], round_num: int = 1, budget_chars: int | None = None) -> CompactedContext:
        """What the model would see after a compaction that the user asks for now.

        Args:
            turns: The conversation, or the text of the round before.
            round_num: Number of the round.
            budget_chars: Most characters of the text; the policy is told of a window as large as that.

        Returns:
            The kit's record; in its `structured` are the policy's reason and the messages that had no room.
        """
        made = foreign("compaction_kit.compacted", _PACKAGE).CompactedContext
        result = finished(to_text(self._given(turns), self._applied, budget_chars), Answers(self._model))
        found = text_of(result, budget_chars)
        self._last = (found.text, result)
        told = {"reason": [result.reason], "left_out": list(found.left_out)}
        context: CompactedContext = made(
            text=found.text, compactor_name=self.name, round_num=round_num, structured=told
        )
        return context

    def _given(self, turns: Sequence[Turn]) -> tuple[Given, ...]:
        """The turns as a list; the text of the round before as the conversation that it stands for."""
        if self._last is not None and [turn.text for turn in turns] == [self._last[0]]:
            return self._last[1].again()
        return tuple(_given(turns))


def compactor(
    policy: str | Preset | CompactionPolicy = "harness",
    *,
    model: str | Model = "offline",
    window: int | None = None,
    pins: PinsConfig | None = None,
) -> PolicyCompactor:
    """A policy as a compactor of the kit.

    Args:
        policy: Name of a preset, a preset, or a policy.
        model: Answers the policy's model calls.
        window: Context window in tokens where the kit gives no budget; by default what the preset assumes.
        pins: What stays word for word; by default as the preset has it.

    Raises:
        ConfigError: The policy, the model or the window is not valid.
    """
    applied = Applied.of(policy, window=window, pins=pins)
    return PolicyCompactor(applied.policy.name, applied, resolve(model))


def policy(
    theirs: Compactor, *, budget: int | float = 0.2, trigger_tokens: int | float = 0.8, keep_messages: int = 1
) -> CompactionPolicy:
    """A compactor of the kit that asks no model, as a policy: its text stands for all but the end of the conversation.

    Args:
        theirs: The compactor; one that was given a function that calls a model is for `asking_policy`.
        budget: Most tokens of its text, or a share of the window.
        trigger_tokens: Tokens from which it acts, or a share of the window.
        keep_messages: Messages at the end that stay, at least; so does the latest request of the user.

    Raises:
        ConfigError: A setting is not valid, or the kit is not installed.
    """
    return _policy(theirs.name, lambda _: theirs, "note", budget, trigger_tokens, keep_messages)


def asking_policy(
    make: Callable[[Callable[[str], str]], Compactor],
    *,
    budget: int | float = 0.2,
    trigger_tokens: int | float = 0.8,
    keep_messages: int = 1,
) -> CompactionPolicy:
    """A compactor of the kit that asks a model, as a policy whose model calls go the way of all policies.

    Args:
        make: Makes the compactor from a function from text to text that asks the model: `LLMSummarizerCompactor` itself,
            or `lambda ask: ProgressiveSummaryCompactor(lambda parts: ask(" ".join(parts)))`.
        budget: Most tokens of its text, or a share of the window.
        trigger_tokens: Tokens from which it acts, or a share of the window.
        keep_messages: Messages at the end that stay, at least; so does the latest request of the user.

    Raises:
        ConfigError: A setting is not valid, or the kit is not installed.
    """
    name = make(str).name
    return _policy(name, lambda ask: make(ask), "summary", budget, trigger_tokens, keep_messages)


def _policy(
    name: str,
    make: Callable[[Callable[[str], str]], Compactor],
    how: How,
    budget: int | float,
    trigger_tokens: int | float,
    keep_messages: int,
) -> CompactionPolicy:
    turn = foreign("compaction_kit.session", _PACKAGE).Turn
    call = foreign(
        "compaction_kit.runner", _PACKAGE, "_call_compactor"
    )._call_compactor  # gives a budget to those that take one
    keep = keeping("keep_messages", keep_messages)

    def made(view: View) -> Sequence[Item] | None:
        def write(items: tuple[Item, ...]) -> str:
            turns = [turn("system" if item.index is None else item.message.role, said(item.message)) for item in items]
            chars = in_tokens(budget, view.model.window) * CHARS_PER_TOKEN
            return str(call(make(partial(_ask, view)), turns, 1, chars).text)

        return stood_for(view, keep, write, how)

    settings = {"budget": budget, "keep_messages": keep}
    return TheirPolicy(f"kit {name}", made, trigger_tokens=trigger_tokens, settings=settings)


def _ask(view: View, text: str) -> str:
    return asked(view, [Message.user(text, origin="harness")])


def _given(turns: Sequence[Turn]) -> Iterator[Given]:
    """Turns as messages; a turn of a tool, which the kit does not link to a call, as a call and its result."""
    for number, turn in enumerate(turns):
        if turn.role == "tool":
            call = ToolCall(f"turn_{number}", "tool")
            yield Given(Message.assistant(calls=[call]))
            yield Given(Message.tool(call.id, turn.text, name=call.name))
        else:
            yield Given(Message(cast(Role, turn.role), turn.text))


def __getattr__(name: str) -> Callable[[], PolicyCompactor]:
    """A maker of the compactor for a preset, for the kit's command line."""
    preset = name.replace("_", "-")
    if preset not in presets.names():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return partial(compactor, preset)
