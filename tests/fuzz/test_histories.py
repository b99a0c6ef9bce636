from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from tests.fuzz.histories import History, histories
from tests.fuzz.playing import play


@settings(max_examples=200, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(histories())
def test_whatever_happens_the_model_input_is_valid_and_the_log_complete(history: History) -> None:
    play(history)
