from __future__ import annotations

import json
from dataclasses import replace

import pytest

from harness_nb.core.messages import Image, Message, Text, ToolCall
from harness_nb.policies.hermes.config import HermesConfig
from harness_nb.policies.hermes.marks import ARGUMENT_MARK, DUPLICATE
from harness_nb.policies.hermes.one_line import one_line
from harness_nb.policies.hermes.pruning import pruned
from tests.policies.hermes.talks import PICTURE, call, chat, items, result

FEW = HermesConfig(protect_last_n=2)


def short(messages: list[Message], config: HermesConfig = FEW, tail_tokens: int = 0) -> list[Message]:
    return [item.message for item in pruned(items(messages), config, tail_tokens).items]


def test_an_old_result_becomes_one_line_and_a_short_one_stays() -> None:
    found = short([call("c1"), result("c1", "x" * 201), call("c2"), result("c2", "y" * 200), *chat(1)])
    assert found[1].text == "[terminal] did `make` with exit ?; 1 lines came"
    assert found[3].text == "y" * 200


def test_the_latest_messages_stay_whole() -> None:
    messages = [call("c1"), result("c1", "x" * 900)]
    assert short(messages) == messages


def test_equal_results_stay_once_at_the_newest_even_in_the_protected_end() -> None:
    same = "same " * 60
    messages = [m for at in range(3) for m in (call(f"c{at}"), result(f"c{at}", same))]
    found = pruned(items(messages), HermesConfig(), 10_000)
    assert [found.items[at].message.text for at in (1, 3, 5)] == [DUPLICATE, DUPLICATE, same]
    assert found.results == (1, 3)
    assert len(DUPLICATE) == 60


def test_old_arguments_stay_valid_json_of_the_same_shape() -> None:
    arguments = json.dumps({"path": "a.py", "edits": [{"new": "n" * 600}], "count": 3})
    found = pruned(items([call("c1", "patch", arguments), result("c1"), *chat(1)]), FEW, 0)
    value = json.loads(found.items[0].message.calls[0].arguments)
    assert value == {"path": "a.py", "edits": [{"new": "n" * 200 + ARGUMENT_MARK}], "count": 3}
    assert found.arguments == (0,)


@pytest.mark.parametrize("arguments", ["{" + "x" * 900, json.dumps({"list": list(range(300))})])
def test_arguments_that_are_no_json_or_have_no_long_text_stay(arguments: str) -> None:
    messages = [call("c1", "run", arguments), result("c1"), *chat(1)]
    assert short(messages) == messages


def test_a_picture_in_an_old_result_is_taken_out() -> None:
    picture = Image(PICTURE, json.dumps({"type": "image_url", "image_url": {"url": PICTURE}}))
    shot = replace(result("c1"), content=(Text("seen"), picture))
    found = pruned(items([call("c1"), shot, *chat(1)]), FEW, 0)
    assert found.items[1].meta["images"] == 1
    assert [type(part) for part in found.items[1].message.parts] == [Text, Text]


def test_nothing_is_touched_twice() -> None:
    once = pruned(items([call("c1"), result("c1", "x" * 900), *chat(1)]), FEW, 0).items
    assert pruned(once, FEW, 0).items == once


@pytest.mark.parametrize(
    ("tool", "arguments", "text", "line"),
    [
        ("terminal", {"command": "ls"}, '{"output": "a", "exit_code": 2}', "[terminal] did `ls` with exit 2; 1 lines came"),
        ("read_file", {"path": "a.py", "offset": 5}, "x" * 1_200, "[read_file] saw a.py at line 5 on (1,200 chars)"),
        ("write_file", {"path": "a.py", "content": "a\nb"}, "ok", "[write_file] put 2 lines into a.py"),
        ("search_files", {"pattern": "x"}, '{"total_count": 7}', "[search_files] content search of 'x' in . -> 7 found"),
        ("patch", {"path": "a.py"}, "ok", "[patch] replace in a.py (2 chars came)"),
        ("execute_code", {"code": "a = 1\nb = 2"}, "1\n2", "[execute_code] ran `a = 1 b = 2` (2 lines came)"),
        ("web_search", {"query": "tea"}, "hit", "[web_search] query 'tea' (3 chars came)"),
        ("get_user", {"id": 7, "full": True, "more": 1}, "x", "[get_user] id=7 full=true (1 chars came)"),
    ],
)  # fmt: skip
def test_one_line_says_which_tool_on_what_and_how_much(
    tool: str, arguments: dict[str, object], text: str, line: str
) -> None:
    assert one_line(ToolCall("c", tool, json.dumps(arguments)), text) == line


def test_a_result_without_its_call_is_described_too() -> None:
    assert one_line(None, "abc") == "[tool] (3 chars came)"
