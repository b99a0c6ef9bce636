from __future__ import annotations

import pytest

from harness_nb.core.requests import Failure, Reply
from harness_nb.policies.hermes.failures import setback


def after(failure: Failure, timeouts: int = 0, always_aborts: bool = False) -> tuple[bool, int]:
    found = setback(Reply(None, failure), timeouts, always_aborts)
    assert found is not None
    return found.aborts, found.seconds


@pytest.mark.parametrize(
    ("failure", "aborts", "seconds"),
    [
        (Failure("permission", "bad key", 401), True, 60),
        (Failure("quota", "payment required", 402), True, 60),
        (Failure("quota", "payment required, try again later", 402), False, 60),
        (Failure("permission", "forbidden", 403), True, 60),
        (Failure("error", "no credit is left", 400), True, 60),
        (Failure("error", "not found", 404), False, 60),
        (Failure("quota", "insufficient_quota", 429), False, 60),
        (Failure("rate_limit", "slow down", 429), False, 60),
        (Failure("server_error", "boom", 500), False, 60),
        (Failure("server_error", "no answer", 504), False, 60),
        (Failure("timeout", "Request timed out."), True, 60),
        (Failure("connection", "refused"), True, 30),
        (Failure("bad_reply", "no JSON"), False, 30),
        (Failure("error", "no provider is set up"), False, 600),
        (Failure("quota", "no credit"), True, 60),
    ],
)
def test_keys_money_and_the_network_leave_the_list_alone(failure: Failure, aborts: bool, seconds: int) -> None:
    assert after(failure) == (aborts, seconds)


def test_timeouts_in_a_row_wait_longer_and_longer() -> None:
    waits = [after(Failure("timeout", "timed out"), before)[1] for before in range(5)]
    assert waits == [60, 300, 900, 900, 900]


def test_every_failure_leaves_the_list_alone_where_that_is_set() -> None:
    assert after(Failure("server_error", "boom", 500), always_aborts=True)[0]


def test_a_blank_reply_is_a_failure_and_a_thought_alone_is_none() -> None:
    assert setback(Reply(" \n"), 0, False) is not None
    assert setback(Reply("<think>only this</think>"), 0, False) is None
