from __future__ import annotations

from typing import Any

import pytest

from harness_nb.errors import ConfigError
from harness_nb.memory.designs.openclaw.config import (
    OpenClawDreamingConfig,
    OpenClawMemoryConfig,
    OpenClawSearchConfig,
)


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ({"vector_weight": 3, "text_weight": 1}, {"vector_weight": 0.5, "text_weight": 0.5}),
        ({"vector_weight": 0, "text_weight": -1}, {"vector_weight": 0.7, "text_weight": 0.3}),
        ({"min_score": 7}, {"min_score": 1}),
        ({"candidate_multiplier": 99}, {"candidate_multiplier": 20}),
        ({"candidate_multiplier": 0}, {"candidate_multiplier": 1}),
        ({"half_life_days": 0.4}, {"half_life_days": 1}),
        ({"chunk_tokens": 50, "chunk_overlap": 80}, {"chunk_overlap": 49}),
        ({"mmr_lambda": -2}, {"mmr_lambda": 0}),
        ({"max_results": 100, "candidate_multiplier": 20}, {"candidates": 200}),
        ({}, {"candidates": 24}),
    ],
)
def test_settings_of_the_search_are_brought_into_their_bounds(given: dict[str, Any], used: dict[str, Any]) -> None:
    config = OpenClawSearchConfig(**given)
    assert {name: getattr(config, name) for name in used} == used


def test_the_start_up_notes_have_upper_bounds() -> None:
    config = OpenClawMemoryConfig(startup_days=99, startup_file_bytes=10**9, startup_total_chars=10**9)
    assert (config.startup_days, config.startup_file_bytes, config.startup_total_chars) == (14, 65_536, 50_000)


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        (OpenClawMemoryConfig, {"context_injection": "sometimes"}),
        (OpenClawMemoryConfig, {"memory_flush": 1}),
        (OpenClawMemoryConfig, {"bootstrap_max_chars": 0}),
        (OpenClawSearchConfig, {"embeddings": "openai"}),
        (OpenClawSearchConfig, {"fts_join": "xor"}),
        (OpenClawSearchConfig, {"fts_tokenizer": "porter"}),
        (OpenClawSearchConfig, {"max_results": 0}),
        (OpenClawDreamingConfig, {"promotion_evidence": "none"}),
        (OpenClawDreamingConfig, {"deep_min_score": 1.1}),
        (OpenClawDreamingConfig, {"deep_half_life_days": 0}),
        (OpenClawDreamingConfig, {"dreaming": "yes"}),
    ],
)
def test_a_wrong_setting_is_refused_by_name(kind: type, wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as caught:
        kind(**wrong)
    assert caught.value.subject == next(iter(wrong))


def test_settings_show_themselves_in_short() -> None:
    assert repr(OpenClawSearchConfig(mmr=True)) == "OpenClawSearchConfig(mmr=True)"
