"""Facts of Hermes Agent."""

from __future__ import annotations

from dataclasses import replace

from harness_nb.presets.facts.record import Facts

_SHIPPED = Facts(
    trigger="75 % of the window, 50 % of one of 512,000 tokens or more, 85 % of one of 64,000",
    cut="a start of three messages, only until the first compaction, and an end by tokens; the middle goes",
    kept="an end of a fifth of the threshold in tokens, eight messages at least",
    model_calls="one structured checkpoint, which later compactions update; a look back every ten turns",
    holds="MEMORY.md of 2,200 and USER.md of 1,375 characters, and all sessions",
    injected="both files, frozen as the session begins; what an outside provider recalls",
    review="off by default; a setting lets every change wait",
    search="full text over sessions, without a model",
    defaults=(
        "threshold",
        "threshold_floor",
        "target_ratio",
        "protect_last_n",
        "memory_char_limit",
    ),
    known_faults=(
        "what the protected start held is lost at the second compaction without having been summarised",
        "a model fault discards the middle by default",
        "a fact saved now is not in the prompt before the next session or compaction",
        "what the running session compacted away can't be searched",
        "the trigger jumps at 512,000 tokens",
    ),
    source="the published wheel, run and recorded, and its tracker",
    version="0.19.0 of July 20, 2026",
)

FACTS = {
    "shipped": _SHIPPED,
    "report": replace(
        _SHIPPED,
        trigger="half of the window, whatever its size",
        cut="a start that stays protected and an end by tokens; the middle goes, and a linked child session begins",
        known_faults=_SHIPPED.known_faults[1:4],
        source="a report on Hermes where it differs from the build",
    ),
}
