"""Shells and kernels to run cells in."""

from __future__ import annotations

import atexit
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config


class ReraisingShell(InteractiveShell):
    """A shell whose cells raise their errors, and return their results."""

    def cell(self, source: str) -> Any:
        """Runs a cell and returns its last value."""
        done = self.run_cell(source)
        done.raise_error()
        return done.result

    def enable_gui(self, gui: str | None = None) -> None:
        """No event loop of a window system is wanted."""

    def complete_line(self, line: str) -> list[str]:
        """What completion offers at the end of a line."""
        from IPython.core.completer import provisionalcompleter

        with provisionalcompleter():
            return [one.text for one in self.Completer.completions(line, len(line))]


def _settings() -> Config:
    config = Config()
    config.HistoryManager.enabled = False
    config.HistoryManager.hist_file = ":memory:"
    config.InteractiveShell.colors = "nocolor"
    config.IPCompleter.use_jedi = False
    return config


@pytest.fixture
def bare_shell() -> Iterator[ReraisingShell]:
    """A shell without the extension; like a terminal, it can't update a display."""
    hooks = sys.displayhook, sys.excepthook
    ReraisingShell.clear_instance()
    shell = ReraisingShell.instance(config=_settings())
    yield shell
    if "harness_nb" in shell.extension_manager.loaded:
        shell.run_line_magic("unload_ext", "harness_nb")
    shell.restore_sys_module_state()
    atexit.unregister(shell.atexit_operations)  # it would clean up at the end what the run has long removed
    ReraisingShell.clear_instance()
    sys.displayhook, sys.excepthook = hooks


@pytest.fixture
def shell(bare_shell: ReraisingShell) -> ReraisingShell:
    """A shell with the extension loaded."""
    bare_shell.cell("%load_ext harness_nb")
    return bare_shell


@pytest.fixture
def live_shell(shell: ReraisingShell) -> ReraisingShell:
    """A shell that, like a kernel, can update displays; what it is told to show is kept in `display_pub.outputs`."""
    shell.kernel = object()
    shell.display_pub = CapturingDisplayPublisher()
    return shell
