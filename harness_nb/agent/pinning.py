"""What is pinned in a session: by the user, by the model and by the rule, together within a number of tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, overload

from harness_nb.agent.session import Session
from harness_nb.core.config import PinsConfig
from harness_nb.core.events import Pinned
from harness_nb.core.pins import Pin, PinSource, heeded, with_room
from harness_nb.errors import ConfigError, ToolError
from harness_nb.memory.results import Displayed, counted

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, slots=True, repr=False)
class PinList(Displayed, Sequence[Pin]):
    """What stays word for word through every compaction.

    Attributes:
        pins: The pins, oldest first.
        tokens: Estimated tokens of each.
        max_tokens: Most tokens of all.
    """

    pins: tuple[Pin, ...]
    tokens: tuple[int, ...]
    max_tokens: int

    def __repr__(self) -> str:
        return f"PinList({counted(len(self.pins), 'pin')}, {sum(self.tokens):,} of {self.max_tokens:,} tokens)"

    def __str__(self) -> str:
        lines = [f"{at}: {pin.text} ({_origin(pin)})" for at, pin in enumerate(self.pins)]
        return "\n".join(lines) or "nothing is pinned"

    def __len__(self) -> int:
        return len(self.pins)

    @overload
    def __getitem__(self, index: int) -> Pin: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Pin]: ...
    def __getitem__(self, index: int | slice) -> Pin | Sequence[Pin]:
        return self.pins[index]

    def __iter__(self) -> Iterator[Pin]:
        return iter(self.pins)

    @property
    def records(self) -> list[dict[str, Any]]:
        """A mapping for each pin: text, source, index of its message, tokens."""
        return [asdict(pin) | {"tokens": size} for pin, size in zip(self.pins, self.tokens, strict=True)]

    @property
    def df(self) -> DataFrame:
        """One row a pin."""
        from harness_nb.frames import pins_frame

        return pins_frame(self.records)


def _origin(pin: Pin) -> str:
    by = {"user": "pinned by the user", "model": "pinned by the model", "rule": "a standing instruction"}[pin.source]
    return by if pin.index is None else f"{by}, message {pin.index}"


class Pinning:
    """The pins of one session.

    Args:
        session: Keeps them.
        config: Most tokens of all, and who may pin besides the user.
    """

    def __init__(self, session: Session, config: PinsConfig) -> None:
        self._session = session
        self._config = config

    @property
    def pins(self) -> PinList:
        """What is pinned."""
        pins = self._session.conversation.pins
        return PinList(pins, tuple(map(self._size, pins)), self._config.max_tokens)

    def add(self, what: str | int) -> Pin:
        """Pins a text, or the whole text of a message by its index in the session.

        Raises:
            ConfigError: There is no such message, it has no text, or the pins would be too long together.
        """
        return self._added(self._meant(what), "user")

    def quote(self, text: str) -> Pin:
        """Pins what the user said, because the model asks for it.

        Raises:
            ToolError: The user did not say that, word for word.
            ConfigError: The pins would be too long together.
        """
        index = self._said_at(text)
        if index is None:
            raise ToolError(
                "No message of the user says that word for word.", "Quote the user exactly.", subject="pin_instruction"
            )
        return self._added(Pin(text, "model", index), "model")

    def heed(self, index: int) -> tuple[Pin, ...]:
        """Pins the standing instructions in a message of the user, where the rule is on; older ones it found give way.

        Returns:
            What is new; the caller says so.
        """
        if not self._config.rule:
            return ()
        from harness_nb.core.instructions import standing_instructions  # only for messages: importing has to be quick

        talk = self._session.conversation
        standing, before = standing_instructions(talk.log[index].text), talk.pins
        pins = heeded(before, standing, index, max_tokens=self._config.max_tokens, size=self._size)
        if pins != before:
            self._session.set_pins(pins)
        return tuple(pin for pin in pins if pin not in before)

    def remove(self, what: str | int | Pin) -> Pin:
        """Takes a pin away: by its text, its place in `pins`, or itself.

        Raises:
            ConfigError: There is no such pin.
        """
        pins = self._session.conversation.pins
        text = what.text if isinstance(what, Pin) else what
        found = [pin for at, pin in enumerate(pins) if text in (at, pin.text) and not isinstance(text, bool)]
        if not found:
            raise ConfigError(f"{what!r} is not pinned.", "Look at agent.pins for what is, and its numbers.")
        self._session.set_pins(tuple(pin for pin in pins if pin != found[0]))
        self._session.save()
        return found[0]

    def _added(self, pin: Pin, source: PinSource) -> Pin:
        known = next((one for one in self._session.conversation.pins if one.text == pin.text), None)
        if known is not None and known.source == source:
            return known
        pins = self._session.conversation.pins
        kept = with_room(pins, pin, max_tokens=self._config.max_tokens, size=self._size)
        if kept is None:
            raise ConfigError(
                f"All pins together would be more than {self._config.max_tokens:,} tokens.",
                "Unpin something, pin a shorter text, or raise PinsConfig.max_tokens.",
                subject=pin.text,
            )
        self._session.set_pins((*kept, pin))
        self._session.record(self._event(pin))
        self._session.save()
        return pin

    def _meant(self, what: str | int) -> Pin:
        """The pin that a user means."""
        log = self._session.conversation.log
        is_place = isinstance(what, int) and not isinstance(what, bool)
        if is_place and not -len(log) <= int(what) < len(log):
            raise ConfigError(f"There is no message {what} in this session.", f"It has {len(log)} messages, from 0 on.")
        text = log[int(what)].text if is_place else what
        if not isinstance(text, str) or not text.strip():
            raise ConfigError(f"{what!r} can't be pinned.", "Give a text, or the index of a message that has one.")
        return Pin(text.strip(), "user", int(what) % len(log) if is_place else self._said_at(text.strip()))

    def _said_at(self, text: str) -> int | None:
        """Index of the latest message of the user that holds a text."""
        log = self._session.conversation.log
        places = range(len(log) - 1, -1, -1)
        return next((at for at in places if text.strip() and log[at].origin == "user" and text in log[at].text), None)

    def _size(self, pin: Pin) -> int:
        return self._session.conversation.measure.text(pin.text)

    def _event(self, pin: Pin) -> Pinned:
        now, turn = self._session.conversation.now(), self._session.turns
        return Pinned(time=now, turn=turn, text=pin.text, source=pin.source, index=pin.index)
