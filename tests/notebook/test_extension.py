"""Loading and unloading leave a shell as it was."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from harness_nb.core.messages import Message


def is_ours(one: object) -> bool:
    """IPython takes in magics of its own as it goes along."""
    return type(one).__module__.startswith("harness_nb")


def state(shell: Any) -> dict[str, Any]:
    formatter = shell.display_formatter.formatters["text/html"]
    return {
        "line": set(shell.magics_manager.magics["line"]),
        "cell": set(shell.magics_manager.magics["cell"]),
        "registry": {name for name, one in shell.magics_manager.registry.items() if is_ours(one)},
        "configurables": [type(one).__name__ for one in shell.configurables if is_ours(one)],
        "matchers": len(shell.Completer.custom_matchers),
        "forms": {key for key in formatter.deferred_printers if "harness" in str(key)}
        | {kind for kind in formatter.type_printers if "harness" in kind.__module__},
        "threads": {thread.name for thread in threading.enumerate()},
    }


def test_unloading_takes_out_what_loading_put_in(bare_shell) -> None:
    before = state(bare_shell)
    for _ in range(2):
        bare_shell.cell("%load_ext harness_nb")
        loaded = state(bare_shell)
        assert {"agent", "memory", "context"} <= loaded["line"] and "agent" in loaded["cell"]
        assert loaded["configurables"].count("HarnessMagics") == 1 and loaded["matchers"] == before["matchers"] + 1
        assert loaded["threads"] == before["threads"]
        bare_shell.cell("%unload_ext harness_nb")
        assert state(bare_shell) == before


def test_unloading_after_use_closes_what_the_magics_made(bare_shell) -> None:
    before = state(bare_shell)
    bare_shell.cell("%load_ext harness_nb")
    bare_shell.cell("%%agent\nhello")
    bare_shell.cell("%unload_ext harness_nb")
    assert state(bare_shell) == before


def test_reloading_keeps_one_of_everything_and_the_settings(shell) -> None:
    shell.cell("%config HarnessMagics.limit = 3")
    shell.cell("%reload_ext harness_nb")
    after = state(shell)
    assert after["configurables"].count("HarnessMagics") == 1
    magics = next(one for one in shell.configurables if type(one).__name__ == "HarnessMagics")
    assert magics.limit == 3


def test_records_show_as_html_only_while_the_extension_is_loaded(bare_shell) -> None:
    def forms() -> set[str]:
        return set(bare_shell.display_formatter.format(Message.user("<b>"))[0])

    assert "text/html" not in forms()
    bare_shell.cell("%load_ext harness_nb")
    assert "text/html" in forms()
    bare_shell.cell("%unload_ext harness_nb")
    assert "text/html" not in forms()


def test_loading_makes_no_file_and_no_thread(bare_shell) -> None:
    threads = threading.active_count()
    bare_shell.cell("%load_ext harness_nb")
    assert list(Path.cwd().iterdir()) == [] and threading.active_count() == threads
