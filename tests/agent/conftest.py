from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness_nb.agent.agent import HarnessAgent
from harness_nb.core.clock import Clock
from harness_nb.core.config import MemoryConfig
from harness_nb.model.scripted import Reply, ScriptedModel

Make = Callable[..., HarnessAgent]


@pytest.fixture
def make(workspace: Path, clock: Clock) -> Iterator[Make]:
    """Makes agents of one workspace on a scripted model, without a flush unless `memory` is given; closes them."""
    made: list[HarnessAgent] = []

    def make(*chat: Reply, model: ScriptedModel | None = None, **options: Any) -> HarnessAgent:
        scripted = model or ScriptedModel(chat=list(chat))
        settings = {"workspace": workspace, "clock": clock, "memory": MemoryConfig(flush="never")}
        made.append(HarnessAgent(model=scripted, **(settings | options)))
        return made[-1]

    yield make
    for agent in made:
        agent.close()
