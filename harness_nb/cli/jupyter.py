"""Starts JupyterLab of this interpreter."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path


def open_lab(folder: Path, arguments: Sequence[str] = ()) -> int:
    """Runs JupyterLab until it ends.

    Args:
        folder: The folder to open.
        arguments: Further options of JupyterLab.

    Returns:
        Its exit code.
    """
    with subprocess.Popen([sys.executable, "-m", "jupyterlab", *arguments], cwd=folder) as lab:
        while True:
            try:
                return lab.wait()
            except KeyboardInterrupt:  # JupyterLab got it, too, and asks whether to stop
                continue
