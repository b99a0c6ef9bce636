"""Gold-argument survival: of the values that a task still needs and that were said, how many are still in the context.

At a recorded request, the gold calls that were not made yet need their argument values. Over all requests of a run

    sum |values needed, said before, and in the context| / sum |values needed and said before|

Values are texts of at least three characters, found as whole words in texts and in arguments of calls. Left out are numbers,
which match by chance, and what the system prompt holds, which can't be lost. A call counts as made when its name and all
its gold arguments are right.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from harness_nb.core.item import Item
from harness_nb.core.messages import Message
from harness_nb.lab.datasets.record import Action, Conversation
from harness_nb.lab.step import Step

_LEAST_CHARS = 3


class GoldArguments:
    """The argument values that solve a conversation's task, made ready so that many contexts are looked at quickly.

    Args:
        conversation: A run of a task, with the calls that solve it.
    """

    def __init__(self, conversation: Conversation) -> None:
        messages = conversation.transcript
        system = "\n".join(message.text for message in messages if message.role == "system")
        values = [_values(action) - _held(system, _values(action)) for action in conversation.actions]
        self._all = frozenset().union(*values)
        self._held = [self._in(message) if message.role != "system" else frozenset() for message in messages]
        self._needed = self._over_time(conversation, values)

    def _in(self, message: Message) -> frozenset[str]:
        return _held("\n".join([message.text, *(call.arguments for call in message.calls)]), self._all)

    def _over_time(self, conversation: Conversation, values: list[frozenset[str]]) -> list[frozenset[str]]:
        """What is needed and was said, before each message."""
        left = list(zip(conversation.actions, values, strict=True))
        seen: frozenset[str] = frozenset()
        needed = []
        for message, held in zip(conversation.transcript, self._held, strict=True):
            needed.append(seen & frozenset().union(*(one for _, one in left)))
            left = [(action, one) for action, one in left if not _makes(message, action)]
            seen |= held
        return needed

    def survival(self, contexts: Iterable[tuple[Step, Iterable[Item]]]) -> float | None:
        """Share of the values still in the contexts, 0 to 1; None where none was needed after it had been said.

        Args:
            contexts: Recorded requests with the items as sent, as `Replay.contexts` gives them.
        """
        needed = kept = 0
        for step, items in contexts:
            wanted = self._needed[step.index] if step.index < len(self._needed) else frozenset()
            if wanted:
                needed += len(wanted)
                kept += len(wanted & self._shown(items))
        return kept / needed if needed else None

    def _shown(self, items: Iterable[Item]) -> frozenset[str]:
        return frozenset().union(*(self._of(item) for item in items))

    def _of(self, item: Item) -> frozenset[str]:
        kept = item.index is not None and item.how == "kept"
        return self._held[item.index] if kept and item.index is not None else self._in(item.message)


def _values(action: Action) -> frozenset[str]:
    return frozenset(text for text in _texts(action.arguments) if len(text) >= _LEAST_CHARS)


def _texts(value: Any) -> Iterator[str]:
    """The texts in a JSON value, names of fields left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)


def _held(text: str, values: Iterable[str]) -> frozenset[str]:
    """The values that stand in a text as whole words."""
    return frozenset(
        value for value in values if value in text and re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text)
    )


def _makes(message: Message, action: Action) -> bool:
    """Whether a message makes a gold call, with all its arguments."""
    for call in message.calls:
        given = call.parsed() if call.name == action.name else None
        if given is not None and all(given.get(name) == value for name, value in action.arguments.items()):
            return True
    return False
