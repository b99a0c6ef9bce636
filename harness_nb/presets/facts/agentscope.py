"""Facts of AgentScope's harness."""

from __future__ import annotations

from dataclasses import replace

from harness_nb.presets.facts.record import Facts

_DOCUMENTED = Facts(
    trigger="50 messages or 80,000 tokens, whichever comes first, before a model call",
    cut="before the last messages that are kept, moved back so that no call is parted from its results",
    kept="the newest 20 messages, or a number of tokens instead",
    model_calls="a summary in four sections; facts for the daily log before it",
    holds="facts in daily logs, and MEMORY.md merged from them",
    injected="MEMORY.md, up to 8,000 tokens",
    review="none in the original; here the safeguards of the preset harness",
    search="full text over all files in the version documented, a plain scan later",
    defaults=("trigger_messages", "trigger_tokens", "keep_messages", "keep_tokens", "flush_before_compact"),
    known_faults=(
        "a blank or failed summary still discards what it stood for",
        "a second compaction can lose the summary of the first",
        "a large kept tail compacts again before every call",
        "the request of a long tool loop can be summarised away",
    ),
    source="AgentScope Java: its documentation, source and tracker",
    version="documented generation of April 2026; main of August 22, 2026",
)

FACTS = {
    "as_documented": _DOCUMENTED,
    "as_shipped": replace(
        _DOCUMENTED,
        known_faults=(
            *_DOCUMENTED.known_faults,
            "shortened arguments are thrown away unless a compaction follows",
            "an argument above the limit is cut to 20 characters",
            "large results are moved to the root of the file system",
        ),
    ),
}
