"""Facts of Eney Harness."""

from __future__ import annotations

from harness_nb.presets.facts.record import Facts

FACTS = {
    "": Facts(
        trigger="75, 90 and 95 % of an assumed window, before every model call",
        cut="at 90 % before the last six messages; at 95 % before the latest substantive request",
        kept="at 75 % all but the middle of the largest result; then six messages; then one request with what follows",
        model_calls="none",
        holds="topic files and their index MEMORY.md, a folder for each working directory",
        injected="the first 200 lines of the index as the session begins",
        review="the permission system asks before each write",
        search="none: the model reads a topic file that the index names",
        defaults=(
            "thresholds",
            "tier1_keep_ratio",
            "tier2_keep_messages",
            "window_claude",
        ),
        known_faults=(
            "the note says that something was dropped, not what it was",
            "six messages of a tool loop may not hold the request",
            "a result that was elided can be read and elided again and again",
            "four characters a token undercounts other scripts and code",
            "facts about the person are bound to one folder",
        ),
        source="a report on the private harness; what it leaves open follows OpenHarness or is decided here",
        version="July 20, 2026",
    )
}
