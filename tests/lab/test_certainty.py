"""Intervals, sign test and agreement on cases worked out by hand."""

from __future__ import annotations

import math

import pytest

from harness_nb.errors import ConfigError
from harness_nb.lab.certainty import agreement, bootstrap, sign_test, standard_error


def test_the_mean_is_that_of_all_values_and_the_ends_are_those_of_resampled_conversations() -> None:
    # two conversations, all right and all wrong: a resample of two has both right (1/4), one (1/2) or none (1/4)
    interval = bootstrap({"a": [1.0, 1.0], "b": [0.0, 0.0]})
    assert (interval.mean, interval.low, interval.high, interval.clusters) == (0.5, 0.0, 1.0, 2)
    assert str(interval) == "50.0 % [0.0, 100.0]"


def test_questions_of_one_conversation_are_not_resampled_alone() -> None:
    interval = bootstrap({"a": [1.0, 0.0, 1.0, 0.0]})
    assert (interval.low, interval.mean, interval.high) == (0.5, 0.5, 0.5)


def test_the_same_seed_draws_the_same_and_a_lower_level_is_narrower() -> None:
    values = {str(n): [n / 10] for n in range(10)}
    assert bootstrap(values, seed=3) == bootstrap(values, seed=3)
    wide, narrow = bootstrap(values), bootstrap(values, level=0.5)
    assert wide.low < narrow.low < narrow.mean < narrow.high < wide.high


def test_nothing_to_resample_and_a_level_that_is_none_are_refused() -> None:
    with pytest.raises(ConfigError, match="no value to resample"):
        bootstrap({"a": []})
    with pytest.raises(ConfigError, match="level=95 is no share"):
        bootstrap({"a": [1.0]}, level=95)


def test_the_standard_error_of_a_share_of_five_hundred() -> None:
    assert standard_error(0.82, 500) == pytest.approx(math.sqrt(0.82 * 0.18 / 500)) == pytest.approx(0.0172, abs=5e-5)
    assert math.isnan(standard_error(0.5, 0))


def test_the_sign_test_is_exact_and_ties_do_not_count() -> None:
    # 5 wins, 1 loss, 1 tie: 2 * (C(6,0) + C(6,1)) / 2^6 = 14/64
    first, second = [1, 1, 1, 1, 1, 0, 1], [0, 0, 0, 0, 0, 1, 1]
    assert sign_test(first, second) == 14 / 64 == sign_test(second, first)
    assert sign_test([1, 0], [1, 0]) == 1
    assert sign_test([1, 0], [0, 1]) == 1
    with pytest.raises(ConfigError, match="2 figures can't be paired with 1"):
        sign_test([1, 0], [1])


def test_kappa_takes_chance_out_of_the_agreement() -> None:
    # first says yes 5 of 10, second 6 of 10; they agree on 4 yes and 3 no: observed 0.7,
    # by chance 0.5 * 0.6 + 0.5 * 0.4 = 0.5, so kappa is (0.7 - 0.5) / (1 - 0.5) = 0.4
    pairs = [(True, True)] * 4 + [(True, False)] + [(False, True)] * 2 + [(False, False)] * 3
    found = agreement("a", "b", pairs)
    assert (found.number, found.share) == (10, 0.7)
    assert found.kappa == pytest.approx(0.4)


def test_kappa_is_not_said_where_both_say_the_same_everywhere_and_without_verdicts() -> None:
    assert agreement("a", "b", [(True, True)] * 3).kappa is None
    assert agreement("a", "b", []).kappa is None
    assert agreement("a", "b", [(True, True), (False, False)]).kappa == 1
