"""Where we run, and whether displays stand still."""

from __future__ import annotations

import subprocess
import sys

from harness_nb.notebook.environment import is_static, place


def test_a_shell_without_a_kernel_is_a_terminal_and_stands_still(shell) -> None:
    assert place() == "terminal" and is_static()


def test_a_kernel_moves_unless_told_otherwise(live_shell, monkeypatch) -> None:
    assert place() == "kernel" and not is_static()
    monkeypatch.setenv("HARNESS_NB_STATIC", "0")
    assert not is_static()
    monkeypatch.setenv("HARNESS_NB_STATIC", "1")
    assert is_static()


def test_a_script_has_no_shell_and_the_question_imports_none() -> None:
    code = """
import sys
from harness_nb.notebook.environment import is_static, place
assert place() == "script" and is_static() and "IPython" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
