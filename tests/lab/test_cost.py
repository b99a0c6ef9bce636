"""What a session costs, worked out by hand."""

from __future__ import annotations

import pytest

from harness_nb import CompactionPolicy, Message, Transcript, edits, replay, score
from harness_nb.core.plan import Plan
from harness_nb.core.requests import Ask
from harness_nb.core.tokens import Measure
from harness_nb.core.view import View
from harness_nb.errors import ConfigError
from harness_nb.lab.cache import PLAIN
from harness_nb.lab.cost import break_even, break_even_calls, cost_of, own_cost, total_cost
from harness_nb.lab.run import Replay
from harness_nb.model.prices import prices_of
from tests.lab.test_metrics import TenEach, ten

MODEL = "claude-opus-4-5"  # 5 dollars a million tokens of input, 0.50 from the cache, 6.25 into it, 25 for output
MILLIONTH = 1e-6


class Asks(CompactionPolicy):
    """Has all but the last two items summarised by a model as soon as there are five."""

    def plan(self, view: View) -> Plan:
        if len(view.input) < 5:
            return view.unchanged("short")
        old, recent = view.input[:-2], view.input[-2:]
        reply = view.reply(Ask(purpose="summary", messages=(Message.user("Summarise."),)))
        return view.becomes([edits.summary(reply, of=old), *recent], "long")


def run(model: str = MODEL) -> Replay:
    """Three turns of ten tokens a message: requests of 10, 30 and, cut from 50, 30 tokens."""
    said = [one for at in range(3) for one in (Message.user(f"Question {at}?"), Message.assistant(f"Answer {at}."))]
    sizes = Measure(TenEach(), size=ten)
    return replay(Transcript(said, model=model), Asks(), window=1_000, model=None, measure=sizes)


def test_break_even_is_the_worked_example_of_a_compaction_from_160k_to_20k() -> None:
    prices = prices_of(MODEL)
    assert prices is not None
    uncached = 160_000 * 5 * MILLIONTH + 1_200 * 25 * MILLIONTH
    cached = 160_000 * 0.5 * MILLIONTH + 1_200 * 25 * MILLIONTH
    assert break_even(160_000, 20_000, uncached, prices) == pytest.approx(12.5)
    assert break_even(160_000, 20_000, cached, prices) == pytest.approx(2.2, abs=0.05)
    assert break_even(160_000, 1_000, 0.0, prices) == 0
    assert break_even(20_000, 20_000, 0.0, prices) is None


def test_a_session_costs_what_is_read_written_and_answered_and_the_policys_own_calls() -> None:
    """Read: 0, 10 and 0 tokens. Written: 10, 20 and 30. Answers: three of ten. Own: ten sent and ten brought."""
    cost = cost_of(run(), rules=PLAIN)
    assert cost.agent == pytest.approx((10 * 0.5 + 60 * 6.25 + 30 * 25) * MILLIONTH)
    assert cost.own == pytest.approx((10 * 5 + 10 * 25) * MILLIONTH)
    assert cost.total == pytest.approx(cost.agent + cost.own)


def test_requests_below_the_least_size_that_is_cached_cost_plain_input() -> None:
    assert cost_of(run()).agent == pytest.approx((70 * 5 + 30 * 25) * MILLIONTH)


def test_each_compaction_says_when_it_has_paid_off() -> None:
    """From 50 to 30 tokens: (6.25 * 30 - 0.5 * 50 + 300) / (0.5 * 20) = 46.25 further calls."""
    (one,) = cost_of(run()).break_evens
    assert (one.message, one.tokens_before, one.tokens_after) == (4 + 1, 50, 30)
    assert one.calls == pytest.approx(46.25)
    assert break_even_calls(run()) == pytest.approx(46.25)


def test_the_prices_are_those_of_the_recorded_model_or_of_the_one_that_is_named() -> None:
    assert total_cost(run(), "claude-sonnet-4-5") == pytest.approx((70 * 3 + 30 * 15 + 10 * 3 + 10 * 15) * MILLIONTH)
    assert own_cost(run()) == pytest.approx(300 * MILLIONTH)
    (priced,) = score(run(), metrics=["cost", "cache_reuse"], model="claude-sonnet-4-5").scores
    assert priced.values["cost"] == pytest.approx(840 * MILLIONTH)


def test_without_known_prices_there_is_no_figure_and_a_model_that_is_named_is_refused() -> None:
    unknown = run("a-model-of-mine")
    assert (total_cost(unknown), own_cost(unknown), break_even_calls(unknown)) == (None, None, None)
    with pytest.raises(ConfigError, match="'a-model-of-mine'"):
        cost_of(unknown)
    with pytest.raises(ConfigError, match="'no-such-model'"):
        score(run(), model="no-such-model")


def test_a_cost_shows_itself_and_has_a_row_a_compaction() -> None:
    cost = cost_of(run())
    assert MODEL in str(cost)
    assert "<table" in cost._repr_mimebundle_()["text/html"]
    assert cost.df["tokens_before"].tolist() == [50]
    idle = cost_of(replay(Transcript([Message.user("Hello?")], model=MODEL), Asks(), model=None))
    assert (idle.df.dtypes == cost.df.dtypes).all()
