"""Shells and kernels to run cells in."""

from __future__ import annotations

import atexit
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import harness_nb

if TYPE_CHECKING:
    from jupyter_client.blocking import BlockingKernelClient
    from jupyter_client.manager import KernelManager


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


@dataclass
class Ran:
    """What came of a cell in a kernel."""

    outputs: list[dict[str, Any]] = field(default_factory=list)
    error: str = ""

    @property
    def text(self) -> str:
        """Everything that was printed or returned, as text."""
        pieces = [output.get("text") or output.get("data", {}).get("text/plain", "") for output in self.outputs]
        return "\n".join(pieces)


class Kernel:
    """A kernel to run cells in.

    Args:
        manager: Its manager.
        client: A client with open channels.
    """

    def __init__(self, manager: KernelManager, client: BlockingKernelClient) -> None:
        self.manager = manager
        self.client = client
        self.interrupted = 0.0

    def run(self, code: str, *, until: str | None = None) -> Ran:
        """Runs a cell to its end; with `until`, interrupts it as soon as an output holds that text."""
        ran, asked = Ran(), self.client.execute(code)
        while True:
            message = self.client.get_iopub_msg(timeout=60)
            if message["parent_header"].get("msg_id") != asked:
                continue
            content = message["content"]
            if message["msg_type"] == "status" and content["execution_state"] == "idle":
                break
            if message["msg_type"] == "error":
                ran.error = "\n".join(content["traceback"])
            elif message["msg_type"] in ("stream", "display_data", "update_display_data", "execute_result"):
                ran.outputs.append(content)
            if until is not None and until in ran.text:
                until, self.interrupted = None, time.monotonic()
                self.manager.interrupt_kernel()
        self.client.get_shell_msg(timeout=60)
        return ran


@pytest.fixture
def kernel() -> Iterator[Kernel]:
    """A real kernel; it talks over `ipc`, so it works where there is no network at all."""
    from jupyter_client.manager import KernelManager

    manager = KernelManager(kernel_name="python3", transport="ipc")
    manager.start_kernel(env=dict(os.environ, PYTHONPATH=str(Path(harness_nb.__file__).parent.parent)))
    client = manager.blocking_client()
    client.start_channels(hb=False)
    client.wait_for_ready(timeout=60)
    yield Kernel(manager, client)
    client.stop_channels()
    manager.shutdown_kernel(now=True)
    manager.cleanup_resources()
