"""A batch: some trials on one transcript, whose messages are counted once in a process, wherever that runs."""

from __future__ import annotations

import gc
import hashlib
import pickle
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from harness_nb.core.messages import to_json
from harness_nb.core.records import message_to_record
from harness_nb.core.transcript import Transcript
from harness_nb.errors import ConfigError, HarnessError
from harness_nb.lab.counting import measure_for
from harness_nb.lab.metrics import Metric
from harness_nb.lab.replay import replay
from harness_nb.lab.sweeping.trials import Trial
from harness_nb.presets import Preset, get
from harness_nb.presets.own import Maker

Result = dict[str, Any]
"""What came of one trial: the window, each metric by name, and why it was refused, or empty."""

_MOST_UNPACKED = 8
_unpacked: dict[str, Case] = {}
"""What this process has unpacked, the latest last: batches of one case share its counts."""


@dataclass(frozen=True, slots=True)
class Case:
    """What all batches on one transcript need.

    Attributes:
        transcript: What was said.
        metrics: What is taken down.
        own: What makes the policies that were registered in this process, by name: others do not know them.
    """

    transcript: Transcript
    metrics: tuple[Metric, ...]
    own: Mapping[str, Maker]

    def results(self, trials: Sequence[Trial]) -> list[Result]:
        """Replays the transcript under some trials; its messages are counted once for all of them."""
        found = []
        for trial in trials:
            with _uncollected():
                found.append(self._result(trial))
        return found

    def _result(self, trial: Trial) -> Result:
        transcript = self.transcript
        try:
            preset = self._preset(trial)
            measure = transcript.once(measure_for)
            run = replay(transcript, preset, window=trial.window, model=None, measure=measure)
        except HarnessError as error:
            return {"window": trial.window, "error": error.problem} | {one.name: None for one in self.metrics}
        return {"window": run.window, "error": ""} | {one.name: _plain(one(run)) for one in self.metrics}

    def _preset(self, trial: Trial) -> Preset:
        make = self.own.get(trial.policy)
        return get(trial.policy, **trial.settings) if make is None else make(**trial.settings)


@contextmanager
def _uncollected() -> Iterator[None]:
    """No search for cycles for a moment: a replay makes many objects and no cycle, and looking costs a fifth of its time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@dataclass(frozen=True, slots=True)
class Packed:
    """A case on its way to other processes.

    Attributes:
        digest: Names it.
        data: All of it.
    """

    digest: str
    data: bytes


def packed(case: Case) -> Packed:
    """A case as bytes.

    Raises:
        ConfigError: A policy or metric of the user's own can't be sent.
    """
    try:
        data = _dumps(case)
    except Exception as error:  # whatever a user's own class raises
        raise ConfigError(
            f"A policy or metric can't be sent to other processes: {error}.",
            "Run the sweep here (executor=None), define it in a module, or install harness_nb[distributed].",
        ) from error
    return Packed(hashlib.sha256(data).hexdigest(), data)


def _dumps(case: Case) -> bytes:
    """Bytes by cloudpickle, which dask brings and which sends what a notebook defines, or by pickle."""
    try:
        import cloudpickle
    except ImportError:
        return pickle.dumps(case)
    data: bytes = cloudpickle.dumps(case)
    return data


def run_batch(given: Packed, trials: Sequence[Trial]) -> list[Result]:
    """Runs some trials in whatever process this is; the case is unpacked, and its messages counted, once in it."""
    case = _unpacked.get(given.digest)
    if case is None:
        case = pickle.loads(given.data)  # noqa: S301 - packed by the process that runs the sweep
        while len(_unpacked) >= _MOST_UNPACKED:
            _unpacked.pop(next(iter(_unpacked)))
        _unpacked[given.digest] = case
    return case.results(trials)


def _plain(value: Any) -> float | int | bool | None:
    """A figure as JSON has it, so that a result that was kept is the result that was made."""
    if value is None or isinstance(value, bool | int):
        return value
    return float(value)


def fingerprint(transcript: Transcript) -> str:
    """SHA-256 of all of a transcript that a replay depends on: messages with times and bills, and the model."""
    said = [transcript.model, [message_to_record(message) for message in transcript]]
    return hashlib.sha256(to_json(said).encode()).hexdigest()
