"""Sums over a replay, each worked out when it is asked for."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from harness_nb.agent.driver import Pass
from harness_nb.core.messages import Message
from harness_nb.core.requests import Ask
from harness_nb.core.tokens import Measure

if TYPE_CHECKING:
    from harness_nb.lab.run import Replay

TOTALS = (
    *("messages", "turns", "requests", "compactions", "failures", "overflows", "model_calls"),
    *("tokens_sent", "peak_tokens", "own_tokens", "final_tokens"),
)
"""Names of all of them, in the order shown."""


class Totals:
    """Sums over a replay; two with the same figures are equal."""

    def __init__(self, run: Replay) -> None:
        self._transcript, self._final = run.transcript, run.final
        self._steps, self._acted, self._compactions = run.steps, run.acted, run.compactions

    def to_dict(self) -> dict[str, int]:
        """All of them by name."""
        return {name: getattr(self, name) for name in TOTALS}

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, Totals) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self.to_dict().values()))

    def __repr__(self) -> str:
        return f"Totals({', '.join(f'{name}={value}' for name, value in self.to_dict().items())})"

    @property
    def messages(self) -> int:
        """Messages replayed."""
        return len(self._transcript)

    @cached_property
    def turns(self) -> int:
        """Turns."""
        return max((step.turn for step in self._steps), default=0)

    @property
    def requests(self) -> int:
        """Recorded model requests."""
        return len(self._sent)

    @property
    def compactions(self) -> int:
        """Points at which the list was replaced."""
        return len(self._compactions)

    @property
    def failures(self) -> int:
        """Plans that failed or were refused."""
        return sum(one.outcome == "failed" for step in self._acted for one in step.passes)

    @cached_property
    def overflows(self) -> int:
        """Requests that were above the window after the policy had acted."""
        return sum(tokens > self._final.model.window for tokens in self._sent)

    @cached_property
    def model_calls(self) -> int:
        """Model calls that the policy made."""
        return sum(step.model_calls for step in self._acted)

    @cached_property
    def tokens_sent(self) -> int:
        """Sum of the sizes of all recorded requests, by the session's measure."""
        return sum(self._sent)

    @cached_property
    def peak_tokens(self) -> int:
        """Largest of them."""
        return max(self._sent, default=0)

    @cached_property
    def own_tokens(self) -> int:
        """Tokens that the policy's own model calls sent and brought, estimated."""
        return _own_tokens(one for step in self._acted for one in step.passes)

    @property
    def final_tokens(self) -> int:
        """Size of the model input at the end."""
        return self._final.tokens

    @cached_property
    def _sent(self) -> tuple[int, ...]:
        return tuple(step.sent_tokens for step in self._steps if step.sent is not None)


_LONG_CHARS, _SAMPLES, _SAMPLE_CHARS = 8_000, 8, 400
"""A longer text is measured by so many samples of so many characters, which is within some 3 % and takes a fifth of the time."""


def _own_tokens(passes: Iterable[Pass]) -> int:
    """Estimated tokens of the model calls that a policy made, what they sent and what they brought."""
    total = 0
    replies: dict[str, int] = {}  # assumed ones are all the same
    for one in passes:
        for request, reply in one.asked:
            if isinstance(request, Ask):
                if reply.text not in replies:
                    replies[reply.text] = one.view.measure.text(reply.text)
                total += sum(_about(message, one.view.measure) for message in request.messages) + replies[reply.text]
    return total


def _about(message: Message, measure: Measure) -> int:
    """About the tokens of a message; a long text that is made for one call would take longer to count than all else."""
    text = message.content
    if not isinstance(text, str) or len(text) < _LONG_CHARS or message.calls:
        return measure(message)
    every = len(text) // _SAMPLES
    samples = [text[start : start + _SAMPLE_CHARS] for start in range(0, every * _SAMPLES, every)]
    return round(sum(map(measure.text, samples)) / (_SAMPLES * _SAMPLE_CHARS) * len(text))
