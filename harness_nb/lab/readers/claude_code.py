"""Sessions of Claude Code: JSON Lines under `~/.claude/projects`, an entry a line.

Built from public descriptions and samples of the format: the schemas of github.com/oneryalcin/agent-schemas (versions
2.1.1 and 2.1.144), the field inventory of github.com/jeremedia/claude-code-log-format, and the sample sessions of
github.com/daaain/claude-code-log.

What makes it more than a list: one answer is spread over several lines with the same `message.id`; results of tools come
in the user's role; entries form a tree by `uuid` and `parentUuid`, and going back starts a new branch; sub-agents write
into the same file (`isSidechain`), or into a file of their own; a compaction writes a boundary and a summary.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness_nb.core.messages import Message, Usage
from harness_nb.lab.entries import UNREADABLE, Compacted, Dropped, Entry, Line, Said, Skipped
from harness_nb.lab.readers.anthropic import FINISH, usage
from harness_nb.lab.readers.blocks import calls, moment, parts, results, text_or_parts
from harness_nb.lab.readers.branches import Link, path_taken

NAME = "Claude Code"

_READ = (
    "type",
    "subtype",
    "uuid",
    "parentUuid",
    "logicalParentUuid",
    "sessionId",
    "timestamp",
    "message",
    "isSidechain",
    "isMeta",
    "isCompactSummary",
    "isVisibleInTranscriptOnly",
    "isApiErrorMessage",
    "compactMetadata",
    "costUSD",
)
"""Fields of an entry that are looked at."""

_INTERRUPTED = "[Request interrupted by user"


def claims(value: Any) -> bool:
    """True for an entry with a message and the marks of a session."""
    if not isinstance(value, dict) or value.get("type") not in ("user", "assistant"):
        return False
    return isinstance(value.get("message"), dict) and ("sessionId" in value or "parentUuid" in value)


def read(lines: Iterable[Line]) -> Iterator[Entry]:
    """The messages and marks of the main conversation, or of the sub-agent's where the file holds nothing else."""
    entries = _once(_slim(line) for line in lines if isinstance(line.value, dict))
    main = [line for line in entries if not line.value.get("isSidechain")]
    if any(claims(line.value) for line in main):
        aside = [line for line in entries if line.value.get("isSidechain") and claims(line.value)]
    else:
        main, aside = entries, []
    yield from (Dropped(line.place, "a message of a sub-agent") for line in aside)
    kept = _kept(main)
    yield from (
        Dropped(line.place, "a message of a branch that was left")
        for position, line in enumerate(main)
        if position not in kept and claims(line.value)
    )
    yield from _conversation([main[position] for position in sorted(kept)])


def _slim(line: Line) -> Line:
    """A line without what it says twice or to the screen only, which is as a rule longer than all that was said."""
    return Line(line.place, {key: line.value[key] for key in _READ if key in line.value})


def _once(lines: Iterable[Line]) -> list[Line]:
    """The lines without those whose entry stands in the file already, as after a session was resumed."""
    found: dict[object, Line] = {}
    for line in lines:
        own = line.value.get("uuid")
        found.setdefault(own if isinstance(own, str) else line.place, line)
    return list(found.values())


def _kept(lines: Sequence[Line]) -> frozenset[int]:
    """Positions on the path taken, and with them the other lines of the same answers and the results of their calls.

    Parallel calls fork the tree, so the path alone would lose some of their lines.
    """
    taken = path_taken([_link(line.value) for line in lines])
    answers = {_answer_id(lines[at].value) for at in taken} - {None}
    with_answers = taken | {at for at, line in enumerate(lines) if _answer_id(line.value) in answers}
    asked = {one for at in with_answers for one in _values(lines[at].value, "tool_use", "id")}
    answering = {
        at for at, line in enumerate(lines) if not asked.isdisjoint(_values(line.value, "tool_result", "tool_use_id"))
    }
    return frozenset(with_answers | answering)


def _link(entry: Mapping[str, Any]) -> Link:
    own, parent = entry.get("uuid"), entry.get("parentUuid") or entry.get("logicalParentUuid")
    return Link(own if isinstance(own, str) else None, parent if isinstance(parent, str) else None)


def _answer_id(entry: Mapping[str, Any]) -> str | None:
    message = entry.get("message")
    own = message.get("id") if isinstance(message, Mapping) and entry.get("type") == "assistant" else None
    return own if isinstance(own, str) else None


