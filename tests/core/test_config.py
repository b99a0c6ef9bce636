from __future__ import annotations

from dataclasses import FrozenInstanceError, fields
from datetime import timedelta
from typing import Any

import pytest

from harness_nb.core.config import (
    EXCLUDED_TOOLS,
    ClearResultsConfig,
    CompactionConfig,
    MaintenanceConfig,
    MemoryConfig,
    PinsConfig,
    ToolResultEvictionConfig,
    TruncateArgsConfig,
    in_tokens,
    positive,
)
from harness_nb.core.limits import DEFAULT_WINDOW, ModelLimits
from harness_nb.errors import ConfigError

KINDS = [
    CompactionConfig,
    TruncateArgsConfig,
    ClearResultsConfig,
    PinsConfig,
    ToolResultEvictionConfig,
    MemoryConfig,
]
COUNTS = [
    (kind, one.name)
    for kind in KINDS
    for one in fields(kind)
    if isinstance(one.default, int) and not isinstance(one.default, bool)
]
SWITCHES = [(kind, one.name) for kind in KINDS for one in fields(kind) if isinstance(one.default, bool)]


def test_defaults_are_those_of_the_documentation() -> None:
    compaction, arguments, eviction = CompactionConfig(), TruncateArgsConfig(), ToolResultEvictionConfig()

    assert (compaction.trigger_messages, compaction.trigger_tokens) == (50, 80_000)
    assert (compaction.keep_messages, compaction.keep_tokens) == (20, 0)
    assert (compaction.flush_before_compact, compaction.offload_before_compact) == (True, True)
    assert (compaction.summary_prompt, compaction.truncate_args) == (None, None)
    assert (arguments.trigger_messages, arguments.trigger_tokens) == (25, 40_000)
    assert (arguments.keep_messages, arguments.keep_tokens, arguments.max_arg_length) == (20, 0, 2_000)
    memory, maintenance = MemoryConfig(), MaintenanceConfig()
    assert (memory.max_memory_tokens, memory.review) == (4_000, "doubtful")
    assert (maintenance.interval, maintenance.min_gap) == (timedelta(hours=6), timedelta(minutes=30))
    assert (maintenance.daily_file_retention_days, maintenance.session_retention_days) == (90, 180)
    assert (eviction.max_result_chars, eviction.preview_chars) == (80_000, 2_000)
    assert (eviction.eviction_path, eviction.excluded_tool_names) == ("large_tool_results", EXCLUDED_TOOLS)


SHARES = [
    (CompactionConfig, "trigger_tokens"),
    (CompactionConfig, "keep_tokens"),
    (CompactionConfig, "reserved"),
    (CompactionConfig, "restore_tokens"),
    (TruncateArgsConfig, "trigger_tokens"),
    (TruncateArgsConfig, "keep_tokens"),
    (ClearResultsConfig, "protect_tokens"),
]


@pytest.mark.parametrize(("kind", "name"), SHARES)
def test_a_size_in_tokens_may_be_a_share_of_the_window(kind: Any, name: str) -> None:
    for value, tokens in ((0.25, 50_000), (1.0, 200_000), (5_000, 5_000), (1e-9, 1)):
        assert in_tokens(getattr(kind(**{name: value}), name), 200_000) == tokens
    for wrong in (-1, 0.0, 1.01, -0.5, float("nan"), True, "half"):
        with pytest.raises(ConfigError, match=f"{name}={wrong!r}"):
            kind(**{name: wrong})


@pytest.mark.parametrize("value", [-1, float("nan"), 1.5, True, None, "90"])
@pytest.mark.parametrize(("kind", "name"), COUNTS)
def test_a_count_that_is_no_whole_number_is_refused_by_name_and_value(kind: Any, name: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=f"{name}={value!r}") as caught:
        kind(**{name: value})
    assert caught.value.subject == name
    assert "whole number" in caught.value.remedy


