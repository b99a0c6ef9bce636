"""What a policy asks of the outside, as values, and what came of it.

Equal requests share one reply; `nth` tells repeats apart. Identical retries, time limits and back-off are the
driver's work; a retry that differs is the policy's next request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness_nb.core.messages import Message

if TYPE_CHECKING:
    from harness_nb.core.item import Item

ASSUMED_CHARS = 2_000
"""Length assumed for a summary that no model has written yet: four short sections."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A model call.

    Attributes:
        purpose: Why: `summary` or a word of the policy's own.
        messages: The whole request.
        shown: Log indices of the messages that it shows to the model.
        model: Another model than the agent's, by name, or None.
        max_tokens: Limit on the reply in tokens, or None.
        attempts: How often the driver may try the identical request.
        blank_fails: Whether a blank reply counts as a failed attempt.
        timeout_seconds: Limit on one attempt, or None for the driver's.
        assumed_chars: Length in characters assumed for the reply in a preview.
        nth: Tells identical requests apart that each want a reply of their own.
    """

    purpose: str
    messages: tuple[Message, ...]
    shown: tuple[int, ...] = ()
    model: str | None = None
    max_tokens: int | None = None
    attempts: int = 1
    blank_fails: bool = False
    timeout_seconds: float | None = None
    assumed_chars: int = ASSUMED_CHARS
    nth: int = 0

    @classmethod
    def summary(cls, items: Iterable[Item], *, prompt: str | None = None, max_input_chars: int = 400_000) -> Ask:
        """A request for a four-section summary of some items; an earlier summary among them is fed forward.

        Args:
            items: What to summarise, in order.
            prompt: An instruction of one's own; `{messages}` in it stands for the conversation.
            max_input_chars: Most characters of conversation that are sent; the middle is left out above that.
        """
        from harness_nb.core.prompts import summary_request

        return summary_request(tuple(items), prompt=prompt, max_input_chars=max_input_chars)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evict:
    """A text to be filed in the workspace; the reply is its path.

    Attributes:
        index: Log index of the message it belongs to.
        call_id: Id of the call whose result it is.
        text: The text.
    """

    index: int
    call_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """A count of tokens by the provider; the reply is the number.

    Attributes:
        messages: What to count.
    """

    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Consult:
    """A question to whoever hosts the agent; the reply is a text, or a failure for a veto.

    Attributes:
        question: Name of the occasion, such as `pre_compact`.
    """

    question: str


Request = Ask | Evict | Count | Consult


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a request brought nothing.

    Attributes:
        kind: `overflow`, `timeout`, `connection`, `rate_limit`, `quota`, `permission`, `server_error`, `bad_reply` (it can't
            be read), `blank`, `veto` or `error`.
        detail: In words.
        status: HTTP status, where there was one and it is known.
    """

    kind: str
    detail: str = ""
    status: int | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of a request: a value or a failure.

    Attributes:
        value: A text, a path or a number.
        failure: Why there is no value, or None.
        assumed: True when nobody was asked: the value is marked filler of the length that the request states.
        finish: The model's reason for the end of its text, where known.
    """

    value: str | int | None = None
    failure: Failure | None = None
    assumed: bool = False
    finish: str = ""

    @property
    def text(self) -> str:
        """The value as a text; empty after a failure."""
        return self.value if isinstance(self.value, str) else ""


def assume(request: Request) -> Reply:
    """The reply that a preview goes by: never a failure, always marked."""
    if isinstance(request, Ask):
        return Reply(_filler(request.assumed_chars), assumed=True)
    if isinstance(request, Evict):
        return Reply(f"large_tool_results/{request.call_id or 'result'}.txt", assumed=True)
    if isinstance(request, Count):
        return Reply(None, Failure("error", "not counted in a preview"), assumed=True)
    return Reply("", assumed=True)


def _filler(chars: int) -> str:
    mark = f"[assumed: about {chars:,} characters that a model would write] "
    dots = ("." * 79 + "\n") * (chars // 80 + 1)
    return (mark + dots)[:chars]


class Replies(Mapping[Request, Reply]):
    """Replies that are made while a plan is, so that it is final as it is made: where somebody answers at once, or nobody.

    Iterating gives what was asked, in order.

    Args:
        answer: Gives the reply to a request, once for each; by default each is assumed.
    """

    def __init__(self, answer: Callable[[Request], Reply] | None = None) -> None:
        self._answer = answer or assume
        self._made: dict[Request, Reply] = {}

    def __getitem__(self, request: Request) -> Reply:
        made = self._made.get(request)
        if made is None:
            made = self._made[request] = self._answer(request)
        return made

    def __iter__(self) -> Iterator[Request]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)


class Unknown(Exception):  # noqa: N818 - a signal between policy and driver, no error
    """Raised in strict planning at the first request whose reply is not known yet."""

    def __init__(self, request: Request) -> None:
        super().__init__(request)
        self.request = request
