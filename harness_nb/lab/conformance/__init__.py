"""Checks the presets against recordings of the systems they imitate.

A recording (a *case*) says what a system was given and what it did. `conformance` gives the same to our preset, with the
guards off, and compares. What runs is the live driver with the preset's policy, and the live memory design on a folder
of its own.

How to add a system
-------------------

Put a module of its name into `systems/` (`gemini-cli` is `gemini_cli.py`); nothing has to be registered. It has one
function::

    def run(given: Given) -> Mapping[str, Any]: ...

`given` is all there is: settings, conversation, stub answers and further keys of the case; never its id, its note or what
is expected. The mapping that comes back has the keys of the recording's `expect`; others are passed over. A key that is
missing, or a value inside one that was not recorded, fails the case; so does an exception, which is shown with it.

An adapter only translates. It makes settings of the preset from `given.config` (`presets.get(name, variant=..., ...)`),
messages from `given.messages()`, and what is not a message of ours (usage, a refusal, an earlier state) from the rest.
Then it lets the policy act::

    stub = Stub(given.answers)
    talk = conversation(messages)                                # state of an earlier call: talk.state = ...
    driven = drive(talk, preset.policy, "request", surroundings(messages, limits), stubbed(stub))

`driven.plans` are the plans, `driven.items` is the list that the next request sends, `driven.asked` the model calls with
their replies (`request.shown` are the indices that the model was shown). For the effects that `stubbed` does not know, such
as a text to be filed or a token count, write a responder of your own. What the system measures and decides (its estimator,
thresholds, cuts, sizes) belongs into its policy in `policies/`, which adapters reach through the preset; what its memory
does belongs into its design in `memory/designs/`.

Values are compared exactly. Mark what can't be exact with the types of `compare`: `Worded` for a figure that counts words
of ours, `Wording` for such words, `Ranked` and `Tied` for search results. Mark no more than that: a test changes recorded
values one by one and requires that each such case then fails. Where the length of a system's own fixed text is known, give
our text the same length, so that figures stay exact.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness_nb.lab.conformance.report import ConformanceReport


def conformance(
    paths: str | Path | Iterable[str | Path],
    *,
    systems: Iterable[str] | None = None,
    kinds: Iterable[str] | None = None,
) -> ConformanceReport:
    """Runs recordings of real systems against our presets, with guards off.

    Args:
        paths: A file of recordings, or several.
        systems: Names of the systems to run, as in the recordings; by default all.
        kinds: Groups of cases to run; by default all.

    Returns:
        Passed and failed by system and kind, and each failure with what was expected beside what came; `.df` is a frame of
        all results.

    Raises:
        TranscriptError: A file is no file of recordings; names the line.
        ConfigError: A system is not known.
    """
    from harness_nb.lab.conformance.report import ConformanceReport
    from harness_nb.lab.conformance.runner import run_cases

    files = [paths] if isinstance(paths, str | Path) else list(paths)
    return ConformanceReport(tuple(run_cases(files, names=systems, kinds=kinds)))
