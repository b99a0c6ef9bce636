"""The client between Hermes and the recorded model: it tries some errors again by itself."""

from __future__ import annotations

from typing import Any

from harness_nb.agent.driver import Answer, Begun, Effect, Leaving
from harness_nb.core.requests import Ask, Failure, Reply
from harness_nb.lab.conformance.driving import Stub

_SAME_AGAIN = frozenset({"connection", "stream_closed", "server_error", "unavailable", "gateway_timeout"})
_RETRIES = 2
_ELSEWHERE = frozenset({"auth", "payment", "quota", "rate_limit", "connection", "stream_closed", "timeout"})
"""Errors after which the same is asked again at once, and those after which it is asked once of another provider."""

_FAILURES: dict[str, tuple[str, int | None, str]] = {
    "auth": ("permission", 401, "unauthorized"),
    "payment": ("quota", 402, "payment required"),
    "permission": ("permission", 403, "forbidden"),
    "not_found": ("error", 404, "not found"),
    "bad_request": ("error", 400, "bad request"),
    "quota": ("quota", 429, "quota exceeded"),
    "rate_limit": ("rate_limit", 429, "too many requests"),
    "server_error": ("server_error", 500, "internal error"),
    "unavailable": ("server_error", 503, "service unavailable"),
    "gateway_timeout": ("server_error", 504, "no answer from upstream"),
    "timeout": ("timeout", None, "request timed out"),
    "connection": ("connection", None, "connection error"),
    "stream_closed": ("connection", None, "stream closed"),
    "bad_json": ("bad_reply", None, "the body is no JSON"),
}


class Client:
    """Answers a policy's requests from a stub.

    Args:
        stub: Plays the recorded answers, one for each request over the wire.

    Attributes:
        summaries: Summaries that were asked for.
    """

    def __init__(self, stub: Stub) -> None:
        self.stub = stub
        self.summaries = 0

    def __call__(self, effect: Effect) -> Answer:
        """What comes of one thing that is to be done."""
        if isinstance(effect, Begun | Leaving):
            return None
        if isinstance(effect, Ask):
            self.summaries += 1
            return self._asked(effect)
        return Failure("error", f"the recording has no answer to {type(effect).__name__}")

    def _asked(self, request: Ask) -> Reply:
        again, elsewhere = _RETRIES, 1
        while True:
            answer = self.stub.next(request)
            kind = answer.get("error") if isinstance(answer, dict) else None
            if kind in _SAME_AGAIN and again:
                again -= 1
            elif kind in _ELSEWHERE and elsewhere:
                again, elsewhere = 0, 0
            else:
                return _reply(answer, kind)


def _reply(answer: Any, kind: str | None) -> Reply:
    if kind is None:
        return Reply(answer.get("text") or "")
    name, status, words = _FAILURES.get(kind, ("error", None, kind))
    return Reply(None, Failure(name, str(answer.get("message") or words), status))
