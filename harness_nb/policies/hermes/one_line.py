"""An old tool result in one line: which tool, on what, and how much came of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from harness_nb.core.messages import ToolCall

_EXIT = re.compile(r'"exit_code"\s*:\s*(-?\d+)')
_COMMAND_CHARS = 80
_VALUE_CHARS = 40

Arguments = Mapping[str, Any]


def one_line(call: ToolCall | None, result: str) -> str:
    """What stays of a result.

    Args:
        call: The call that it answers, None where it is not known.
        result: The whole text.
    """
    name = call.name if call is not None else "tool"
    arguments = (call.parsed() or {}) if call is not None else {}
    describe = _KNOWN.get(name, _any)
    return f"[{name}] {describe(arguments, result)}"


def _terminal(arguments: Arguments, result: str) -> str:
    found = _EXIT.search(result)
    command = _short(_text(arguments, "command"), _COMMAND_CHARS)
    return f"did `{command}` with exit {found[1] if found else '?'}; {_lines(result)} lines came"


def _read_file(arguments: Arguments, result: str) -> str:
    return f"saw {_text(arguments, 'path', '?')} at line {arguments.get('offset', 1)} on ({len(result):,} chars)"


def _write_file(arguments: Arguments, result: str) -> str:
    return f"put {_lines(_text(arguments, 'content'))} lines into {_text(arguments, 'path', '?')}"


def _search_files(arguments: Arguments, result: str) -> str:
    found = re.search(r'"total_count"\s*:\s*(\d+)', result)
    target, place = _text(arguments, "target", "content"), _text(arguments, "path", ".")
    return f"{target} search of '{_text(arguments, 'pattern', '?')}' in {place} -> {found[1] if found else '?'} found"


def _patch(arguments: Arguments, result: str) -> str:
    return f"{_text(arguments, 'mode', 'replace')} in {_text(arguments, 'path', '?')} ({len(result):,} chars came)"


def _sized(key: str) -> Callable[[Arguments, str], str]:
    def describe(arguments: Arguments, result: str) -> str:
        return f"{key} '{_short(_text(arguments, key, '?'), _VALUE_CHARS)}' ({len(result):,} chars came)"

    return describe


def _execute_code(arguments: Arguments, result: str) -> str:
    code = _short(" ".join(_text(arguments, "code").split()), 60)
    return f"ran `{code}` ({_lines(result)} lines came)"


def _any(arguments: Arguments, result: str) -> str:
    """The first two arguments and the size."""
    shown = " ".join(f"{key}={_short(_written(value), _VALUE_CHARS)}" for key, value in list(arguments.items())[:2])
    return f"{shown}{' ' if shown else ''}({len(result):,} chars came)"


_KNOWN: dict[str, Callable[[Arguments, str], str]] = {
    "terminal": _terminal,
    "read_file": _read_file,
    "write_file": _write_file,
    "search_files": _search_files,
    "patch": _patch,
    "execute_code": _execute_code,
    "web_search": _sized("query"),
    "delegate_task": _sized("goal"),
    "vision_analyze": _sized("question"),
}


def _text(arguments: Arguments, key: str, default: str = "") -> str:
    value = arguments.get(key)
    return value if isinstance(value, str) and value else default


def _written(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."


def _lines(text: str) -> int:
    return text.count("\n") + 1 if text.strip() else 0
