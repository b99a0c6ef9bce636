from __future__ import annotations

import json
from dataclasses import replace

import pytest

from harness_nb.core.item import Item
from harness_nb.core.messages import Image, Message, Text
from harness_nb.policies.hermes.assembly import assembled, summary_role, with_request, without_old_images
from harness_nb.policies.hermes.marks import CALLS_REMOVED, NO_USER, SYSTEM_NOTE
from tests.policies.hermes.talks import PICTURE, answer, call, chat, items, result

U, A, T, S = Message.user("u"), answer("a"), result("c"), Message.system("s")


def built(head: list[Message], tail: list[Message]) -> tuple[Item, ...]:
    listed = items([*head, answer("middle"), *tail])
    at = len(head)
    return assembled(listed[:at], listed[at + 1 :], "SUMMARY", of=listed[at : at + 1], meta={"source": "model"})


@pytest.mark.parametrize(
    ("head", "tail", "role"),
    [
        ([U, A, U], [U], "assistant"), ([U, A, U], [A, U], None), ([U, A], [A, U], "user"), ([U, A], [U], None),
        ([U, A, T], [U], "assistant"), ([U, A, T], [A, U], "user"), ([], [U], "assistant"), ([], [A, U], None),
        ([], [A], "user"), ([S], [A, U], "user"), ([S], [U], None),
    ],
)  # fmt: skip
def test_the_role_keeps_roles_alternating_or_the_summary_is_merged(
    head: list[Message], tail: list[Message], role: str | None
) -> None:
    assert summary_role(items(head), items(tail)) == role


def test_a_merged_summary_stands_behind_the_message_s_own_text() -> None:
    found = built([U, A, U], [answer("own words"), U])
    assert found[3].how == "merged" and found[3].index == 4
    assert found[3].message.text.index("own words") < found[3].message.text.index("SUMMARY")
    assert found[3].stands_for == (3,)


def test_a_merged_summary_leaves_parts_that_are_no_text_alone() -> None:
    picture = Image(PICTURE, json.dumps({"type": "image_url", "image_url": {"url": PICTURE}}))
    found = built([U, A], [Message.user((Text("look"), picture))])
    assert picture in found[2].message.parts
    assert found[2].message.text.endswith("SUMMARY")


def test_results_without_a_call_go_and_calls_without_a_result_lose_the_call() -> None:
    found = built([U], [result("lost"), call("open"), replace(call("half"), content="text"), U])
    assert all(item.message.role != "tool" for item in found)
    assert [item.message.text for item in found[-3:-1]] == [CALLS_REMOVED, "text"]
    assert not any(item.message.calls for item in found)


def test_a_system_message_in_the_list_gets_its_note_once() -> None:
    once = built([S, U], [A, U])
    again = assembled(once[:1], once[2:], "SUMMARY", of=(), meta={"source": "model"})
    assert once[0].message.text.count(SYSTEM_NOTE) == again[0].message.text.count(SYSTEM_NOTE) == 1


def test_pictures_stay_from_the_newest_message_of_the_user_that_has_one() -> None:
    picture = Image(PICTURE, json.dumps({"type": "image_url", "image_url": {"url": PICTURE}}))
    shown = Message.user((Text("look"), picture))
    found = without_old_images(items([shown, A, shown, A]))
    assert [any(isinstance(part, Image) for part in item.message.parts) for item in found] == [
        False,
        False,
        True,
        False,
    ]


def test_a_request_is_put_back_where_none_is_left() -> None:
    before = items([Message.user("the only request"), call("c1"), result("c1"), call("c2"), result("c2")])
    summary = Item(None, Message.user("SUMMARY", origin="harness"), "summary", (0, 1))
    found = with_request((summary, *before[1:]), before)
    assert [item.index for item in found] == [None, 1, 2, 0, 3, 4]
    assert 0 not in found[0].stands_for


def test_without_any_request_a_note_says_so_once() -> None:
    lonely = items([answer("a")])
    once = with_request(lonely, lonely)
    assert [item.message.text for item in once] == ["a", NO_USER]
    assert with_request(once, once) == once


def test_a_list_with_a_request_stays() -> None:
    listed = items(chat(1))
    assert with_request(listed, listed) is listed
