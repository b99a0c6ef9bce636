"""What a safeguard summary carries beside the model's text: excerpts of the last turns, failed calls, file lists."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness_nb.core.item import Item
from harness_nb.core.messages import Image, Message, Opaque, Text, Thinking
from harness_nb.core.utf16 import utf16_len
from harness_nb.policies.openclaw.pairs import safe_cut, safe_tail
from harness_nb.policies.openclaw.planning import whole
from harness_nb.policies.openclaw.sizes import texts, thinking
from harness_nb.policies.openclaw.wording import (
    CUT_SUMMARY,
    EXCERPTS,
    FAILURES,
    WITHOUT_OUTPUT,
    more_lines,
)

MOST_SUMMARY_CHARS = 16_000
_EXCERPT_CHARS = 600
_FAILURES = 8
_FAILURE_CHARS = 240
_LIST_CHARS = 900
_LISTS_CHARS = 2_000
_SPACE = re.compile(r"\s+")
_WRITES = ("write", "edit")


# Excerpts


@dataclass(frozen=True, slots=True)
class Preserved:
    """A history in two.

    Attributes:
        rest: What the model summarises.
        excerpted: What stays as excerpts.
    """

    rest: tuple[Item, ...]
    excerpted: tuple[Item, ...]


def preserved(items: Sequence[Item], turns: int) -> Preserved:
    """Divides the last turns off, counted by requests of the user; results go with their call."""
    chosen = _chosen(items, turns)
    if not chosen:
        return Preserved(tuple(items), ())
    ids = {call.id for at in chosen for call in items[at].message.calls}
    first = min(chosen)
    results = (at for at in range(first, len(items)) if items[at].message.role == "tool")
    chosen |= {at for at in results if items[at].message.call_id in ids}
    rest = whole([item for at, item in enumerate(items) if at not in chosen])
    return Preserved(rest, tuple(items[at] for at in sorted(chosen)))


def _chosen(items: Sequence[Item], turns: int) -> set[int]:
    """Positions of the requests and answers in the last turns; with too few requests, of all these and the newest."""
    talk = [at for at, item in enumerate(items) if item.message.role in ("user", "assistant")]
    users = [at for at in talk if items[at].message.role == "user"]
    if turns <= 0 or not talk:
        return set()
    if len(users) >= turns:
        return {at for at in talk if at >= users[-turns]}
    chosen = set(users)
    for at in reversed(talk):
        chosen.add(at)
        if len(chosen) >= 2 * turns:
            break
    return chosen


def excerpts(items: Iterable[Item]) -> str:
    """The section of excerpts, or empty."""
    lines = excerpt_lines(items)
    return EXCERPTS + "\n".join(lines) if lines else ""


def excerpt_lines(items: Iterable[Item]) -> list[str]:
    """A line for each message that shows anything, its text cut at 600 characters."""
    return [line for item in items if (line := _excerpt(item.message))]


def _excerpt(message: Message) -> str:
    label = {"user": "User", "assistant": "Assistant"}.get(message.role) or f"Tool output ({message.name or 'tool'})"
    shown = "\n".join(filter(None, (said(message), _other_parts(message))))
    if not shown:
        return ""
    is_long = utf16_len(shown) > _EXCERPT_CHARS
    return f"- {label}: {safe_cut(shown, _EXCERPT_CHARS)}{'...' if is_long else ''}"


def said(message: Message) -> str:
    """The text of a message, each part trimmed."""
    return "\n".join(text.strip() for text in texts(message) if text.strip())


def _other_parts(message: Message) -> str:
    """What is in a message beside text, in words."""
    kinds = ["thinking"] if thinking(message) and not any(isinstance(one, Thinking) for one in message.parts) else []
    kinds += [_kind(part) for part in message.parts if not isinstance(part, Text)]
    kinds += ["toolCall"] * len(message.calls)
    counts = {kind: kinds.count(kind) for kind in kinds}
    named = ", ".join(f"{kind} x{count}" if count > 1 else kind for kind, count in counts.items())
    return f"[other parts here: {named}]" if named else ""


def _kind(part: object) -> str:
    if isinstance(part, Image):
        return "image"
    return part.type or "unknown" if isinstance(part, Opaque) else "thinking"


# Failed calls and files


def failures(items: Iterable[Item]) -> str:
    """The section of failed calls, each call once, or empty."""
    failed: dict[str, Message] = {}
    for message in (item.message for item in items):
        if message.status == "error" and message.call_id:
            failed.setdefault(message.call_id, message)
    lines = [f"- {one.name or 'tool'}: {_failure(one)}" for one in failed.values()]
    more = [f"- {more_lines(len(lines) - _FAILURES)}"] if len(lines) > _FAILURES else []
    return FAILURES + "\n".join((*lines[:_FAILURES], *more)) if lines else ""


def _failure(message: Message) -> str:
    told = _SPACE.sub(" ", "\n".join(texts(message))).strip() or WITHOUT_OUTPUT
    return told if utf16_len(told) <= _FAILURE_CHARS else f"{safe_cut(told, _FAILURE_CHARS - 3)}..."


@dataclass(frozen=True, slots=True)
class Files:
    """Files that calls named.

    Attributes:
        read: Those that were only read, in order of their names.
        modified: Those that were written or edited.
    """

    read: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()


def files_of(items: Iterable[Item], earlier: Files | None = None) -> Files:
    """Paths that the calls of some messages read, wrote or edited, together with earlier ones."""
    read, modified = set(earlier.read if earlier else ()), set(earlier.modified if earlier else ())
    for call in (call for item in items for call in item.message.calls):
        path = (call.parsed() or {}).get("path")
        if isinstance(path, str) and path:
            if call.name == "read":
                read.add(path)
            elif call.name in _WRITES:
                modified.add(path)
    return Files(tuple(sorted(read - modified, key=_units)), tuple(sorted(modified, key=_units)))


def _units(text: str) -> bytes:
    """The order in which JavaScript sorts texts."""
    return text.encode("utf-16-be", "surrogatepass")


def file_lists(files: Files, *, bounded: bool) -> str:
    """The two lists in tags; bounded, each keeps to 900 characters and says how many paths are left out."""
    made = [
        _file_list(tag, paths, bounded)
        for tag, paths in (("files-read", files.read), ("files-modified", files.modified))
    ]
    text = "".join(f"\n\n{one}" for one in made if one)
    return capped(text, _LISTS_CHARS) if bounded else text


def _file_list(tag: str, paths: Sequence[str], bounded: bool) -> str:
    if not paths:
        return ""
    opening, closing = f"<{tag}>\n", f"\n</{tag}>"
    if not bounded:
        return opening + "\n".join(paths) + closing
    lines, size = [], len(opening) + len(closing)
    for at, path in enumerate(paths):
        left = len(paths) - at
        line, after = f"{path}\n", f"{more_lines(left - 1)}\n" if left > 1 else ""
        if size + utf16_len(line) + len(after) > _LIST_CHARS:
            more = f"{more_lines(left)}\n"
            lines += [more] if size + len(more) <= _LIST_CHARS else []
            break
        lines.append(line)
        size += utf16_len(line)
    return opening + "".join(lines) + closing if lines else ""


# The whole


def capped(text: str, most: int) -> str:
    """A text of at most so many units, with a mark where it was cut."""
    if most <= 0 or utf16_len(text) <= most:
        return text
    room = max(0, most - len(CUT_SUMMARY))
    return safe_cut(text, room) + CUT_SUMMARY if room else safe_cut(text, most)


def suffix_of(*sections: str) -> str:
    """The sections behind a summary's body, set off from it."""
    text = ""
    for section in sections:
        text = text + section if text.strip() else section.lstrip() if section else text
    return f"\n\n{text}" if text and not text[0].isspace() else text


def with_suffix(body: str, suffix: str) -> str:
    """Body and suffix within the cap: the body is cut, and of a suffix above the cap only its end stays."""
    if not suffix:
        return capped(body, MOST_SUMMARY_CHARS)
    size = utf16_len(suffix)
    if size >= MOST_SUMMARY_CHARS:
        return safe_tail(suffix, MOST_SUMMARY_CHARS)
    return capped(body, MOST_SUMMARY_CHARS - size) + suffix
