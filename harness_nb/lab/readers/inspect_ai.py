"""Logs of inspect_ai: a log as JSON, one sample of it, or the archive `.eval`; each sample is a conversation.

Sources: inspect_ai's documentation of its log files (inspect.aisi.org.uk/eval-logs.html) and the reference of `EvalLog`,
`EvalSample` and `ChatMessage` there; tried on logs that inspect_ai 0.3.285 wrote.

Long texts and pictures stand under `attachments` and are put back. Usage comes from the events of the sample, and so do
the marks of compactions, each before the next answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from harness_nb.core.messages import Message, Part, Usage, part_from_openai
from harness_nb.lab.entries import UNREADABLE, Begins, Compacted, Entry, Line, ModelNamed, Place, Said, Skipped
from harness_nb.lab.readers.blocks import as_content, count, moment, picture, reasoning, tool_call, words

NAME = "inspect_ai"

_ATTACHED = "attachment://"
_STATUS = {"approval": "denied", "cancelled": "interrupted"}


def claims(value: Any) -> bool:
    """True for a log and for a sample."""
    if not isinstance(value, Mapping):
        return False
    return _is_sample(value) or (isinstance(value.get("eval"), Mapping) and "status" in value)


def read(lines: Iterable[Line]) -> Iterator[Entry]:
    """The messages of each sample."""
    for line in lines:
        value = line.value if isinstance(line.value, Mapping) else {}
        samples = [value] if _is_sample(value) else value.get("samples")
        if not isinstance(samples, list):
            yield Skipped(line.place, "a log without its samples")
            continue
        for sample in samples:
            yield Begins(line.place, _name(sample))
            for about in (value.get("eval"), sample.get("output") if _is_sample(sample) else None):
                if isinstance(about, Mapping) and isinstance(about.get("model"), str) and about["model"]:
                    yield ModelNamed(line.place, about["model"])
            yield from _sample(line.place, sample)


def _name(sample: Any) -> str:
    """The id of a sample, and the epoch behind it from the second on."""
    if not _is_sample(sample):
        return ""
    epoch = sample["epoch"]
    return str(sample.get("id", "")) if epoch in (0, 1) else f"{sample.get('id', '')}/{epoch}"


def _sample(place: Place, sample: Any) -> Iterator[Entry]:
    if not _is_sample(sample):
        yield Skipped(place, "a sample without messages")
        return
    listed = sample.get("events")
    events = [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []
    answers = dict(_answers(events))
    marks = _marks(place, events)
    attached = sample.get("attachments")
    texts = attached if isinstance(attached, Mapping) else {}
    for number, wire in enumerate(sample["messages"], start=1):
        here = Place(place.line, number, place.member)
        try:
            whole = _restored(wire, texts)
            message = _message(whole, answers)
        except UNREADABLE:
            yield Skipped(here, "a message that is not as inspect_ai writes it")
            continue
        yield from marks.pop(str(whole.get("id")), ())
        yield Said(here, message, str(whole.get("model") or ""))
    for left in marks.values():
        yield from left


def _marks(place: Place, events: Sequence[Mapping[str, Any]]) -> dict[str, list[Compacted]]:
    """The compactions by the id of the next answer; those behind the last answer by an empty one."""
    marks: dict[str, list[Compacted]] = {}
    following = ""
    for event in reversed(events):
        if event.get("event") == "compaction":
            before = event.get("tokens_before")
            mark = Compacted(place, "", before if isinstance(before, int) else None)
            marks.setdefault(following, []).insert(0, mark)
        else:
            following = next((id for id, _ in _answers([event])), following)
    return marks


def _answers(events: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The events of the model's answers, each by the id of its message."""
    for event in events:
        output = event.get("output")
        choices = output.get("choices") if isinstance(output, Mapping) and event.get("event") == "model" else None
        for choice in choices if isinstance(choices, list) else ():
            message = choice.get("message") if isinstance(choice, Mapping) else None
            if isinstance(message, Mapping) and isinstance(message.get("id"), str):
                yield message["id"], event


def _message(wire: Mapping[str, Any], answers: Mapping[str, Mapping[str, Any]]) -> Message:
    role, content = wire["role"], _content(wire["content"])
    if role == "tool":
        return _result(wire, content)
    if role != "assistant":
        return Message(role, content)
    event = answers.get(wire.get("id") or "", {})
    output = event.get("output", {})
    finish = str((output.get("choices") or [{}])[0].get("stop_reason") or "")
    return Message(
        "assistant",
        content or None,
        calls=tuple(
            tool_call(call["id"], call["function"], call.get("arguments")) for call in wire.get("tool_calls") or ()
        ),
        usage=_usage(output.get("usage")),
        finish=finish,
        time=moment(event.get("completed")),
    )


def _result(wire: Mapping[str, Any], content: str | tuple[Part, ...]) -> Message:
    """A result; where the tool failed, the model was shown the error."""
    error = wire.get("error")
    status = ""
    if isinstance(error, Mapping):
        status = _STATUS.get(str(error.get("type")), "error")
        content = content or str(error.get("message") or "")
    return Message.tool(str(wire["tool_call_id"]), content, name=wire.get("function"), status=status)


def _content(content: Any) -> str | tuple[Part, ...]:
    return content if isinstance(content, str) else as_content(tuple(_part(one) for one in content))


def _part(part: Mapping[str, Any]) -> Part:
    if part["type"] == "text":
        return words(part["text"])
    if part["type"] == "image" and isinstance(part.get("image"), str):
        return picture(part["image"])
    if part["type"] == "reasoning":
        return reasoning(str(part.get("summary") or part.get("reasoning") or ""), part)
    return part_from_openai(part)


def _restored(value: Any, texts: Mapping[str, Any]) -> Any:
    """A value with each reference to an attachment replaced by what it stands for."""
    if isinstance(value, str) and value.startswith(_ATTACHED):
        return texts.get(value.removeprefix(_ATTACHED), value)
    if isinstance(value, list):
        return [_restored(one, texts) for one in value]
    if isinstance(value, Mapping):
        return {key: _restored(one, texts) for key, one in value.items()}
    return value


def _usage(wire: Any) -> Usage | None:
    """Usage; what was read from and written to a cache stands beside the rest of the input."""
    if not isinstance(wire, Mapping):
        return None
    cost = wire.get("total_cost")
    usage = Usage(
        input_tokens=count(wire, "input_tokens", "input_tokens_cache_read", "input_tokens_cache_write"),
        output_tokens=count(wire, "output_tokens"),
        cached_tokens=count(wire, "input_tokens_cache_read"),
        cost=float(cost) if isinstance(cost, int | float) else None,
    )
    return usage if usage.input_tokens or usage.output_tokens else None


def _is_sample(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("messages"), list) and "epoch" in value
