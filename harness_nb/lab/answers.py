"""Who answers what a policy asks for in a replay: a model for its model calls, assumptions for everything else."""

from __future__ import annotations

from dataclasses import dataclass

from harness_nb.agent.driver import Answer, Begun, Effect, Leaving
from harness_nb.agent.runner import runner
from harness_nb.core.redact import clean_unicode, redact
from harness_nb.core.requests import Ask, Evict, Failure, Reply, Request, assume
from harness_nb.errors import ContextOverflowError, HarnessError, ModelError, QuotaError, RateLimitError
from harness_nb.model.base import Model, ModelRequest, complete
from harness_nb.model.resolve import resolve
from harness_nb.store.names import evicted_name

AGENT = "agent"
"""The name that an agent has by default, in the paths of evicted results."""

_KINDS: tuple[tuple[type[HarnessError], str], ...] = (
    (ContextOverflowError, "overflow"),
    (RateLimitError, "rate_limit"),
    (QuotaError, "quota"),
    (ModelError, "server_error"),
)
_FINAL = ("overflow", "quota", "permission")


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers the effects of a driver, at once and without any file.

    Attributes:
        model: Answers model calls; None lets them be assumed.
    """

    model: Model | None = None

    def __call__(self, effect: Effect) -> Answer:
        """What came of an effect: messages may leave, a model is asked, and files have the names that an agent gives them."""
        if isinstance(effect, Begun | Leaving):
            return None
        return assume(effect) if self.model is None else self._answered(effect, self.model)

    def _answered(self, request: Request, model: Model) -> Reply:
        """A reply as in the live loop."""
        if isinstance(request, Ask):
            return self._ask(request, model if request.model is None else resolve(request.model))
        if isinstance(request, Evict):
            return Reply(evicted(request.call_id, request.text))
        return Reply(None, Failure("error", f"nobody answers a {type(request).__name__} here"))

    def _ask(self, request: Ask, model: Model) -> Reply:
        reply = Reply(None, Failure("error", "not asked"))
        for _ in range(max(1, request.attempts)):
            reply = _attempt(request, model)
            if reply.failure is None or reply.failure.kind in _FINAL:
                break
        return reply


def evicted(call_id: str, text: str, folder: str = "large_tool_results") -> str:
    """Path to which an agent would have moved a large result."""
    return evicted_name(AGENT, call_id, redact(clean_unicode(text)), folder)


def _attempt(request: Ask, model: Model) -> Reply:
    asked = ModelRequest(messages=request.messages, purpose=request.purpose, max_tokens=request.max_tokens)
    try:
        message = runner.wait(complete(model, asked))
    except HarnessError as error:
        kind = next((kind for cls, kind in _KINDS if isinstance(error, cls)), "error")
        return Reply(None, Failure(kind, error.problem))
    if request.blank_fails and not message.text.strip():
        return Reply(None, Failure("blank", "the reply was blank"))
    return Reply(redact(clean_unicode(message.text)), finish=message.finish)
