"""Who answers what a policy asks for in a replay: a model for its model calls, assumptions for everything else."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from harness_nb.agent.driver import Answer, Begun, Effect, Leaving
from harness_nb.agent.runner import runner
from harness_nb.core.messages import to_json
from harness_nb.core.redact import clean_unicode, redact
from harness_nb.core.requests import Ask, Evict, Failure, Replies, Reply, Request, assume
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
        model: Answers model calls; None lets them be assumed. One that gives equal answers to equal requests, as the offline
            model does, is asked once: a policy that fails at every point asks most of its requests again.
    """

    model: Model | None = None
    _known: dict[bytes, Reply] = field(default_factory=dict, repr=False, compare=False)

    def __call__(self, effect: Effect) -> Answer:
        """What came of an effect: messages may leave, a model is asked, and files have the names that an agent gives them."""
        return None if isinstance(effect, Begun | Leaving) else self.reply(effect)

    def at_once(self, effect: Effect) -> Answer:
        """The same; the offline model, which can't fail half-way, answers all that one plan asks while it is made."""
        if isinstance(effect, Begun | Leaving) or not _is_offline(self.model):
            return self(effect)
        return Replies(self.reply)

    def reply(self, request: Request) -> Reply:
        """What came of a request."""
        return assume(request) if self.model is None else self._answered(request, self.model)

    def _answered(self, request: Request, model: Model) -> Reply:
        """A reply as in the live loop."""
        if isinstance(request, Ask):
            return self._ask(request, model if request.model is None else resolve(request.model))
        if isinstance(request, Evict):
            return Reply(evicted(request.call_id, request.text))
        return Reply(None, Failure("error", f"nobody answers a {type(request).__name__} here"))

    def _ask(self, request: Ask, model: Model) -> Reply:
        if not _is_offline(model):
            return self._tried(request, model)
        key = _digest(request)
        if key not in self._known:
            self._known[key] = self._tried(request, model)
        return self._known[key]

    def _tried(self, request: Ask, model: Model) -> Reply:
        reply = Reply(None, Failure("error", "not asked"))
        for _ in range(max(1, request.attempts)):
            reply = _attempt(request, model)
            if reply.failure is None or reply.failure.kind in _FINAL:
                break
        return reply


def evicted(call_id: str, text: str, folder: str = "large_tool_results") -> str:
    """Path to which an agent would have moved a large result."""
    return evicted_name(AGENT, call_id, redact(clean_unicode(text)), folder)


def _is_offline(model: Model | None) -> bool:
    from harness_nb.model.offline import OfflineModel

    return isinstance(model, OfflineModel)


def _digest(request: Ask) -> bytes:
    """What tells requests apart for a model; the requests themselves would fill the memory."""
    told = [[one.origin, one.to_openai()] for one in request.messages]
    said = [request.purpose, request.max_tokens, request.blank_fails, told]
    return hashlib.blake2b(to_json(said).encode(), digest_size=20).digest()


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
