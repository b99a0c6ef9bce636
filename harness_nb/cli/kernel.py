"""Runs a notebook in a kernel of this interpreter that talks over files instead of ports, so that no network is needed."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness_nb.errors import HarnessError

if TYPE_CHECKING:
    from nbformat import NotebookNode

CELL_SECONDS = 120
"""Longest time for one cell."""

Progress = Callable[[int, int], object]


class NotebookFailed(HarnessError):
    """A cell of a notebook failed, or its kernel did."""


def run_notebook(
    notebook: NotebookNode,
    folder: Path,
    *,
    variables: Mapping[str, str] | None = None,
    progress: Progress = lambda done, total: None,
) -> None:
    """Runs all cells in order and puts the outputs into the notebook.

    Args:
        notebook: Is changed: its outputs and counts are those of this run, also when a cell fails.
        folder: Working directory of the kernel.
        variables: Environment variables of the kernel beside those of this process.
        progress: Called with the number of cells that ran and of all cells.

    Raises:
        NotebookFailed: A cell failed or took too long, or the kernel ended.
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    cells = len(notebook.cells)
    with _kernel_manager() as manager:
        client = NotebookClient(
            notebook,
            km=manager,
            timeout=CELL_SECONDS,
            store_widget_state=False,
            record_timing=False,
            coalesce_streams=True,  # however the prints of a cell came in
            extra_arguments=["--HistoryManager.hist_file=:memory:"],
            resources={"metadata": {"path": str(folder)}},
            on_cell_complete=lambda cell, cell_index: progress(cell_index + 1, cells),
        )
        try:
            client.execute(env={**os.environ, **_VARIABLES, **(variables or {})}, cleanup_kc=True)
        except CellExecutionError as error:
            raise NotebookFailed(*_failure(notebook)) from error
        except CellTimeoutError as error:
            raise NotebookFailed(f"A cell took longer than {CELL_SECONDS} seconds.", "Run it in JupyterLab.") from error
        except DeadKernelError as error:
            raise NotebookFailed("The kernel ended before the notebook did.", "Run it again.") from error


_VARIABLES = {"HARNESS_NB_STATIC": "1"}
"""Nobody watches: displays stand still, so that their final state is stored."""


def with_parameters(notebook: NotebookNode, parameters: Mapping[str, object]) -> NotebookNode:
    """A copy in which a cell after the one tagged `parameters` sets some of them, as papermill does.

    Args:
        notebook: Stays as it is.
        parameters: Values of which the repr is a Python literal, by name.
    """
    from nbformat.v4 import new_code_cell

    copy = deepcopy(notebook)
    if parameters:
        lines = [f"{name} = {value!r}" for name, value in parameters.items()]
        cell = new_code_cell("\n".join(lines), id="injected-parameters", metadata={"tags": ["injected-parameters"]})
        at = next(at for at, one in enumerate(copy.cells) if "parameters" in one.metadata.get("tags", ()))
        copy.cells.insert(at + 1, cell)
    return copy


def ask_kernel(notebook: NotebookNode, statement: str, expression: str) -> None:
    """Adds a last cell that runs a statement and shows an expression of JSON values; `answer` takes it out again."""
    from nbformat.v4 import new_code_cell

    show = f"display({{{_JSON!r}: {expression}}}, raw=True)"
    notebook.cells.append(new_code_cell(f"{statement}\n{show}", id="answer"))


def answer(notebook: NotebookNode) -> Any:
    """Takes the cell of `ask_kernel` out and gives its value, or None when it did not run."""
    outputs = notebook.cells.pop().outputs
    return outputs[-1].data[_JSON] if outputs else None


_JSON = "application/json"


@contextmanager
def _kernel_manager() -> Iterator[Any]:
    """A manager for a kernel of this interpreter, whatever kernels are installed; sockets lie in a folder of their own.

    Sockets have short names only, so the folder is a short one. Windows has none of them: there the kernel uses ports.
    """
    from jupyter_client.kernelspec import NATIVE_KERNEL_NAME, KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager

    with tempfile.TemporaryDirectory(prefix="hnb-", ignore_cleanup_errors=True) as folder:
        yield AsyncKernelManager(
            kernel_name=NATIVE_KERNEL_NAME,
            kernel_spec_manager=KernelSpecManager(kernel_dirs=[]),
            connection_file=str(Path(folder) / "k.json"),
            transport="tcp" if sys.platform == "win32" else "ipc",
        )


def _failure(notebook: NotebookNode) -> tuple[str, str]:
    """The first error of a notebook: which cell and why, and what its error says to do."""
    for number, cell in enumerate(notebook.cells, start=1):
        for output in cell.get("outputs", ()):
            if output.output_type == "error":
                said, _, remedy = output.evalue.partition("\n")
                return f"Cell {number} failed with {output.ename}: {said}", remedy
    return "A cell failed.", ""
