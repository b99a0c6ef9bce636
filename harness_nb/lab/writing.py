"""Conversations written to files in a format of the user's choice, with a report of what the format has no place for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from harness_nb.core.transcript import Transcript
from harness_nb.errors import ConfigError
from harness_nb.lab.writers import anthropic, langchain, openai, own
from harness_nb.lab.writers.losses import Losses
from harness_nb.render.card import Card, Pre, card_html, card_text
from harness_nb.render.text import count
from harness_nb.store.files import write_atomic

WriteFormat = Literal["openai", "anthropic", "langchain", "harness_nb"]

WRITERS: dict[str, Callable[[Transcript, Losses], Iterator[str]]] = {
    "openai": openai.written,
    "anthropic": anthropic.written,
    "langchain": langchain.written,
    "harness_nb": own.written,
}
"""All writers, by the name of their format."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteReport:
    """What was written to a file.

    Attributes:
        path: The file.
        format: Name of the format.
        messages: Messages of the transcript.
        notes: What the format has no place for and what was changed to fit it, a line each; none when nothing was lost.
    """

    path: Path
    format: str
    messages: int
    notes: tuple[str, ...] = ()

    def _card(self) -> Card:
        lost = "something was left out or changed" if self.notes else "nothing was lost"
        line = f"{count(self.messages, 'message')} in the format {self.format!r} · {lost}"
        return Card(f"Written to {str(self.path)!r}", line, (Pre("\n".join(self.notes)),) if self.notes else ())

    def __str__(self) -> str:
        """As a text."""
        return card_text(self._card())

    def _repr_html_(self) -> str:
        return card_html(self._card())


def write_transcript(
    transcript: Transcript, path: str | os.PathLike[str], format: WriteFormat = "openai"
) -> WriteReport:
    """Writes a conversation to a file, which `read_transcript` reads back.

    The file is replaced as a whole. The conversation is written as it is: no key in it is masked.

    Args:
        transcript: The conversation.
        path: The file; folders on the way to it are made.
        format: `openai`: an object with `messages`, each as it came from there. `anthropic`: `system` and `messages` as
            the Messages API takes them. `langchain`: a list that `messages_from_dict` takes. `harness_nb`: a session log
            of ours. The last two lose nothing of any message.

    Returns:
        What was written, with a note of what was lost.

    Raises:
        ConfigError: There is no such format.
        StoreError: The file can't be written.
    """
    write = WRITERS.get(format)
    if write is None:
        raise ConfigError(f"There is no format {format!r}.", f"Use one of {', '.join(WRITERS)}.", subject=format)
    losses = Losses()
    write_atomic(Path(path), "".join(write(transcript, losses)))
    return WriteReport(path=Path(path), format=format, messages=len(transcript), notes=losses.notes)
