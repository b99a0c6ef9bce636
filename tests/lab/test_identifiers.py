from __future__ import annotations

import json

import pytest

from harness_nb import Message
from harness_nb.core.messages import ToolCall
from harness_nb.lab.identifiers import identifiers, old_texts, texts


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Open ./src/main.py, please.", {"src/main.py"}),
        ("see src/main.py:12: and /src/main.py", {"src/main.py"}),
        ("call read_transcript(path) or readTranscript()", {"read_transcript", "readTranscript"}),
        ("the order W9283746 of user mia_li_3668", {"W9283746", "mia_li_3668"}),
        ("number 48213, but not 4821 or 3.14", {"48213"}),
        ("plain words say nothing. Not even Capitals - or dashes", set()),
        ("harness_nb.core.item.Item", {"harness_nb.core.item.Item"}),
        ("größe_in_px", {"größe_in_px"}),
        ("", set()),
        ("x" * 300 + "_", set()),
    ],
)
def test_paths_symbols_and_ids_are_found_and_words_are_not(text: str, found: set[str]) -> None:
    assert identifiers(text) == found


def test_a_message_says_its_text_and_what_its_calls_hand_over() -> None:
    call = ToolCall("c1", "edit", json.dumps({"path": "a.py", "edits": [{"oldText": "x = 1", "newText": "x = 2"}]}))
    assert sorted(texts(Message.assistant("On it.", [call]))) == ["On it.", "a.py", "x = 1", "x = 2"]
    assert list(old_texts(call)) == ["x = 1"]


def test_arguments_that_are_no_json_object_are_taken_as_they_are() -> None:
    call = ToolCall("c1", "bash", "cat src/main.py")
    assert list(texts(Message.assistant(calls=[call]))) == ["cat src/main.py"]
    assert list(old_texts(call)) == []
