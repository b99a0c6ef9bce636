"""Proposed changes of the stores: those that wait for a person, and those that a look back at a session makes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness_nb.core.messages import Message
from harness_nb.errors import HarnessError
from harness_nb.memory.designs.hermes.bounded import Outcome
from harness_nb.memory.facts import read_facts
from harness_nb.memory.flush_prompt import FLUSH_PROMPT, flush_request
from harness_nb.model.base import Model, complete
from harness_nb.store.candidates import CandidateFiles

_REVIEW_SECONDS = 120.0
_REQUEST_CHARS = 40_000
_CITED = re.compile(r"\s*\[#[\d, #-]+\]\s*$")
_LABEL = re.compile(r"^(?:user|human)\s*:\s*", re.IGNORECASE)
_OF_USER = re.compile(r"\b(?:user|person|human|they|prefers?|likes?|wants?|hates?)\b|^(?:i|my)\b", re.IGNORECASE)

Change = Mapping[str, Any]
"""Arguments of the `memory` tool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A change that waits for a person.

    Attributes:
        number: Names it.
        change: Arguments of the `memory` tool.
        reason: Why it waits.
    """

    number: int
    change: Change
    reason: str


class Proposals:
    """The proposals of one workspace.

    Args:
        files: Where they lie.
        apply: Makes a change.
    """

    def __init__(self, files: CandidateFiles, apply: Callable[[Change], Outcome]) -> None:
        self._files = files
        self._apply = apply

    def waiting(self) -> list[Proposal]:
        """All proposals, oldest first.

        Raises:
            StoreError: They can't be read.
        """
        records = ((number, self._files.load(number)) for number in self._files.numbers())
        return [
            Proposal(number=number, change=record["change"], reason=str(record.get("reason", "")))
            for number, record in records
            if isinstance(record.get("change"), dict)
        ]

    def stage(self, change: Change, reason: str) -> Outcome:
        """Lets a change wait.

        Raises:
            StoreError: It can't be written.
        """
        with self._files.deciding():
            known = [one for one in self.waiting() if one.change == change]
            if not known:
                number = max(self._files.numbers(), default=0) + 1
                self._files.save(number, {"change": dict(change), "reason": reason})
        return Outcome(kind="staged")

    def accept(self, number: int) -> Outcome:
        """Makes a change; one that can't be made waits on.

        Raises:
            StoreError: There is no such proposal.
        """
        with self._files.deciding():
            outcome = self._apply(self._files.load(number)["change"])
            if outcome.is_success:
                self._files.remove(number)
        return outcome

    def reject(self, number: int) -> None:
        """Forgets a change.

        Raises:
            StoreError: It can't be deleted.
        """
        with self._files.deciding():
            self._files.remove(number)


async def looked_back(
    model: Model, messages: Sequence[tuple[int, Message]], *, known: str, date: str
) -> tuple[list[Change], str]:
    """What a model would add to the stores after reading some messages, and why it could not be asked.

    Args:
        model: Reads them.
        messages: Messages with their log indices.
        known: What the stores hold already.
        date: Today, in ISO format.
    """
    import asyncio

    request = flush_request(messages, memory=known, today="", date=date, max_chars=_REQUEST_CHARS)
    if request is None:
        return [], ""
    try:
        async with asyncio.timeout(_REVIEW_SECONDS):
            reply = await complete(model, request)
    except TimeoutError:
        return [], f"{model.limits.name!r} gave no reply within {_REVIEW_SECONDS:g} seconds."
    except HarnessError as error:
        return [], error.problem
    except Exception as error:  # noqa: BLE001 - a user's own model may raise anything, and a look back must cost nothing
        return [], f"{type(error).__name__}: {error}"
    facts = read_facts(reply.text, prompt=FLUSH_PROMPT, is_cut=reply.finish == "length")
    return [_addition(line) for line in facts.lines], facts.refused or ""


def _addition(line: str) -> Change:
    """A fact as an addition to the store that it belongs to: who the user is, or everything else."""
    text = _CITED.sub("", line).strip()
    is_of_user = _OF_USER.search(_LABEL.sub("", text)) is not None
    return {"target": "user" if is_of_user else "memory", "action": "add", "content": text}
