"""One policy of a tuner: its preset, its settings, and the replay under them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from harness_nb.core.tokens import Measure
from harness_nb.core.transcript import Transcript
from harness_nb.lab.replay import replay
from harness_nb.lab.run import Replay
from harness_nb.notebook.comparing import metrics
from harness_nb.notebook.tuning import preset_code
from harness_nb.notebook.widgets.scenes import view_of
from harness_nb.presets import Preset
from harness_nb.render.cutoff import outcome_model, planned_model
from harness_nb.render.pressure import pressure_model
from harness_nb.render.tuner import Tuned

QUICK_SECONDS = 0.075
"""How long a replay may take in a handler; a longer one goes on in the background."""


class TooLong(Exception):
    """A replay took longer than it may, or is no longer wanted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Settings to try on a conversation.

    Attributes:
        transcript: The conversation.
        preset: Policy and settings.
        window: Context window in tokens, or None for the recorded model's.
        measure: Sizes of messages, shared by all trials of a conversation; None for the first.
    """

    transcript: Transcript
    preset: Preset
    window: int | None
    measure: Measure | None

    def run(self, progress: Callable[[int, int], object] | bool = False) -> Replay:
        """The whole replay; no model is asked."""
        return replay(
            self.transcript,
            self.preset,
            window=self.window,
            model=None,
            measure=self.measure,
            progress=progress,
        )

    def preview(self) -> Tuned:
        """What one compaction now would do: at once, whatever the length."""
        policy = self.preset.policy
        view = view_of(self.transcript, self.preset, window=self.window, measure=self.measure)
        plan = policy.plan(view) if policy is not None else view.unchanged("compaction is off")
        made = planned_model(view, plan, self.preset.name)
        note = "This is one compaction of it all; the replay is under way …"
        return Tuned(name=self.preset.name, strip=made, code=preset_code(self.preset), note=note)

    def result(self, run: Replay) -> Tuned:
        """What the replay says."""
        pressure = pressure_model(run.final, run.pressure(), policy=run.policy, course=run.course())
        return Tuned(
            name=run.policy,
            strip=outcome_model(run.final, run.policy, title=run.policy),
            pressure=pressure,
            metrics=metrics(run),
            code=preset_code(self.preset),
        )


class Attempts:
    """Replays of one column: a quick one at once, a long one in the background, and only the last one counts."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._number = 0
        self._last_seconds = 0.0

    def begin(self) -> int:
        """A new attempt; those before it end."""
        with self._lock:
            self._number += 1
            return self._number

    def is_wanted(self, number: int) -> bool:
        """Whether no newer attempt has begun."""
        return number == self._number

    def quickly(self, trial: Trial) -> Replay | None:
        """The replay, or None when it takes too long for a handler."""
        if self._last_seconds > 2 * QUICK_SECONDS:
            return None
        begun = time.perf_counter()

        def look(done: int, total: int) -> None:
            if time.perf_counter() - begun > QUICK_SECONDS:
                raise TooLong

        try:
            return self._timed(trial, look)
        except TooLong:
            self._last_seconds = 3 * QUICK_SECONDS
            return None

    def slowly(self, trial: Trial, number: int) -> Replay | None:
        """The replay however long it takes, or None when a newer attempt began meanwhile."""

        def look(done: int, total: int) -> None:
            if not self.is_wanted(number):
                raise TooLong

        try:
            return self._timed(trial, look)
        except TooLong:
            return None

    def _timed(self, trial: Trial, look: Callable[[int, int], object]) -> Replay:
        begun = time.perf_counter()
        run = trial.run(look)
        self._last_seconds = time.perf_counter() - begun
        return run
