"""Facts of PicoClaw."""

from __future__ import annotations

from dataclasses import replace

from harness_nb.presets.facts.record import Facts

_LEGACY = Facts(
    trigger="more than 20 messages or 75 % of the window, after a turn; a provider's refusal",
    cut="at a request, four messages before the end or more",
    kept="the newest whole turns of four messages or more",
    model_calls="one summary; above ten messages two halves and a call that merges them",
    holds="MEMORY.md and daily notes",
    injected="MEMORY.md and the notes of the last three days",
    review="none",
    search="none",
    defaults=("summarize_message_threshold", "summarize_token_percent", "keep_last", "split_above", "notes_days"),
    known_faults=(
        "the earlier summary is forgotten whenever more than ten messages are summarised",
        "20 messages come long before any need",
        "what was summarised is gone from disk",
        "after a refusal half of the turns go without a summary",
        "nothing writes the daily notes",
    ),
    source="source and tests of sipeed/picoclaw, read",
    version="main of June 13, 2026, past 0.2.9",
)

FACTS = {
    "legacy": _LEGACY,
    "seahorse": replace(
        _LEGACY,
        trigger="eight messages outside the newest 32 items, after each turn; the whole window for summaries of summaries",
        cut="behind the oldest run of at least eight messages, or of 20,000 tokens",
        kept="the newest 32 items",
        model_calls="a leaf summary after a turn, tighter ones when it is too long, and summaries of summaries",
        search="by words over messages and summaries, with tools to expand them",
        defaults=("fresh_tail", "leaf_min", "leaf_chunk_tokens", "leaf_target", "condense_at", "notes_days"),
        known_faults=(
            "summaries are made at any pressure, which costs calls and the provider's cache",
            "large messages at the beginning block it for ever",
            "summaries are condensed only above the whole window",
            "cuts heed neither turns nor rounds",
            "search is not confined to a session",
        ),
    ),
}
