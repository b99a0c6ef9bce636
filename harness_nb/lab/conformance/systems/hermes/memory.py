"""Hermes' bounded memory: calls of its tool, new sessions, and files that others change."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness_nb.core.clock import Clock
from harness_nb.lab.conformance.cases import Given
from harness_nb.lab.conformance.driving import START
from harness_nb.memory.designs.hermes.bounded import TARGETS, BoundedMemory, Outcome
from harness_nb.memory.designs.hermes.design import HermesMemoryConfig, entry_files
from harness_nb.memory.designs.hermes.snapshot import Snapshot, snapshot
from harness_nb.store.workspace import Workspace

_LONG_CHARS, _HEAD_CHARS = 2_000, 40


def remembered(given: Given) -> Mapping[str, Any]:
    """Carries out the steps of a case in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="harness-nb-") as folder:
        return _Stores(given.config, Path(folder)).run(given.config["steps"])


class _Stores:
    """Both stores, and the snapshots of the session in progress."""

    def __init__(self, config: Mapping[str, Any], folder: Path) -> None:
        limits = {key: config[key] for key in ("memory_char_limit", "user_char_limit")}
        workspace = Workspace(folder, clock=Clock.fixed(START))
        self.files = entry_files(workspace, HermesMemoryConfig(**limits))
        for target, text in config.get("files", {}).items():
            self._overwrite(target, text)
        self.memory = BoundedMemory(self.files)
        self.shown = self._load()

    def run(self, steps: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """What came of each step, and what is left."""
        results = [self._step(one) for one in steps]
        entries = {target: list(map(_entry, self.memory_entries(target))) for target in TARGETS}
        return {
            "results": results,
            "entries": entries,
            "prompt_block": self._blocks(),
            "entries_after_reload": {target: list(map(_entry, self.files[target].read())) for target in TARGETS},
        }

    def memory_entries(self, target: str) -> Sequence[str]:
        """The entries of a store as the tool knows them."""
        return self.files[target].read()

    def _step(self, step: Mapping[str, Any]) -> dict[str, Any]:
        match step["op"]:
            case "tool":
                return {"op": "tool", **_result(self.memory.change(step["args"]))}
            case "load":
                self.shown = self._load()
                return {"op": "load", "prompt_block": self._blocks()}
            case "new_turn":
                self.memory.new_turn()
            case "external":
                self._overwrite(step["target"], step["text"])
        return {"op": step["op"]}

    def _overwrite(self, target: str, text: str) -> None:
        path = self.files[target].path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def _load(self) -> dict[str, Snapshot]:
        return {target: snapshot(target, file) for target, file in self.files.items()}

    def _blocks(self) -> dict[str, Any]:
        return {target: _block(one) for target, one in self.shown.items()}


def _block(shown: Snapshot) -> dict[str, Any] | None:
    if not shown.entries:
        return None
    entries = list(map(_entry, shown.entries))
    return {"percent": shown.percent, "used": shown.used, "chars": len(shown.text), "entries": entries}


def _entry(text: str) -> Any:
    return text if len(text) <= _LONG_CHARS else {"chars": len(text), "head": text[:_HEAD_CHARS]}


def _result(outcome: Outcome) -> dict[str, Any]:
    found: dict[str, Any] = {"success": outcome.is_success, "outcome": outcome.kind}
    if outcome.shows_usage:
        found |= {"used": outcome.used, "limit": outcome.limit}
    if outcome.is_success:
        found["entry_count"] = len(outcome.entries)
    if outcome.shows_entries:
        found["entries_shown"] = len(outcome.entries)
    if outcome.previews:
        found["previews"] = list(outcome.previews)
    if outcome.pattern:
        found["pattern"] = outcome.pattern
    if outcome.kind == "drift":
        found["backup_written"] = bool(outcome.backup)
    if outcome.kind == "retry_cap":
        found["final"] = True
    return found
