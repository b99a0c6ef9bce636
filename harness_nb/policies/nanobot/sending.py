"""The last pass before a request: what can't be sent, is too large or does not fit is left out, for this request alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from harness_nb.core import edits
from harness_nb.core.item import Item
from harness_nb.core.messages import Message, Part, Text
from harness_nb.core.requests import Evict
from harness_nb.core.view import View
from harness_nb.policies.nanobot.config import COMPACTABLE, NanobotConfig
from harness_nb.policies.nanobot.replay import legal
from harness_nb.policies.nanobot.sizes import NanobotSizes
from harness_nb.policies.nanobot.wording import MISSING_RESULT, in_file, taken_away

_OMITTED = "[Previous assistant message omitted.]"
"""What earlier versions put in the place of a reply."""


@dataclass(frozen=True, slots=True)
class _Line:
    """One message of the request: an item, or two requests of the user that are sent as one."""

    items: tuple[Item, ...]
    message: Message


class Sending:
    """Makes the rows of one request fit.

    Args:
        view: The conversation.
        config: Settings.
        sizes: Counts tokens.
        system: The whole system prompt.
    """

    def __init__(self, view: View, config: NanobotConfig, sizes: NanobotSizes, system: str) -> None:
        self._view, self._config, self._sizes = view, config, sizes
        self._system = (Message.system(system),)
        window = config.window(view.model)
        self._budget = max(0, config.budget(window)) if window > 0 else 0

    def shortened(self, rows: Sequence[Item]) -> tuple[Item, ...]:
        """All rows, large results in files, and old ones of the running turn taken away where the request is too long."""
        return tuple(self._without_old_results([self._filed(row) for row in rows]))

    def fitted(self, rows: Sequence[Item]) -> tuple[Item, ...]:
        """The rows that are sent, as they are sent."""
        made = self._answered(_usable(rows))
        snipped = self._snipped(made)
        return tuple(made if snipped is made else self._answered(snipped))

    def tokens(self, rows: Iterable[Item]) -> int:
        """Tokens of the whole request."""
        messages = [*self._system]
        for row in rows:
            if row.index == self._view.turn and len(messages) > 1 and _both_users(messages[-1], row.message):
                messages[-1] = joined(messages[-1], row.message)
            else:
                messages.append(row.message)
        return self._sizes.prompt(messages, self._view.tools)

    def _answered(self, rows: Iterable[Item]) -> list[Item]:
        """Rows without results that answer nothing, and with a stub for each call without a result."""
        declared: set[str] = set()
        answered: set[str] = set()
        kept: list[Item] = []
        for row in rows:
            declared.update(call.id for call in row.message.calls if call.id)
            if row.message.role == "tool":
                called = row.message.call_id or ""
                repeats = self._config.drops_repeated_results and called in answered
                if called not in declared or repeats:
                    continue
                answered.add(called)
            kept.append(row)
        return _with_stubs(kept, answered)

    def _filed(self, row: Item) -> Item:
        """A large result as a preview of the file that has it; a file that can't be written leaves it cut."""
        message, most = row.message, self._config.max_tool_result_chars
        if row.how == "evicted" or message.role != "tool" or message.name in self._config.offload_exempt or not most:
            return row
        text = message.text
        if len(text) <= most or row.index is None or any(not isinstance(part, Text) for part in message.parts):
            return row
        reply = self._view.reply(Evict(index=row.index, call_id=message.call_id or "", text=text))
        if reply.failure is not None:
            return edits.truncated(row, most, 0)
        shown = in_file(reply.text, text, self._config.tool_result_preview_chars)
        return edits.evicted(row, shown, reply.text)

    def _without_old_results(self, rows: list[Item]) -> list[Item]:
        """Takes results of the running turn away, oldest first, once the request is too long."""
        tokens = self.tokens(rows) if self._budget else 0
        if tokens <= self._budget:
            return rows
        target = int(self._budget * self._config.compact_target)
        found = [at for at, row in enumerate(rows) if self._can_go(row)]
        made = list(rows)
        for at in found:
            if at == found[-1] and tokens <= self._budget:
                break
            made[at] = edits.cleared(made[at], taken_away(made[at].message.name or "the tool"))
            tokens = self.tokens(made)
            if tokens <= target:
                break
        return made

    def _can_go(self, row: Item) -> bool:
        message = row.message
        if row.how == "cleared":
            return False
        in_turn = row.index is not None and row.index > self._view.turn
        is_large = len(message.text) >= self._config.compact_min_chars
        return in_turn and message.role == "tool" and message.name in COMPACTABLE and is_large

    def _snipped(self, rows: list[Item]) -> Sequence[Item]:
        """The newest messages that fit, from one of the user on."""
        if not self._budget or self.tokens(rows) <= self._budget:
            return rows
        lines = self._lines(rows)
        fixed = max(
            self._sizes.message(self._system[0]),
            self._sizes.prompt(self._system, self._view.tools),
        )
        start = _fitting(lines, max(0, self._budget - fixed), self._sizes.message)
        users = [at for at, line in enumerate(lines) if line.message.role == "user"]
        inside = next((at for at in users if at >= start), None)
        first = inside if inside is not None else users[-1] if users else start
        return legal([item for line in lines[first:] for item in line.items])

    def _lines(self, rows: Iterable[Item]) -> list[_Line]:
        """The messages as sent: the request of the running turn is joined to an unanswered one before it."""
        lines: list[_Line] = []
        for row in rows:
            before = lines[-1] if lines else None
            if before is not None and row.index == self._view.turn and _both_users(before.message, row.message):
                lines[-1] = _Line((*before.items, row), joined(before.message, row.message))
            else:
                lines.append(_Line((row,), row.message))
        return lines


def _usable(rows: Iterable[Item]) -> Iterable[Item]:
    """Rows without replies that only say that something was left out, and without calls of no tool."""
    for row in rows:
        calls = row.message.calls
        if not all(call.name for call in calls):
            calls = tuple(call for call in calls if call.name)
            row = edits.edited(row, replace(row.message, calls=calls), "kept")
            if not calls and not row.message.text:
                continue
        is_mark = row.message.role == "assistant" and row.message.text.strip() == _OMITTED
        if not is_mark or calls:
            yield row


def joined(first: Message, second: Message) -> Message:
    """Two messages of the user as one, a blank line between them."""
    if isinstance(first.content, str) and isinstance(second.content, str):
        texts = [text for text in (first.content, second.content) if text]
        return replace(first, content="\n\n".join(texts))
    parts: tuple[Part, ...] = (*first.parts, *second.parts)
    return replace(first, content=parts)


def _both_users(first: Message, second: Message) -> bool:
    return first.role == "user" and second.role == "user"


def _with_stubs(rows: list[Item], answered: set[str]) -> list[Item]:
    """A stub behind the results of each call that has none."""
    made: list[Item] = []
    waiting: list[Item] = []
    for row in rows:
        if row.message.role != "tool" and waiting:
            made += waiting
            waiting = []
        made.append(row)
        waiting += [
            Item(None, Message.tool(call.id, MISSING_RESULT, name=call.name, origin="harness"), "note")
            for call in row.message.calls
            if call.id and call.id not in answered
        ]
    return made + waiting


def _fitting(lines: Sequence[_Line], tokens: int, size: Callable[[Message], int]) -> int:
    """Position of the first of the last messages that fit, one at least."""
    start, used = len(lines), 0
    while start > 0:
        used += size(lines[start - 1].message)
        if start < len(lines) and used > tokens:
            break
        start -= 1
    return start
