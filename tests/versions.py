"""Runs the unit tests on other Pythons, and on the lowest versions of the direct dependencies that are allowed.

    python -m tests.versions                    3.11, 3.12 and 3.13, those that are on this computer
    python -m tests.versions 3.12               one of them
    python -m tests.versions --lowest           the lowest versions, on the Python that runs this

Each run has an environment of its own, made by uv (`pip install uv`) in a temporary folder. Tests that need a browser,
a kernel, a local model or recorded conversations are left to the default run.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).parent.parent
PYTHONS = ("3.11", "3.12", "3.13")
UNIT = "not browser and not notebook and not local and not data and not slow and not network"


def find(python: str) -> str | None:
    """The interpreter of a version on this computer, or None."""
    command = [uv(), "python", "find", "--no-python-downloads", python]
    found = subprocess.run(command, capture_output=True, encoding="utf-8").stdout.strip()
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))  # uv does not look into it
    kept = sorted(map(str, root.glob(f"versions/{python}*/bin/python")))
    return found or (kept[-1] if kept else None)


def uv() -> str:
    """The command uv.

    Raises:
        SystemExit: It is not installed.
    """
    beside = Path(sys.executable).with_name("uv")
    command = str(beside) if beside.exists() else shutil.which("uv")
    if command is None:
        raise SystemExit("uv is not installed: pip install uv")
    return command


def run(python: str, *, lowest: bool = False) -> int:
    """Installs the project into a new environment and runs the unit tests there; gives the exit code."""
    with tempfile.TemporaryDirectory(prefix="hnb-") as folder:
        interpreter = f"{folder}/venv/bin/python"
        resolution = ["--resolution", "lowest-direct"] if lowest else []
        steps = (
            [uv(), "venv", "--quiet", "--python", python, f"{folder}/venv"],
            [uv(), "pip", "install", "--quiet", *resolution, "--python", interpreter, "-e", f"{PROJECT}[test]"],
            [interpreter, "-m", "pytest", "-q", "-m", UNIT, "-p", "no:cacheprovider"],
        )
        return next((code for step in steps if (code := subprocess.run(step, cwd=PROJECT).returncode)), 0)  # noqa: S603


def main(arguments: list[str]) -> int:
    """Runs what is asked for; 0 when all of it passed."""
    if "--lowest" in arguments:
        return run(sys.executable, lowest=True)
    failed = 0
    for version in arguments or PYTHONS:
        python = find(version)
        sys.stdout.write(f"Python {version}: {python or 'not on this computer'}\n")
        sys.stdout.flush()
        failed += python is not None and bool(run(python))
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
