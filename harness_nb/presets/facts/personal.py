"""Facts of the preset for a personal agent."""

from __future__ import annotations

from harness_nb.presets.facts.record import Facts

FACTS = {
    "": Facts(
        trigger="three quarters of the window, before a model call",
        cut="between rounds before what is kept",
        kept="a fifth of the window, the latest request, pins and standing instructions",
        model_calls="a checkpoint in four sections; facts for the daily log before it and after a turn",
        holds="a profile of the person, facts in daily logs, and MEMORY.md merged from them",
        injected="the profile always; lines of MEMORY.md only where the request points to them",
        review="every merge into MEMORY.md waits for a person",
        search="by words, and by meaning where the extra is installed, over notes and sessions",
        defaults=("trigger_tokens", "keep_tokens", "profile_chars", "relevant_lines", "search_mode"),
        known_faults=("a note that shares no word with the request has to be searched for",),
        source="what the comparison of Eney with seven harnesses recommends, composed of parts of the others",
        version="0.1.0",
    )
}
