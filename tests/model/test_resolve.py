from __future__ import annotations

import subprocess
import sys

import pytest

from harness_nb.errors import ConfigError
from harness_nb.model.litellm_model import LiteLLMModel
from harness_nb.model.offline import OfflineModel
from harness_nb.model.resolve import resolve


def test_offline_is_made_with_its_window() -> None:
    model = resolve("offline", window=5_000)
    assert isinstance(model, OfflineModel) and model.limits.window == 5_000


def test_model_comes_back_as_it_is() -> None:
    model = OfflineModel()
    assert resolve(model) is model


def test_name_of_litellm_is_resolved_without_importing_it() -> None:
    code = (
        "import sys; from harness_nb.model.resolve import resolve; resolve('offline');"
        "assert 'harness_nb.model.litellm_model' not in sys.modules; resolve('openai/gpt-4o', temperature=0.5);"
        "assert 'litellm' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert isinstance(resolve("ollama/my-model"), LiteLLMModel)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("gpt-4oo", {}, "'gpt-4o'"),
        ("offlin", {}, "'offline'"),
        ("nowhere/thing-of-mine", {}, "provider/model"),
        ("antropic/claude-sonnet-4-5", {}, "'claude-sonnet-4-5'"),
        ("", {}, "empty"),
        ("scripted", {}, "ScriptedModel"),
        ("local:/no/such/file.gguf", {}, "/no/such/file.gguf"),
        ("offline", {"temperature": 1}, "'temperature'"),
        ("openai/gpt-4o", {"temprature": 1}, "'temperature'"),
        ("openai/gpt-4o", {"window": -5}, "window=-5"),
        ("openai/gpt-4o", {"timeout_seconds": 0}, "timeout_seconds=0"),
    ],
)
def test_unknown_name_or_option_is_refused_in_two_lines(name: str, options: dict[str, object], words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        resolve(name, **options)
    assert words in str(caught.value)
    assert len(str(caught.value).splitlines()) <= 3


@pytest.mark.parametrize(
    "name", ["openrouter/a-lab/new-model", "huggingface/a-lab/new-model", "vertex_ai_beta/gemini-2.5-pro"]
)
def test_providers_whose_models_litellm_does_not_list_are_taken(name: str) -> None:
    assert isinstance(resolve(name), LiteLLMModel)


def test_thing_that_is_no_model_is_refused() -> None:
    with pytest.raises(ConfigError, match="no model"):
        resolve(42)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="window"):
        resolve(OfflineModel(), window=5)
