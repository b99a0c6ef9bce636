"""The text of a summary: what a model wrote with the task overwritten, or a record made without a model."""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness_nb.core.item import Item
from harness_nb.core.messages import Message
from harness_nb.core.redact import redact
from harness_nb.policies.hermes.marks import (
    OPENING,
    TASK_CHARS,
    TASK_CLOSING,
    TASK_HEADING,
    TASK_OPENING,
    is_request,
)

FALLBACK_CHARS = 8_000
"""Most characters of a fallback text, its opening included."""

_TURN_CHARS = 700
_ASKS, _PATHS, _EARLIER_CHARS = 5, 20, 2_000

_TASK_SECTION = re.compile(rf"^{re.escape(TASK_HEADING)}[ \t]*\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_PATH = re.compile(r"(?<![\w/.-])(?:~|\.{1,2})?/?(?:[\w.-]+/)+[\w.-]+\.\w{1,8}\b")


def last_request(turns: Sequence[Item]) -> Item | None:
    """The last real message of the user among some turns."""
    return next((item for item in reversed(turns) if is_request(item)), None)


def model_body(written: str, request: Item | None) -> str:
    """What a model wrote, keys masked, with the last request in the place of its own account of the task."""
    text = redact(written.strip())
    if request is None:
        return text
    return f"{_task(request.message)}{_TASK_SECTION.sub('', text).strip()}".rstrip()


def _task(message: Message) -> str:
    quoted = redact(message.text.strip())[:TASK_CHARS]
    return f"{TASK_OPENING}{quoted}{TASK_CLOSING}"


def fallback_body(turns: Sequence[Item], earlier: str, request: Item | None, reason: str) -> str:
    """A record of what is dropped: the last request, tools, files and every turn in short, until the room is used up."""
    lines = [_task(request.message).rstrip() + "\n"] if request is not None else []
    lines.append(
        f"## Critical Context\nNo model could summarise this part ({reason}). This is a record made without one.\n"
    )
    if earlier:
        lines.append(f"## Earlier Summary\n{earlier[:_EARLIER_CHARS]}\n")
    lines += _section("Relevant Files", _paths(turns))
    lines += _section("Completed Actions", [f"{name} x {count}" for name, count in _tools(turns).items()])
    asked = [item for item in turns if is_request(item) and item is not request]
    lines += _section("Historical Pending User Asks", [_short(item.message) for item in asked[-_ASKS:]])
    told = [item for item in turns if not is_request(item)]
    lines += _section("Historical Remaining Work", [_short(item.message) for item in reversed(told)])
    return redact("\n".join(lines))[: FALLBACK_CHARS - len(OPENING)].rstrip()


def _section(heading: str, entries: Sequence[str]) -> list[str]:
    shown = [f"- {entry}" for entry in entries if entry]
    return [f"## {heading}", *shown, ""] if shown else []


def _short(message: Message) -> str:
    text = " ".join(message.text.split())
    calls = " ".join(f"[calls {call.name}]" for call in message.calls)
    return f"{message.role}: {text[:_TURN_CHARS]}{' ' if text and calls else ''}{calls}" if text or calls else ""


def _tools(turns: Sequence[Item]) -> dict[str, int]:
    found: dict[str, int] = {}
    for item in turns:
        for call in item.message.calls:
            found[call.name] = found.get(call.name, 0) + 1
    return found


def _paths(turns: Sequence[Item]) -> list[str]:
    texts = [item.message.text[:20_000] for item in turns]
    texts += [call.arguments[:20_000] for item in turns for call in item.message.calls]
    return list(dict.fromkeys(path for text in texts for path in _PATH.findall(text)))[:_PATHS]
