"""What imports cost: `python tests/benchmarks/import_time.py`. Exits 1 when a limit is passed.

Each figure is the median over fresh interpreters, or fresh kernels. An import is timed from outside, as the time of the
whole process above that of a bare interpreter started just before it; `%load_ext` is timed in a kernel that is running.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jupyter_client.blocking.client import BlockingKernelClient

RUNS = 9
THE_PACKAGE = "import harness_nb"
THE_FOUR_NAMES = "from harness_nb import HarnessAgent, MemoryIndex, presets, replay"
LOAD_EXTENSION = """
import json, sys, time
begin = time.perf_counter()
get_ipython().run_line_magic("load_ext", "harness_nb")
seconds = time.perf_counter() - begin
print(json.dumps({"ms": seconds * 1000, "ipywidgets": "ipywidgets" in sys.modules}))
"""


@dataclass(frozen=True)
class Figure:
    """One line of the table, in milliseconds."""

    name: str
    times: tuple[float, ...]
    limit: float

    @property
    def median(self) -> float:
        """The figure that counts."""
        return statistics.median(self.times)

    @property
    def is_kept(self) -> bool:
        """Whether the median is within the limit."""
        return self.median <= self.limit

    def __str__(self) -> str:
        spread = f"{min(self.times):6.1f} … {max(self.times):6.1f}"
        verdict = "ok" if self.is_kept else "ABOVE THE LIMIT"
        return f"{self.name:<72} {self.median:8.1f}  {spread}  {self.limit:6.0f}  {verdict}"


def process_ms(code: str) -> float:
    """Time of one interpreter from start to end."""
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return (time.perf_counter() - begin) * 1000


def import_figure(statement: str, limit: float) -> Figure:
    """Times a statement in fresh interpreters, a bare one before each; the first of both warms the disk's cache."""
    process_ms("pass"), process_ms(statement)
    bare, ours = zip(*((process_ms("pass"), process_ms(statement)) for _ in range(RUNS)), strict=True)
    base = statistics.median(bare)
    return Figure(statement, tuple(one - base for one in ours), limit)


@contextmanager
def running_kernel() -> Iterator[BlockingKernelClient]:
    """A kernel of this environment that has run its first cell."""
    from jupyter_client.manager import KernelManager

    with tempfile.TemporaryDirectory(prefix="hnb-") as folder:
        manager = KernelManager(transport="ipc", connection_file=str(Path(folder) / "kernel.json"))
        manager.start_kernel(cwd=folder)
        client = manager.blocking_client()
        client.start_channels()
        try:
            client.wait_for_ready(timeout=60)
            printed_by(client, "pass")
            yield client
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)


def printed_by(client: BlockingKernelClient, code: str) -> str:
    """What a cell prints.

    Raises:
        RuntimeError: The cell failed.
    """
    printed: list[str] = []

    def keep(message: dict[str, dict[str, str]]) -> None:
        printed.append(message["content"].get("text", ""))

    reply = client.execute_interactive(code, timeout=60, output_hook=keep)
    if reply["content"]["status"] != "ok":
        raise RuntimeError(reply["content"].get("evalue", "the cell failed"))
    return "".join(printed)


def extension_figure(limit: float) -> Figure:
    """Times `%load_ext harness_nb` in fresh kernels.

    Raises:
        RuntimeError: It failed, or loaded ipywidgets.
    """
    times = []
    for _ in range(RUNS):
        with running_kernel() as client:
            found = json.loads(printed_by(client, LOAD_EXTENSION))
        if found["ipywidgets"]:
            raise RuntimeError("%load_ext harness_nb loaded ipywidgets")
        times.append(found["ms"])
    return Figure("%load_ext harness_nb, in a running kernel", tuple(times), limit)


def main() -> int:
    """Prints the table and says whether every limit was kept."""
    print(f"{f'median of {RUNS}, in milliseconds':<72} {'median':>8}  {'least … most':>15}  {'limit':>6}")
    figures = []
    for measure in (
        lambda: import_figure(THE_PACKAGE, 60),
        lambda: import_figure(THE_FOUR_NAMES, 250),
        lambda: extension_figure(100),
    ):
        figures.append(measure())
        print(figures[-1], flush=True)
    return 0 if all(figure.is_kept for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
