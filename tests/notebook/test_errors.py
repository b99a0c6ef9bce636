"""Errors of a user are short in a cell, and whole in Python."""

from __future__ import annotations

import pytest

from harness_nb.errors import ConfigError
from harness_nb.notebook.errors import MagicError, TurnInterrupt, short_errors


def test_an_error_that_the_user_can_act_on_becomes_short_and_keeps_its_cause() -> None:
    with pytest.raises(MagicError) as caught, short_errors():
        raise ConfigError("'x' is wrong.", "Use 'y'.", subject="x")
    assert caught.value._render_traceback_() == ["'x' is wrong.", "Use 'y'."]
    assert isinstance(caught.value.__cause__, ConfigError) and caught.value.subject == "x"


def test_debug_leaves_the_original() -> None:
    with pytest.raises(ConfigError), short_errors(debug=True):
        raise ConfigError("a", "b")


def test_a_fault_of_ours_keeps_its_traceback() -> None:
    with pytest.raises(ZeroDivisionError), short_errors():
        1 / 0  # noqa: B018 - the error is what is tested


def test_at_most_three_lines_are_shown() -> None:
    assert MagicError("a\nb\nc", "d\ne")._render_traceback_() == ["a", "b", "c d e"]


def test_an_interrupt_is_one_line_and_an_interrupt_all_the_same() -> None:
    with pytest.raises(KeyboardInterrupt) as caught, short_errors():
        raise KeyboardInterrupt
    assert isinstance(caught.value, TurnInterrupt)
    assert caught.value._render_traceback_() == ["KeyboardInterrupt: stopped; the session stays valid."]
    with pytest.raises(KeyboardInterrupt) as whole, short_errors(debug=True):
        raise KeyboardInterrupt
    assert not isinstance(whole.value, TurnInterrupt)
