"""What the tests of the memory layer share: a workspace on disk with an index, at a fixed time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness_nb.core.clock import Clock
from harness_nb.store.index import MemoryIndex
from harness_nb.store.workspace import Workspace


@pytest.fixture
def store(workspace: Path, clock: Clock) -> Workspace:
    """A fresh workspace at 2026-04-12 09:30 UTC."""
    return Workspace(workspace, clock=clock)


@pytest.fixture
def index(store: Workspace) -> Iterator[MemoryIndex]:
    """Its index, closed afterwards."""
    with MemoryIndex.of(store) as index:
        yield index
