"""Results on disk, a line each, so that a sweep that was stopped goes on where it was."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from types import CodeType
from typing import Any

from harness_nb.core.messages import to_json
from harness_nb.core.records import parse_line
from harness_nb.lab.metrics import METRICS, Metric
from harness_nb.lab.sweeping.batches import Result
from harness_nb.lab.sweeping.trials import Trial
from harness_nb.store.files import append_text, read_text

FORMAT = 2
"""Part of every key: results of another format are made anew."""


class Kept:
    """Results of earlier runs by key.

    Args:
        folder: Holds `sweep.jsonl`; None keeps nothing.
    """

    def __init__(self, folder: Path | None) -> None:
        self._path = folder / "sweep.jsonl" if folder is not None else None
        lines = (read_text(self._path) or "").splitlines() if self._path is not None else []
        records = [record for line in lines if (record := parse_line(line)) is not None]
        self.results: dict[str, Result] = {one["key"]: one["result"] for one in records if "key" in one}

    def write(self, results: Mapping[str, Result]) -> None:
        """Writes some down; nothing without a folder."""
        if self._path is not None:
            append_text(self._path, "".join(f"{to_json({'key': k, 'result': v})}\n" for k, v in results.items()))


def key_of(digest: str, trial: Trial, makings: Sequence[str]) -> str:
    """The key of a result.

    Args:
        digest: Of the transcript.
        trial: What was tried.
        makings: Of the metrics and of the policy, where it is the user's own.
    """
    settings = sorted((name, repr(value)) for name, value in trial.settings.items())
    said = [FORMAT, version("harness-nb"), digest, trial.policy, settings, trial.window, makings]
    return hashlib.sha256(to_json(said).encode()).hexdigest()


def making_of(metric: Metric) -> str:
    """What a metric is: its name, and the code of one of the user's own, so that a changed one is worked out anew."""
    return metric.name if METRICS.get(metric.name) == metric else f"{metric.name} {code_of(metric.compute)}"


def code_of(thing: Any) -> str:
    """Digest of the compiled code of a function, of a class's functions, or of what a partial holds."""
    return hashlib.sha256("".join(_code(thing, set())).encode()).hexdigest()[:16]


def _code(thing: Any, seen: set[int]) -> list[str]:
    if id(thing) in seen:
        return []
    seen.add(id(thing))
    code = getattr(thing, "__code__", None)
    if isinstance(code, CodeType):
        cells = [cell.cell_contents for cell in thing.__closure__ or ()]
        return [_said(code), repr(thing.__defaults__), *(text for one in cells for text in _code(one, seen))]
    if isinstance(thing, type):
        own = [value for value in vars(thing).values() if callable(value) or isinstance(value, property)]
        return [text for one in own for text in _code(getattr(one, "fget", one), seen)]
    if hasattr(thing, "func"):  # a partial
        parts = [thing.func, *thing.args, *thing.keywords.values()]
        return [text for one in parts for text in _code(one, seen)]
    return [] if callable(thing) else [repr(thing)]


def _said(code: CodeType) -> str:
    constants = [_said(one) if isinstance(one, CodeType) else repr(one) for one in code.co_consts]
    return f"{code.co_code.hex()}{code.co_names}{constants}"
