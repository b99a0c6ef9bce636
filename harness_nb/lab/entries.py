"""What a reader finds in a file, entry by entry, and where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from harness_nb.core.messages import Message
from harness_nb.errors import MessageError

UNREADABLE = (MessageError, TypeError, ValueError, KeyError, AttributeError, RecursionError)
"""What converting a value raises when it is not shaped as its format says."""


class Place(NamedTuple):
    """Where something stands in a file.

    Attributes:
        line: Number of the line, 1 for the first; 0 when the whole file is one document.
        message: Number of the message within a line or document that holds several, 1 for the first; 0 otherwise.
        member: Name of the file within an archive; empty otherwise.
    """

    line: int = 0
    message: int = 0
    member: str = ""

    def __str__(self) -> str:
        """As a report says it."""
        parts = (self.member, f"line {self.line}" * bool(self.line), f"message {self.message}" * bool(self.message))
        return ", ".join(part for part in parts if part) or "the file"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file as a JSON value."""

    place: Place
    value: Any


@dataclass(frozen=True, slots=True)
class Said:
    """A message. `model` names the model that wrote it, where the file says so."""

    place: Place
    message: Message
    model: str = ""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A message of the file that does not belong to the conversation. `what` completes "dropped ..."."""

    place: Place
    what: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that could not be read. `what` completes "skipped ..."."""

    place: Place
    what: str


@dataclass(frozen=True, slots=True)
class Compacted:
    """A mark: here the recorded system replaced what came before by a summary."""

    place: Place
    summary: str
    tokens_before: int | None = None


@dataclass(frozen=True, slots=True)
class ModelNamed:
    """A header that names the model of the session."""

    place: Place
    model: str


@dataclass(frozen=True, slots=True)
class SettingChanged:
    """A mark: from here on the recorded system asked with another setting, such as `model` or `thinking`."""

    place: Place
    setting: str
    value: str


@dataclass(frozen=True, slots=True)
class Begins:
    """A conversation begins here, in a file that holds several. `name` is how it may be asked for, where it has one."""

    place: Place
    name: str = ""


Entry = Said | Dropped | Skipped | Compacted | ModelNamed | SettingChanged | Begins
