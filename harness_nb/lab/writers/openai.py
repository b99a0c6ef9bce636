"""A conversation as a request in OpenAI chat format: an object with `messages`, and `model` where it is known."""

from __future__ import annotations

from collections.abc import Iterator

from harness_nb.core.transcript import Transcript
from harness_nb.lab.writers.document import request
from harness_nb.lab.writers.losses import Losses


def written(transcript: Transcript, losses: Losses) -> Iterator[str]:
    """The text of the file. Every field and part of a message is kept; what stands beside the message is not."""
    for message in transcript:
        losses.beside(message)
    return request({"model": transcript.model}, (message.to_openai() for message in transcript))
