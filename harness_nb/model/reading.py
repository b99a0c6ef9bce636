"""What stands in a background request: its tagged sections and the conversation in them, line labels and all."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from harness_nb.core.messages import Message

Speaker = Literal["user", "assistant", "tool", "system"]

_BRACKETS = re.compile(
    r"^\[(user|assistant|tool)\b(?:[^\]\n#]*#(\d+))?[^\]\n]*\]:?[ \t]*", re.IGNORECASE | re.MULTILINE
)
_NAMES = re.compile(r"(?:\A|(?<=\n\n))(Human|User|AI|Assistant|Tool|System)()(?: \([^)\n]*\))?:[ \t]*")
_SPEAKERS: dict[str, Speaker] = {"human": "user", "ai": "assistant"}
_KNOWN: tuple[Speaker, ...] = ("user", "assistant", "tool", "system")
_SPEAKERS |= {name: name for name in _KNOWN}


@dataclass(frozen=True, slots=True)
class Said:
    """One message of a conversation that was written into a prompt; `number` is the one in its label, if any."""

    who: Speaker
    text: str
    number: int | None = None


def section(text: str, name: str) -> str | None:
    """What stands between the first `<name>` and the last `</name>`, or None without these."""
    start = text.find(f"<{name}>")
    end = text.rfind(f"</{name}>")
    return text[start + len(name) + 2 : end].strip("\r\n") if 0 <= start < end else None


def number(text: str, name: str, default: int) -> int:
    """The whole number in a section, or the default."""
    found = (section(text, name) or "").strip().replace(",", "").replace("_", "")
    return int(found) if found.isdecimal() and int(found) > 0 else default


def asked(messages: Iterable[Message]) -> str:
    """The texts of all user messages of a background request, or of all messages where there is none."""
    every = list(messages)
    return "\n".join(message.text for message in every if message.role == "user") or "\n".join(m.text for m in every)


def conversation(text: str) -> list[Said]:
    """The conversation in a prompt: between its tags, or the whole text; without labels it is all the user's."""
    told = section(text, "conversation")
    told = text if told is None else told
    labels = _labels(told)
    if not labels:
        return [Said("user", told)] if told.strip() else []
    ends = [label.start() for label in labels[1:]] + [len(told)]
    said = map(_said, labels, (told[label.end() : end].strip() for label, end in zip(labels, ends, strict=True)))
    return [one for one in said if one.text and one.who != "system"]


def _labels(told: str) -> list[re.Match[str]]:
    """The labels of one form, that of the first of all: what looks like the other form is what somebody said.

    Where the first has a number, all have.
    """
    found = [list(form.finditer(told)) for form in (_BRACKETS, _NAMES)]
    labels = min(filter(None, found), key=lambda labels: labels[0].start(), default=[])
    return [label for label in labels if label.group(2)] if labels and labels[0].group(2) else labels


def _said(label: re.Match[str], text: str) -> Said:
    number = label.group(2)
    return Said(_SPEAKERS[label.group(1).lower()], text, int(number) if number else None)
