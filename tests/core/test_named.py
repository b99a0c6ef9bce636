"""A misspelled setting is refused with the one that was meant."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness_nb import CompactionConfig, MaintenanceConfig, MemoryConfig, ToolResultEvictionConfig, TruncateArgsConfig
from harness_nb.errors import ConfigError


@pytest.mark.parametrize(
    ("record", "typed", "meant"),
    [
        (CompactionConfig, "triger_messages", "trigger_messages"),
        (TruncateArgsConfig, "max_args_length", "max_arg_length"),
        (ToolResultEvictionConfig, "max_results_chars", "max_result_chars"),
        (MemoryConfig, "max_tokens", "max_memory_tokens"),
        (MaintenanceConfig, "intervall", "interval"),
    ],
)
def test_a_misspelled_setting_is_refused_with_the_nearest(record: type, typed: str, meant: str) -> None:
    with pytest.raises(ConfigError, match=f"^{record.__name__} has no setting '{typed}'.\nDid you mean '{meant}'"):
        record(**{typed: 1})


def test_what_is_like_nothing_is_refused_with_all_there_is_and_a_change_is_checked_too() -> None:
    with pytest.raises(ConfigError, match="It has .*keep_messages"):
        CompactionConfig(zzz=1)
    with pytest.raises(ConfigError, match="Did you mean 'keep_messages'"):
        replace(CompactionConfig(), keep_message=3)
    assert CompactionConfig(keep_messages=3) == replace(CompactionConfig(), keep_messages=3)
