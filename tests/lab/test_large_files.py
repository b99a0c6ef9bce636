"""Files of 100 MB, made here: how much memory reading them takes. `pytest -m slow tests/lab/test_large_files.py`."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.lab.files import claude, claude_answer, openai_call, pi_message, result, text, use

pytestmark = pytest.mark.slow

MEGABYTE = 1_000_000
SIZE = 100 * MEGABYTE
PAGE = "A sentence of a page that was read. " * 800

MEASURE = """
import resource, sys
from harness_nb.lab import transcripts
from harness_nb.core.messages import Message
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
chars = sum(len(message.text) for one in transcripts.iter_transcripts(sys.argv[1]) for message in one)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(chars, (after - before) * 1024)
"""


def write_large(path: Path, make: Callable[[int], list[dict[str, Any]]], *, head: Any = None) -> Path:
    """Writes lines until the file has its size."""
    with path.open("w", encoding="utf-8") as file:
        file.write(json.dumps(head) + "\n" if head else "")
        number = 0
        while file.tell() < SIZE:
            file.writelines(json.dumps(one) + "\n" for one in make(number))
            number += 1
    return path


def measured(path: Path) -> tuple[int, int]:
    """Characters of text that were read from a file, and the bytes of memory that it took, in a fresh interpreter."""
    done = subprocess.run([sys.executable, "-c", MEASURE, str(path)], capture_output=True, encoding="utf-8", check=True)
    chars, taken = map(int, done.stdout.split())
    return chars, taken


def one_conversation(number: int) -> list[dict[str, Any]]:
    said = [{"role": "user", "content": PAGE}, openai_call("c"), {"role": "tool", "tool_call_id": "c", "content": PAGE}]
    return [{"messages": said}]


def pi_round(number: int) -> list[dict[str, Any]]:
    call = {"type": "toolCall", "id": f"c{number}", "name": "read", "arguments": {}}
    return [
        pi_message(1, role="assistant", content=[call]),
        pi_message(2, role="toolResult", toolCallId=f"c{number}", content=[text("short")], details={"page": PAGE}),
    ]


def claude_round(number: int) -> list[dict[str, Any]]:
    asked, answered = f"a{number}", f"r{number}"
    parent = f"r{number - 1}" if number else None
    return [
        claude(1, asked, parent, claude_answer(f"m{number}", use(f"t{number}"))),
        claude(2, answered, asked, result(f"t{number}", "short"), toolUseResult={"file": {"content": PAGE}}),
    ]


def test_a_file_of_many_conversations_takes_the_memory_of_one(tmp_path: Path) -> None:
    chars, taken = measured(write_large(tmp_path / "t.jsonl", one_conversation))
    assert chars > 0.9 * SIZE
    assert taken < 20 * MEGABYTE


@pytest.mark.parametrize("make", [pi_round, claude_round])
def test_what_a_session_holds_for_the_screen_takes_no_memory(
    tmp_path: Path, make: Callable[[int], list[dict[str, Any]]]
) -> None:
    head = {"type": "session", "id": "s", "cwd": "/w"} if make is pi_round else None
    chars, taken = measured(write_large(tmp_path / "t.jsonl", make, head=head))
    assert chars < MEGABYTE
    assert taken < 40 * MEGABYTE


def test_one_long_conversation_takes_the_memory_of_its_text(tmp_path: Path) -> None:
    def message(number: int) -> list[dict[str, Any]]:
        return [{"role": "user" if number % 2 else "assistant", "content": f"{number} {PAGE}"}]

    chars, taken = measured(write_large(tmp_path / "t.jsonl", message))
    assert chars > 0.9 * SIZE
    assert taken < 1.3 * SIZE
