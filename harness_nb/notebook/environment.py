"""Where we run: a kernel, a terminal or a script; and whether displays must stand still."""

from __future__ import annotations

import os
import sys
from typing import Any, Literal

Place = Literal["kernel", "terminal", "script"]

STATIC_VARIABLE = "HARNESS_NB_STATIC"


def place(shell: Any = None) -> Place:
    """A kernel can update a display, a terminal can't, a script has none.

    Args:
        shell: The IPython shell, or None for the running one.
    """
    shell = shell if shell is not None else running_shell()
    if shell is None:
        return "script"
    return "kernel" if getattr(shell, "kernel", None) is not None else "terminal"


def running_shell() -> Any:
    """The IPython shell of this process, or None; IPython is not imported for the question."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


def is_static(shell: Any = None) -> bool:
    """Whether only final objects are shown: by the environment variable, by `%config`, or because nothing can be updated.

    Args:
        shell: The IPython shell, or None for the running one.
    """
    shell = shell if shell is not None else running_shell()
    if os.environ.get(STATIC_VARIABLE, "0") not in ("", "0") or place(shell) != "kernel":
        return True
    magics = next((one for one in shell.configurables if type(one).__name__ == "HarnessMagics"), None)
    return bool(magics is not None and magics.static)
