from __future__ import annotations

from harness_nb.core.messages import Image, Message, Opaque, Text, ToolCall, part_from_openai
from harness_nb.lab.writers.anthropic import to_anthropic
from harness_nb.lab.writers.losses import Losses


def test_system_messages_stand_in_system_and_results_of_a_round_in_one_message() -> None:
    wire = to_anthropic(
        [
            Message.system("Be brief."),
            Message.user("Look twice."),
            Message.assistant(calls=[ToolCall("c1", "look", '{"at":1}'), ToolCall("c2", "look")]),
            Message.tool("c1", "one", name="look"),
            Message.tool("c2", "No.", name="look", status="error"),
            Message.user("And?"),
        ]
    )
    assert wire == {
        "system": "Be brief.",
        "messages": [
            {"role": "user", "content": "Look twice."},
            {
                "role": "assistant",
                "content": [
                    {"type": "tool_use", "id": "c1", "name": "look", "input": {"at": 1}},
                    {"type": "tool_use", "id": "c2", "name": "look", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": "one"},
                    {"type": "tool_result", "tool_use_id": "c2", "content": "No.", "is_error": True},
                ],
            },
            {"role": "user", "content": "And?"},
        ],
    }


def test_pictures_take_the_form_of_the_api() -> None:
    urls = ("data:image/png;base64,AAAA", "https://example.org/a.png")
    pictures = [part_from_openai({"type": "image_url", "image_url": {"url": url}}) for url in urls]
    (message,) = to_anthropic([Message.user(pictures)])["messages"]
    assert [block["source"] for block in message["content"]] == [
        {"type": "base64", "media_type": "image/png", "data": "AAAA"},
        {"type": "url", "url": "https://example.org/a.png"},
    ]


def test_what_the_api_would_refuse_is_left_out_and_counted() -> None:
    losses = Losses()
    wire = to_anthropic(
        [
            Message.user(
                (Text(" "), Text("Go.", '{"x":1}'), Image("file:///a.png", "{}"), Opaque('{"type":"input_audio"}'))
            ),
            Message("assistant", (part_from_openai({"type": "reasoning", "text": "Hm."}),)),
            Message.system("Late."),
            Message.user("Who?", name="ann"),
        ],
        losses,
    )
    assert wire == {
        "system": "Late.",
        "messages": [
            {"role": "user", "content": "Go."},
            {"role": "user", "content": "Who?"},
        ],
    }
    assert losses.notes == (
        "left out a blank text: 1 time",
        "left out the field 'x': 1 time",
        "left out how a picture is to be read: 1 time",
        "left out a picture that is neither data nor an address: 1 time",
        "left out a part of the type 'input_audio': 1 time",
        "left out reasoning without Anthropic's signature: 1 time",
        "left out a message without content: 1 time",
        "left out a name: 1 time",
        "moved a system message to the front: 1 time",
    )


def test_an_id_that_the_api_would_refuse_is_replaced_alike_in_call_and_result() -> None:
    losses = Losses()
    asked = Message.assistant(calls=[ToolCall("call_1|fc_1", "look")])
    wire = to_anthropic([Message.user("Go."), asked, Message.tool("call_1|fc_1", "x", name="look")], losses)
    made = wire["messages"][1]["content"][0]["id"]
    assert wire["messages"][2]["content"][0]["tool_use_id"] == made != "call_1|fc_1"
    assert made.replace("_", "").isalnum()
    assert losses.notes == ("gave a call an id that the API takes: 1 time",)
