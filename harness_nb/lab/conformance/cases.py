"""Recordings of real systems: one case a line of JSON, its long texts written in short."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness_nb.core.messages import Message
from harness_nb.errors import TranscriptError

_MEMORY = re.compile("memory|search|dream|notes|checkpoint")
_OWN_KEYS = frozenset({"id", "system", "also", "note", "quirk", "recorded_by", "expect"})
"""Keys that say what a case is about. No adapter sees them, so that none can answer by them."""


_CASE = frozenset({"id", "system", "kind", "expect"})


def is_case(value: Any) -> bool:
    """Whether a line of JSON is a case, which may hold a conversation in a known format, too."""
    return isinstance(value, Mapping) and value.keys() >= _CASE


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What a recording gives the system: all that an adapter sees of a case.

    Attributes:
        kind: Group of the case; tells what a memory case asks for. Compaction is never to depend on it.
        config: Parameters, as the real system was told them.
        wire: The conversation in OpenAI chat format.
        answers: What the stub model returns, in call order.
        version: The version of the system that was run, where a recording names one.
        more: Every other key of the case, such as `input`, `session`, `presets` or the rest of `stub`.
    """

    kind: str
    config: Mapping[str, Any] = field(default_factory=dict)
    wire: tuple[Mapping[str, Any], ...] = ()
    answers: tuple[Any, ...] = ()
    version: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def input(self) -> Mapping[str, Any]:
        """The input of a case that has no conversation."""
        found = self.more.get("input")
        return found if isinstance(found, Mapping) else {}

    def messages(self, *, by_harness: Iterable[int] = ()) -> tuple[Message, ...]:
        """The conversation; an index names a message as in the recording.

        Args:
            by_harness: Indices of messages that the system itself wrote.
        """
        ours = frozenset(by_harness)
        return tuple(
            Message.from_openai(one, **({"origin": "harness"} if index in ours else {}))
            for index, one in enumerate(self.wire)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One recording.

    Attributes:
        id: Unique in its system.
        system: Name of the system that was recorded.
        kind: Group of the case.
        note: What it is about.
        given: What the system was given.
        expect: What it did.
        place: File and line.
    """

    id: str
    system: str
    kind: str
    note: str
    given: Given
    expect: Mapping[str, Any]
    place: str

    @property
    def sort(self) -> str:
        """`memory` for what is kept, found or shown of the durable memory, `compaction` for everything else."""
        is_memory = bool(self.given.more.keys() & {"input", "steps"}) or _MEMORY.search(self.kind) is not None
        return "memory" if is_memory else "compaction"


def expand(value: Any) -> Any:
    """A JSON value with every text written out that was given as a repetition or as parts to be joined."""
    if isinstance(value, list):
        return [expand(one) for one in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"repeat"} and isinstance(value["repeat"], list):
        text, count = value["repeat"]
        return expand(text) * count
    if value.keys() == {"concat"} and isinstance(value["concat"], list):
        return "".join(expand(one) for one in value["concat"])
    return {key: expand(one) for key, one in value.items()}


def read_cases(paths: Sequence[str | Path]) -> Iterator[Case]:
    """The cases of some files, in order.

    Raises:
        TranscriptError: A file can't be read, or a line is no case; names file and line.
    """
    for path in map(Path, paths):
        try:
            with path.open(encoding="utf-8") as lines:
                for number, line in enumerate(lines, 1):
                    if line.strip():
                        yield _case(line, f"{path}:{number}")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8"
            raise TranscriptError(
                f"{str(path)!r} can't be read: {reason}.", "Give a file of recordings, one JSON object a line."
            ) from error


def _case(line: str, place: str) -> Case:
    try:
        raw = json.loads(line)
        found = expand(raw)
        return Case(
            id=found["id"],
            system=found["system"],
            kind=found["kind"],
            note=found.get("note") or "",
            given=_given(found),
            expect=found["expect"],
            place=place,
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise TranscriptError(
            f"{place} is no case of a recording: {type(error).__name__}: {error}.",
            "A case is a JSON object with id, system, kind and expect, and config or input.",
            subject=place,
        ) from error


def _given(found: Mapping[str, Any]) -> Given:
    stub = found.get("stub") or {}
    more = {key: one for key, one in found.items() if key not in {*_OWN_KEYS, "kind", "config", "messages", "version"}}
    return Given(
        kind=found["kind"],
        config=found.get("config") or {},
        wire=tuple(found.get("messages") or ()),
        answers=tuple(stub.get("answers") or ()) if isinstance(stub, Mapping) else (),
        version=str(found.get("version") or ""),
        more=more,
    )