def _blocks(entry: Mapping[str, Any], kind: str) -> list[Mapping[str, Any]]:
    message = entry.get("message")
    content = message.get("content") if isinstance(message, Mapping) else None
    blocks = content if isinstance(content, list) else ()
    return [block for block in blocks if isinstance(block, Mapping) and block.get("type") == kind]


def _values(entry: Mapping[str, Any], kind: str, key: str) -> list[str]:
    return [block[key] for block in _blocks(entry, kind) if isinstance(block.get(key), str)]


def _conversation(lines: Sequence[Line]) -> Iterator[Entry]:
    """The entries of lines that all count; an answer is told where its first line stands."""
    told: dict[str, list[Line]] = {}
    for line in lines:
        if (own := _answer_id(line.value)) is not None:
            told.setdefault(own, []).append(line)
    uses = (block for line in lines for block in _blocks(line.value, "tool_use"))
    names = {str(block.get("id")): str(block.get("name") or "") for block in uses}
    tokens_before = None
    for line in lines:
        entry = line.value
        if entry.get("subtype") == "compact_boundary":
            tokens_before = _tokens_before(entry)
        if not claims(entry):
            continue
        try:
            if entry.get("isCompactSummary"):
                yield Compacted(line.place, _summary(entry), tokens_before)
            elif entry["type"] == "user":
                yield from _from_user(line, names)
            else:
                own = _answer_id(entry)
                yield from _from_answer(told.pop(own, ()) if own is not None else (line,))
        except UNREADABLE:
            yield Skipped(line.place, "an entry whose message is not as Claude Code writes it")


def _tokens_before(entry: Mapping[str, Any]) -> int | None:
    found = entry.get("compactMetadata")
    tokens = found.get("preTokens") if isinstance(found, Mapping) else None
    return tokens if isinstance(tokens, int) else None


def _summary(entry: Mapping[str, Any]) -> str:
    return Message.user(parts(entry["message"]["content"])).text


def _from_user(line: Line, names: Mapping[str, str]) -> Iterator[Entry]:
    """Results of tools first, then what else the entry says."""
    entry = line.value
    if entry.get("isVisibleInTranscriptOnly"):
        yield Dropped(line.place, "a message that only the user saw")
        return
    said = moment(entry.get("timestamp"))
    answered = list(results(entry["message"].get("content"), names, time=said))
    yield from (Said(line.place, message) for message in answered)
    content = text_or_parts(entry["message"].get("content"))
    if content or not answered:
        message = Message.user(content, time=said)
        by_harness = entry.get("isMeta") or message.text.startswith(_INTERRUPTED)
        yield Said(line.place, replace(message, origin="harness") if by_harness else message)


def _from_answer(lines: Sequence[Line]) -> Iterator[Entry]:
    """One message of all lines of an answer, or why there is none; nothing for lines that were told before."""
    if not lines:
        return
    first = lines[0]
    wires = [line.value["message"] for line in lines]
    content = _joined(wire.get("content") for wire in wires)
    if first.value.get("isApiErrorMessage"):
        yield Dropped(first.place, "an error of the provider that was shown as an answer")
        return
    finish = next((str(wire["stop_reason"]) for wire in reversed(wires) if wire.get("stop_reason")), "")
    message = Message(
        "assistant",
        text_or_parts(content) if parts(content) else None,
        calls=calls(content),
        time=moment(first.value.get("timestamp")),
        usage=_usage(lines),
        finish=FINISH.get(finish, finish),
    )
    if message.is_blank:
        yield Dropped(first.place, "an assistant message without content")
        return
    model = wires[0].get("model")
    yield Said(first.place, message, model if isinstance(model, str) and not model.startswith("<") else "")


def _joined(contents: Iterable[Any]) -> list[Any]:
    """The blocks of several lines; a block that was written twice counts once."""
    found: list[Any] = []
    for content in contents:
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content or ()
        found.extend(block for block in blocks if block not in found)
    return found


def _usage(lines: Sequence[Line]) -> Usage | None:
    """The usage of the last line that has one: earlier ones were written before the answer was complete."""
    records = [line.value["message"].get("usage") for line in lines]
    wire = next((record for record in reversed(records) if isinstance(record, Mapping)), None)
    if wire is None:
        return None
    costs = [line.value.get("costUSD") for line in lines]
    cost = next((float(one) for one in reversed(costs) if isinstance(one, int | float)), None)
    found = usage(wire)
    return replace(found, cost=cost) if found else None