@pytest.mark.parametrize(("kind", "name"), SWITCHES)
def test_a_switch_is_true_or_false_and_nothing_like_it(kind: Any, name: str) -> None:
    with pytest.raises(ConfigError, match=f"{name}=1 is not valid"):
        kind(**{name: 1})


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        (CompactionConfig, "summary_prompt", " "),
        (CompactionConfig, "summary_prompt", 5),
        (CompactionConfig, "truncate_args", {"max_arg_length": 5}),
        (CompactionConfig, "truncate_args", True),
        (CompactionConfig, "clear_results", TruncateArgsConfig()),
        (CompactionConfig, "fallback", "elide"),
        (CompactionConfig, "warn_at", 1.1),
        (CompactionConfig, "summary_model", ""),
        (ClearResultsConfig, "excluded_tool_names", "read_file"),
        (PinsConfig, "max_tokens", 0),
        (TruncateArgsConfig, "max_arg_length", 0),
        (ToolResultEvictionConfig, "max_result_chars", 0),
        (ToolResultEvictionConfig, "eviction_path", ""),
        (ToolResultEvictionConfig, "eviction_path", " "),
        (ToolResultEvictionConfig, "eviction_path", "."),
        (ToolResultEvictionConfig, "eviction_path", "/large_tool_results"),
        (ToolResultEvictionConfig, "eviction_path", "a/../../b"),
        (ToolResultEvictionConfig, "eviction_path", "C:\\results"),
        (ToolResultEvictionConfig, "eviction_path", None),
        (ToolResultEvictionConfig, "excluded_tool_names", "read_file"),
        (ToolResultEvictionConfig, "excluded_tool_names", None),
        (ToolResultEvictionConfig, "excluded_tool_names", [3]),
        (MemoryConfig, "flush", "sometimes"),
        (MemoryConfig, "flush", True),
        (MemoryConfig, "flush_gap", timedelta()),
        (MemoryConfig, "flush_gap", 300),
        (MemoryConfig, "max_injected_tokens", 0),
        (MemoryConfig, "max_memory_tokens", 0),
        (MemoryConfig, "batch_tokens", 0),
        (MemoryConfig, "review", "never"),
        (MemoryConfig, "review", True),
        (MemoryConfig, "max_loss_share", 1.1),
        (MemoryConfig, "max_loss_share", float("nan")),
        (MemoryConfig, "max_loss_share", "0.3"),
        (MemoryConfig, "max_loss_share", True),
        (ModelLimits, "window", 0),
        (ModelLimits, "window", None),
        (ModelLimits, "window", 1.5),
        (ModelLimits, "window", True),
        (ModelLimits, "max_output", -1),
    ],
)
def test_a_wrong_setting_is_refused_by_name_and_value(kind: Any, name: str, value: Any) -> None:
    given = {name: value} | ({"name": "m"} if kind is ModelLimits else {})

    with pytest.raises(ConfigError) as caught:
        kind(**given)

    assert name in caught.value.problem and repr(value) in caught.value.problem
    assert caught.value.subject == name


def test_settings_are_frozen_and_given_by_name() -> None:
    with pytest.raises(FrozenInstanceError):
        CompactionConfig().keep_messages = 3  # type: ignore[misc]
    with pytest.raises(TypeError):
        CompactionConfig(3)  # type: ignore[misc]
    with pytest.raises(ConfigError, match="keep_mesages"):
        CompactionConfig(keep_mesages=3)  # type: ignore[call-arg]


def test_a_repr_shows_what_differs_from_the_default_in_a_fixed_order() -> None:
    assert repr(CompactionConfig()) == "CompactionConfig()"
    assert repr(CompactionConfig(keep_messages=4, truncate_args=TruncateArgsConfig())) == (
        "CompactionConfig(keep_messages=4, truncate_args=TruncateArgsConfig())"
    )
    names = frozenset({"c", "a", "b"})
    assert repr(ToolResultEvictionConfig(excluded_tool_names=names)) == (
        "ToolResultEvictionConfig(excluded_tool_names={'a', 'b', 'c'})"
    )
    assert repr(ToolResultEvictionConfig(excluded_tool_names=frozenset())) == (
        "ToolResultEvictionConfig(excluded_tool_names=frozenset())"
    )


def test_tool_names_may_be_given_as_any_collection() -> None:
    assert ToolResultEvictionConfig(excluded_tool_names=["a", "a"]).excluded_tool_names == {"a"}  # type: ignore[arg-type]
    assert ToolResultEvictionConfig(eviction_path="results/large").eviction_path == "results/large"


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), True, "5", None])
def test_a_number_that_is_not_positive_and_finite_is_refused(value: Any) -> None:
    class Held:
        seconds = value

    with pytest.raises(ConfigError, match="seconds="):
        positive(Held(), "seconds")


def test_limits_of_an_unknown_model_say_that_the_window_is_the_default() -> None:
    limits = ModelLimits(name="m")

    assert (limits.window, limits.window_source, limits.max_output) == (DEFAULT_WINDOW, "default", None)
