"""One session: its conversation and its files. What a step adds goes to the log in one write."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Any

from harness_nb.agent.conversation import Conversation
from harness_nb.agent.driver import Pass
from harness_nb.agent.past import read_log
from harness_nb.core.events import Event, StepFinished, Warned, without_keys
from harness_nb.core.item import Item, ModelInput
from harness_nb.core.messages import Message, Usage
from harness_nb.core.pins import Pin
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.records import item_from_record, item_to_record, message_to_record
from harness_nb.core.redact import redact_message
from harness_nb.core.rounds import repair
from harness_nb.errors import HarnessError, MessageError, StoreError
from harness_nb.store.sessions import SessionFiles


class Session:
    """A conversation that survives the kernel.

    Args:
        files: Its files; what is there already is taken over.
        conversation: An empty conversation.
        policy: Names the record of the policy's state.
        about: What the first line of a new log says: agent, model, preset.
    """

    def __init__(
        self,
        files: SessionFiles,
        conversation: Conversation,
        policy: CompactionPolicy | None,
        about: Mapping[str, object],
    ) -> None:
        self.id = files.session_id
        self.files = files
        self.conversation = conversation
        self.policy = policy
        self.warnings: list[str] = []
        self.events: list[Event] = []
        self.passes: list[Pass] = []
        self.turns = 0
        self.flushed = 0
        self.cost = 0.0
        self.busy = threading.Lock()
        self._writing = threading.RLock()
        self._pending: list[dict[str, Any]] = []
        self._checked = 0
        self._is_list_behind = False
        self._listed = 0
        if files.exists:
            self._resume()
        else:
            self._pending.append({"kind": "session", "version": 1, "id": self.id, **about})

    def __repr__(self) -> str:
        return f"Session({self.id!r}, {len(self.conversation.log)} messages)"

    # What happens

    def begin_turn(self, message: Message) -> int:
        """Takes a user message in, with which a turn begins."""
        self.turns += 1
        index = self.conversation.begin_turn(message)
        self._note(index, message)
        return index

    def add(self, message: Message) -> int:
        """Takes a message in."""
        add = self.conversation.add_reply if message.role == "assistant" else self.conversation.add
        index = add(message)
        self._note(index, message)
        self.cost += _cost(message)
        return index

    def show(self, item: Item) -> None:
        """Lets the model see a message as an edited item; the log keeps the message as it was."""
        self.conversation.replace_item(item)
        if self.conversation.pins:  # its text may have held one
            self.conversation.set_pins(self.conversation.pins)
            self._checked = 0
        self._put({"kind": "shown", "item": item_to_record(item)})
        if item.index is not None and item.index < self._listed:  # the stored list shows it as it was
            self._is_list_behind = True

    def record(self, event: Event) -> Event:
        """Keeps an event, keys in it masked, and writes it with the next save; gives back what it keeps."""
        event = without_keys(event)
        self.events.append(event)
        self._put({"kind": "event", **event.to_record()})
        return event

    def warned(self, about: str, text: str) -> Warned:
        """Keeps a warning, and gives it back to be told."""
        event = Warned(time=self.conversation.now(), turn=self.turns, about=about, text=text)
        self.record(event)
        return event

    def spent(self, purpose: str, usage: Usage, seconds: float = 0.0) -> StepFinished:
        """Counts what a request beside the turns cost, and gives the event of it back to be told."""
        self.cost += usage.cost or 0.0
        event = StepFinished(
            time=self.conversation.now(),
            turn=self.turns,
            step=0,
            purpose=purpose,
            usage=usage,
            seconds=round(seconds, 3),
        )
        self.record(event)
        return event

    def set_pins(self, pins: tuple[Pin, ...]) -> None:
        """Keeps texts word for word through every compaction, these and no others; written with the next save."""
        before = self.conversation.pins
        for pin in before:
            if pin not in pins:
                self._put({"kind": "unpin", "text": pin.text})
        for pin in pins:
            if pin not in before:
                self._put({"kind": "pin", "text": pin.text, "source": pin.source, "index": pin.index})
        self.conversation.set_pins(pins)
        self._checked = 0  # the note of the pins stands at the start of the list

    def mark_flushed(self, upto: int) -> None:
        """Notes that facts were taken from all messages before `upto`."""
        if upto > self.flushed:
            self.flushed = upto
            self._put({"kind": "flushed", "upto": upto})

    def write_so_far(self, text: str) -> None:
        """Writes down the answer so far; it counts only when no message comes after it.

        What can't be written now is lost only with the kernel, so a failure is passed over.
        """
        self._put({"kind": "so_far", "text": text})
        with contextlib.suppress(StoreError):
            self.save()

    def request_failed(self) -> None:
        """Undoes what was to last only with a reply; the stored list follows with the next save."""
        if self.conversation.request_failed():
            self._checked = 0
            self._is_list_behind = True

    def save(self) -> None:
        """Appends what is pending to the log, in one write; after a failure it is still pending.

        Raises:
            StoreError: The log, or a list that is behind, can't be written.
        """
        with self._writing:
            if self._pending:
                self.files.append(self._pending)
                self._pending.clear()
            if self._is_list_behind:
                self._write_list()

    def save_list(self) -> None:
        """Replaces the stored list and the policy's state, in one atomic write, after the log is safe.

        Raises:
            StoreError: A file can't be written.
        """
        self._checked = 0
        self._is_list_behind = False
        self.save()
        self._write_list()

    def _write_list(self) -> None:
        talk = self.conversation
        self.files.save_view(
            {
                "log_length": len(talk.log),
                "policy": self.policy.name if self.policy is not None else None,
                "state": _plain_state(talk.state),
                "items": [item_to_record(item) for item in talk.input],
            }
        )
        self._is_list_behind = False
        self._listed = len(talk.log)

    def mend(self) -> tuple[str, ...]:
        """Makes the rounds of the next request whole and says what was wrong; the log stays as it is.

        What was looked at before is not looked at again.
        """
        outgoing = self.conversation.outgoing
        if outgoing is not self.conversation.input:
            return ()
        tail = outgoing[self._checked :]
        fixed = repair([item.message for item in tail])
        if fixed.changed:
            mended = [tail[one] if isinstance(one, int) else Item(None, one, "note") for one in fixed.order]
            self.conversation.replace_input(ModelInput((*outgoing[: self._checked], *mended)))
        self._checked = len(self.conversation.input)
        return fixed.notes

    # Files

    def _note(self, index: int, message: Message) -> None:
        is_plain = not isinstance(message.content, tuple) and not message.calls and not message.rest
        clean = message if is_plain else redact_message(message)  # a plain text is masked with its line
        self._put({"kind": "message", "index": index, **message_to_record(clean)})

    def _put(self, record: dict[str, Any]) -> None:
        with self._writing:
            self._pending.append(record)

    def _resume(self) -> None:
        loaded = self.files.load()
        past = read_log(loaded.records)
        self.warnings += [*loaded.warnings, *(f"Session {self.id!r}: {text}" for text in past.warnings)]
        view = self.files.load_view()
        items, since = self._stored_list(view, past.messages)
        self._listed = since
        self.conversation.restore(past.messages, items, since)
        self.conversation.state = self._state(view)
        for index, item in past.shown.items():
            if index >= since:
                self.conversation.replace_item(item_from_record(item, past.messages))
        self.turns, self.flushed = past.turns, past.flushed
        self.cost = sum(map(_cost, past.messages)) + past.spent
        self.warnings += [f"Session {self.id!r}: {note}." for note in self.mend()]
        self.conversation.set_pins(tuple(past.pins))
        self._checked = 0
        if past.so_far:
            self.add(Message.assistant(past.so_far, finish="interrupted"))

    def _stored_list(self, view: Mapping[str, Any] | None, log: list[Message]) -> tuple[list[Item] | None, int]:
        """The stored list and the length of the log when it was stored; without a usable one, the whole log."""
        if view is None:
            return None, 0
        try:
            since = int(view["log_length"])
            if since > len(log):
                raise MessageError("its log is shorter than it was")
            return [item_from_record(record, log) for record in view["items"]], since
        except (MessageError, KeyError, TypeError, ValueError, IndexError) as error:
            self.warnings.append(f"The stored list of session {self.id!r} was not used: {error}.")
            return None, 0

    def _state(self, view: Mapping[str, Any] | None) -> object:
        """The policy's state as it was stored, or None when it is another policy's or no longer fits."""
        stored = view.get("state") if view is not None else None
        if view is None or stored is None or self.policy is None or self.policy.record is None:
            return None
        if view.get("policy") != self.policy.name:
            return None
        try:
            return self.policy.record(**{key: tuple(v) if isinstance(v, list) else v for key, v in stored.items()})
        except (TypeError, AttributeError, HarnessError) as error:
            self.warnings.append(f"The stored state of policy {self.policy.name!r} was not used: {error}.")
            return None


def _plain_state(state: object) -> dict[str, Any] | None:
    return asdict(state) if is_dataclass(state) and not isinstance(state, type) else None


def _cost(message: Message) -> float:
    return message.usage.cost or 0.0 if message.usage is not None else 0.0
