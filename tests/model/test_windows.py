from __future__ import annotations

import subprocess
import sys

import pytest

from harness_nb.core.limits import DEFAULT_WINDOW
from harness_nb.errors import ConfigError
from harness_nb.model.windows import chat_models, known_name, limits_of, nearest, window_warning


def test_r103_window_comes_from_the_user_first() -> None:
    limits = limits_of("gpt-4o", window=9_000, max_output=100)
    assert (limits.window, limits.max_output, limits.window_source) == (9_000, 100, "user")
    assert window_warning(limits) == ""


def test_r103_window_of_a_listed_model_is_found() -> None:
    limits = limits_of("openai/gpt-4o")
    assert (limits.window, limits.window_source) == (128_000, "litellm")
    assert limits.max_output == 16_384
    assert limits.takes_images and limits.takes_tools


def test_r103_unknown_model_uses_the_default_with_one_warning() -> None:
    limits = limits_of("openai/my-own-model")
    assert (limits.window, limits.window_source) == (DEFAULT_WINDOW, "default")
    assert limits.takes_tools
    warning = window_warning(limits)
    assert "my-own-model" in warning and str(DEFAULT_WINDOW) in warning and "\n" not in warning


def test_window_that_is_no_number_of_tokens_is_refused() -> None:
    with pytest.raises(ConfigError, match="window=0"):
        limits_of("gpt-4o", window=0)


def test_provider_prefixes_are_taken_off_where_needed() -> None:
    assert known_name("openai/gpt-4o") == "gpt-4o"
    assert known_name("no/such/thing") is None


def test_nearest_names_are_those_most_alike() -> None:
    assert "gpt-4o" in nearest("openai/gpt-4oo", chat_models())
    assert nearest("zzzzzzzz", chat_models()) == []


def test_list_is_read_without_importing_litellm() -> None:
    code = "import sys; from harness_nb.model.windows import limits_of; limits_of('gpt-4o'); assert 'litellm' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
