"""What Hermes does when a summary fails: leaves the list alone or makes do, and how long it waits."""

from __future__ import annotations

import re
from dataclasses import dataclass

from harness_nb.core.requests import Failure, Reply

_TIMEOUT_LADDER = (60, 300, 900)
_NO_PROVIDER_SECONDS, _SHORT_SECONDS, _SECONDS = 600, 30, 60

_MONEY = re.compile(r"quota|credit|billing|insufficient[_ ](?:funds|balance)|payment", re.IGNORECASE)
_AGAIN = re.compile(r"try again|retry", re.IGNORECASE)
_NO_PROVIDER = re.compile(r"no (?:llm )?provider|no auxiliary", re.IGNORECASE)
_TIMED_OUT = re.compile(r"timed out", re.IGNORECASE)
_TIMEOUT = re.compile(r"timeout", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Setback:
    """What follows from a failed summary.

    Attributes:
        aborts: Whether the list stays as it is.
        seconds: How long no other is tried.
        timeouts: Timeouts in a row, this one included.
        reason: In words.
    """

    aborts: bool
    seconds: int
    timeouts: int
    reason: str


def setback(reply: Reply, timeouts: int, always_aborts: bool) -> Setback | None:
    """What follows from a reply; None when it can be used.

    Args:
        reply: What came of the request.
        timeouts: Timeouts in a row before.
        always_aborts: Whether every failure leaves the list alone.
    """
    failure = reply.failure
    if failure is None:
        return None if reply.text.strip() else Setback(always_aborts, _SECONDS, timeouts, "the reply was blank")
    is_timeout = _is_timeout(failure)
    seconds = _TIMEOUT_LADDER[min(timeouts, len(_TIMEOUT_LADDER) - 1)] if is_timeout else _pause(failure)
    return Setback(
        aborts=always_aborts or _aborts(failure),
        seconds=seconds,
        timeouts=timeouts + is_timeout,
        reason=failure.detail or failure.kind,
    )


def _aborts(failure: Failure) -> bool:
    """Whether it has to do with keys, money or the network, so that another try can bring a summary."""
    kind, status, text = failure.kind, failure.status, failure.detail
    if kind in ("connection", "timeout") or _TIMED_OUT.search(text):
        return status not in (429, 504)
    if kind == "permission" or status in (401, 403):
        return True
    if status == 402 or (kind == "quota" and status is None):
        return not _AGAIN.search(text)
    return status != 429 and kind != "rate_limit" and bool(_MONEY.search(text))


def _is_timeout(failure: Failure) -> bool:
    if failure.kind in ("timeout", "rate_limit") or failure.status in (408, 429, 502, 504):
        return True
    return bool(_TIMEOUT.search(failure.detail))


def _pause(failure: Failure) -> int:
    if failure.kind in ("connection", "bad_reply"):
        return _SHORT_SECONDS
    return _NO_PROVIDER_SECONDS if _NO_PROVIDER.search(failure.detail) else _SECONDS
