"""Facts of OpenClaw."""

from __future__ import annotations

from harness_nb.presets.facts.record import Facts

FACTS = {
    "": Facts(
        trigger="the window less 24,000 tokens before a turn, and a provider's refusal",
        cut="before about 20,000 tokens; a turn may be split, its beginning is summarised apart",
        kept="about 20,000 newest tokens, and excerpts of the last turns inside the summary",
        model_calls="a summary in five headings, in chunks that are merged, and another when an audit fails; notes before it",
        holds="MEMORY.md and daily notes, which the model writes as files",
        injected="workspace files, 20,000 characters each and 60,000 together",
        review="dreaming, off by default, can be previewed; here its promotions wait for a person",
        search="by words and meaning, 0.3 and 0.7, over chunks of 400 tokens",
        defaults=("mode", "soft_threshold_tokens", "recent_turns_preserve", "min_score", "hybrid", "dreaming"),
        known_faults=(
            "a manual compaction drops the newest 20,000 tokens without a summary",
            "turns that are excerpted never reach the summariser",
            "the audit takes a last attempt that fails it",
            "a window below about 44,000 tokens compacts on every turn and keeps everything",
            "a search for all words refuses natural questions",
            "no notes are taken after a refusal",
        ),
        source="the published package, run and recorded, its documentation and tracker",
        version="2026.7.1-2",
    )
}
