"""A laboratory for LLM-agent memory, inside Jupyter.

Names are loaded on first use, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness_nb import presets
    from harness_nb.agent.agent import HarnessAgent
    from harness_nb.core import edits
    from harness_nb.core.config import (
        ClearResultsConfig,
        CompactionConfig,
        MaintenanceConfig,
        MemoryConfig,
        PinsConfig,
        ToolResultEvictionConfig,
        TruncateArgsConfig,
    )
    from harness_nb.core.item import Item
    from harness_nb.core.messages import Message
    from harness_nb.core.plan import Plan
    from harness_nb.core.policy import CompactionPolicy
    from harness_nb.core.requests import Ask
    from harness_nb.core.transcript import Transcript
    from harness_nb.core.view import View
    from harness_nb.errors import ContextOverflowError, HarnessError
    from harness_nb.lab.canaries import canaries
    from harness_nb.lab.compare import compare
    from harness_nb.lab.conformance import conformance
    from harness_nb.lab.evaluation import Fixtures, Task, checks, evaluate, evaluation
    from harness_nb.lab.leaderboard import leaderboard
    from harness_nb.lab.replay import replay
    from harness_nb.lab.score import score
    from harness_nb.lab.sweep import sweep
    from harness_nb.lab.transcripts import iter_transcripts, read_transcript, read_transcripts
    from harness_nb.lab.writing import write_transcript
    from harness_nb.model.litellm_model import LiteLLMModel
    from harness_nb.model.offline import OfflineModel
    from harness_nb.model.scripted import ScriptedModel
    from harness_nb.notebook.widgets.consolidation import ConsolidationWidget
    from harness_nb.notebook.widgets.cutoff import CutoffWidget
    from harness_nb.notebook.widgets.pressure import PressureWidget
    from harness_nb.notebook.widgets.tuner import TunerWidget
    from harness_nb.store.hits import SearchHit
    from harness_nb.store.index import MemoryIndex
    from harness_nb.store.workspace import Workspace

_HOMES = {
    "Ask": "core.requests",
    "ClearResultsConfig": "core.config",
    "CompactionConfig": "core.config",
    "CompactionPolicy": "core.policy",
    "canaries": "lab.canaries",
    "checks": "lab.evaluation.checks",
    "compare": "lab.compare",
    "conformance": "lab.conformance",
    "ConsolidationWidget": "notebook.widgets.consolidation",
    "ContextOverflowError": "errors",
    "HarnessAgent": "agent.agent",
    "HarnessError": "errors",
    "Item": "core.item",
    "LiteLLMModel": "model.litellm_model",
    "MaintenanceConfig": "core.config",
    "MemoryConfig": "core.config",
    "MemoryIndex": "store.index",
    "Message": "core.messages",
    "OfflineModel": "model.offline",
    "PinsConfig": "core.config",
    "Plan": "core.plan",
    "PressureWidget": "notebook.widgets.pressure",
    "ScriptedModel": "model.scripted",
    "SearchHit": "store.hits",
    "ToolResultEvictionConfig": "core.config",
    "Transcript": "core.transcript",
    "TruncateArgsConfig": "core.config",
    "TunerWidget": "notebook.widgets.tuner",
    "View": "core.view",
    "Workspace": "store.workspace",
    "CutoffWidget": "notebook.widgets.cutoff",
    "edits": "core.edits",
    "evaluate": "lab.evaluation",
    "evaluation": "lab.evaluation",
    "Fixtures": "lab.evaluation",
    "Task": "lab.evaluation",
    "presets": "presets",
    "iter_transcripts": "lab.transcripts",
    "read_transcript": "lab.transcripts",
    "read_transcripts": "lab.transcripts",
    "write_transcript": "lab.writing",
    "leaderboard": "lab.leaderboard",
    "replay": "lab.replay",
    "score": "lab.score",
    "sweep": "lab.sweep",
}
_MODULES = {"checks", "edits", "presets"}

__all__ = [
    "Ask",
    "canaries",
    "checks",
    "ClearResultsConfig",
    "CompactionConfig",
    "CompactionPolicy",
    "compare",
    "conformance",
    "ConsolidationWidget",
    "ContextOverflowError",
    "CutoffWidget",
    "edits",
    "evaluate",
    "evaluation",
    "Fixtures",
    "HarnessAgent",
    "HarnessError",
    "Item",
    "iter_transcripts",
    "leaderboard",
    "LiteLLMModel",
    "MaintenanceConfig",
    "MemoryConfig",
    "MemoryIndex",
    "Message",
    "OfflineModel",
    "PinsConfig",
    "Plan",
    "presets",
    "PressureWidget",
    "read_transcript",
    "read_transcripts",
    "replay",
    "score",
    "ScriptedModel",
    "SearchHit",
    "sweep",
    "Task",
    "ToolResultEvictionConfig",
    "Transcript",
    "TruncateArgsConfig",
    "TunerWidget",
    "View",
    "Workspace",
    "write_transcript",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f"{__name__}.{home}")
    value = module if name in _MODULES else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted((*__all__, *(name for name in globals() if name.startswith("__"))))


def load_ipython_extension(ipython: Any) -> None:
    """Called by `%load_ext harness_nb`."""
    from harness_nb.notebook.extension import load

    load(ipython)


def unload_ipython_extension(ipython: Any) -> None:
    """Called by `%unload_ext harness_nb`; undoes what loading did."""
    from harness_nb.notebook.extension import unload

    unload(ipython)
