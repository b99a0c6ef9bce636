"""Loading and unloading: one magics object, one matcher, the HTML forms of the core's records; no thread, no file."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any

from harness_nb.notebook.display import add_forms, remove_forms
from harness_nb.notebook.magics import HarnessMagics

_MATCHER = "harness_nb"


def load(shell: Any) -> None:
    """Puts magics, completion and display forms into a shell."""
    unload(shell)
    magics = HarnessMagics(shell)
    shell.register_magics(magics)
    _add_matcher(shell, magics)
    add_forms(shell)


def unload(shell: Any) -> None:
    """Takes out what `load` put in, closes the agents that magics made, and stops their loop."""
    for magics in [one for one in shell.configurables if isinstance(one, HarnessMagics)]:
        magics.seat.close()
        _remove_magics(shell, magics)
    _remove_matcher(shell)
    remove_forms(shell)
    runner = sys.modules.get("harness_nb.agent.runner")
    if runner is not None:
        runner.runner.close()


def _remove_magics(shell: Any, magics: HarnessMagics) -> None:
    """IPython has no call for this."""
    manager = shell.magics_manager
    shell.configurables.remove(magics)
    manager.registry.pop(type(magics).__name__, None)
    for table in manager.magics.values():
        for name in [name for name, run in table.items() if getattr(run, "__self__", None) is magics]:
            del table[name]


def _add_matcher(shell: Any, magics: HarnessMagics) -> None:
    with suppress(ImportError, AttributeError):  # an older IPython goes without completion
        from harness_nb.notebook.completion import matcher

        shell.Completer.custom_matchers.append(matcher(magics))


def _remove_matcher(shell: Any) -> None:
    completer = getattr(shell, "Completer", None)
    matchers = getattr(completer, "custom_matchers", [])
    matchers[:] = [one for one in matchers if getattr(one, "matcher_identifier", "") != _MATCHER]
