from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_nb.core.messages import Image, Message, Opaque, Text, Thinking, ToolCall, to_json
from harness_nb.core.redact import LEFT_OUT, clean_unicode, redact, redact_json, redact_message

KEYS = {
    "OpenAI key": "sk-proj-Ab12Cd34Ef56Gh78Ij90",
    "Anthropic key": "sk-ant-api03-Ab12Cd34Ef56Gh78",
    "GitHub token": "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8",
    "AWS key id": "AKIAIOSFODNN7EXAMPLE",
    "Google key": "AIza" + "SyA1b2C3d4-" * 3 + "xy",
    "Slack token": "xoxb-123456789012-abcdefABCDEF",
    "Hugging Face token": "hf_" + "AbCdEfGhIj" * 3 + "KlMn",
    "token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmN",
    "private key": "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq\nZm9v\n-----END RSA PRIVATE KEY-----",
}
ORDINARY = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "550e8400-e29b-41d4-a716-446655440000",
    "TWFueSBoYW5kcyBtYWtlIGxpZ2h0IHdvcmsgc2stdGVzdA==",
    "max_tokens=4096, input_tokens: 12345678, token_count = total1234",
    "cache_key = 'session:1234abcd'; primary_key=True; key=lambda row: row.rank",
    "api_key=os.environ['OPENAI_API_KEY'] or settings.api_key",
    "API_KEY=$OPENAI_API_KEY password: correct-horse api_key=<your key>",
    "sk-toggleable__content sk-estimator-doc-link sk-container-id-1 sk-learn",
    "task-test-123 risk-proj-abcdefgh disk-ant-123456",
    "It begins with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----.",
    "The bearer of good news; Authorization: Bearer tokens are sent in a header.",
    "secret = getpass('password: ')",
]


@pytest.mark.parametrize("label", KEYS)
def test_r099_a_key_is_replaced_by_a_mark_that_names_its_kind(label: str) -> None:
    assert redact(f"before {KEYS[label]}\nafter") == f"before [redacted: {label}]\nafter"


@pytest.mark.parametrize("label", KEYS)
def test_a_key_is_found_behind_escapes_of_json_urls_and_terminals(label: str) -> None:
    for before in ("\\n", "\\u000a", "%3D", "\x1b[32m", '"', "=", "("):
        assert redact(before + KEYS[label]) == f"{before}[redacted: {label}]"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("OPENAI_API_KEY=sk-test-abcdefghijklmnop1234", "OPENAI_API_KEY=[redacted: OpenAI key]"),
        ("export DB_PASSWORD='hunter22x'", "export DB_PASSWORD='[redacted: value of a key]'"),
        ('{"api_key": "abcd1234efgh"}', '{"api_key": "[redacted: value of a key]"}'),
        ('{\\"apiKey\\": \\"abcd1234efgh\\"}', '{\\"apiKey\\": \\"[redacted: value of a key]\\"}'),
        ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG", "AWS_SECRET_ACCESS_KEY=[redacted: value of a key]"),
        ("Authorization: Bearer abcdef123456", "Authorization: Bearer [redacted: credentials]"),
        ("curl -H 'x: bearer abcdef1234567890'", "curl -H 'x: bearer [redacted: credentials]'"),
        ("typed sk-test-123 by mistake", "typed [redacted: OpenAI key] by mistake"),
    ],
)
def test_r099_the_value_of_a_setting_named_like_a_key_is_replaced(text: str, kept: str) -> None:
    assert redact(text) == kept


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert redact(text) is text


def test_a_torn_key_block_is_replaced_as_far_as_it_goes() -> None:
    text = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nAQEFAASCBKcwggSjAgEAAoIB"
    assert redact(text) == "[redacted: private key]"


def test_known_values_are_replaced_wherever_they_occur_longest_first() -> None:
    assert (
        redact("a correct-horse-battery b", ["correct-horse", "correct-horse-battery"]) == "a [redacted: known key] b"
    )
    assert redact("abc", ["abc"]) == "abc"


FRAGMENTS = [
    *KEYS.values(), *ORDINARY, "sk-", "sk-test-", "eyJ", "eyJaaaaaaaaa.", "key", "_KEY=", "password: ", "bearer ", "-",
    "authorization: ", "-----BEGIN PRIVATE KEY-----", "-----", "\n", "\\n", " ", "a", "A1", "\x1b[5m", "%41", "]", "[redacted: ",
]  # fmt: skip


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=12).map("".join))
def test_redacting_again_changes_nothing(text: str) -> None:
    once = redact(text)
    assert redact(once) is once


@pytest.mark.parametrize("fragment", FRAGMENTS)
def test_a_megabyte_of_anything_takes_linear_time(fragment: str) -> None:
    text = fragment * (1_000_000 // len(fragment))
    began = time.process_time()
    redact(text)
    assert time.process_time() - began < 5  # about 0.3 s; a pattern that backtracks takes hours


def test_keys_in_json_values_are_replaced_and_names_are_kept() -> None:
    value = {"password": "hunter22x", "list": ["sk-test-123", 1, None], "deep": {"text": "fine"}}
    assert redact_json(value) == {
        "password": "[redacted: value of a key]",
        "list": ["[redacted: OpenAI key]", 1, None],
        "deep": {"text": "fine"},
    }


def test_names_that_are_keys_are_replaced_and_no_value_is_lost() -> None:
    clean = redact_json({"sk-test-123": 1, "sk-test-456": 2})
    assert "sk-test" not in json.dumps(clean)
    assert sorted(clean.values()) == [1, 2]


def test_a_signature_is_never_altered() -> None:
    signature = "Ab1-sk-" + "aB3_" * 20
    assert redact_json({"signature": signature}) == {"signature": signature}


def test_a_message_without_a_key_comes_back_as_the_same_object() -> None:
    message = Message.assistant("fine", [ToolCall("c1", "read_file", '{"path": "a.md"}')])
    assert redact_message(message) is message


def test_r099_keys_are_replaced_in_all_parts_of_a_message() -> None:
    key = KEYS["GitHub token"]
    message = Message.user(
        [Text(f"use {key}"), Image(f"https://x/?k={key}", to_json({"image_url": {"url": f"https://x/?k={key}"}}))],
        calls=(
            ToolCall("c1", "run", json.dumps({"cmd": f"export A=1\n{key}"})),
            ToolCall("c2", "run", f'{{"torn {key}'),
        ),
        rest=to_json({"note": key}),
    )
    clean = redact_message(message)
    assert key not in repr(clean)
    assert clean.calls[0].parsed() == {"cmd": "export A=1\n[redacted: GitHub token]"}
    assert clean.text == "use [redacted: GitHub token]"


def test_a_signed_part_that_holds_a_key_is_left_out_whole() -> None:
    key = KEYS["AWS key id"]
    thinking = Thinking(key, to_json({"type": "thinking", "thinking": key, "signature": "x"}))
    sound = Thinking("fine", to_json({"type": "thinking", "thinking": "fine", "signature": "x"}))
    clean = redact_message(Message("assistant", (thinking, sound, Opaque(to_json({"type": "odd", "value": key})))))
    assert clean.content == (Text(LEFT_OUT), sound, Text(LEFT_OUT))


def test_a_signed_field_that_holds_a_key_is_left_out_and_others_stay() -> None:
    rest = to_json({"thinking_blocks": [{"thinking": KEYS["AWS key id"], "signature": "x"}], "plain": "sk-test-123"})
    assert json.loads(redact_message(Message.assistant("a", rest=rest)).rest) == {"plain": "[redacted: OpenAI key]"}


def test_pictures_inside_a_message_are_not_searched() -> None:
    part = Image(
        "data:image/png;base64,AKIAIOSFODNN7EXAMPLE", to_json({"url": "data:image/png;base64,AKIAIOSFODNN7EXAMPLE"})
    )
    message = Message("user", (part,))
    assert redact_message(message) is message


def test_r079_surrogate_pairs_are_joined_and_lone_ones_replaced() -> None:
    assert clean_unicode("a\ud83db") == "a\ufffdb"
    assert clean_unicode("\ud83d\ude00\ude00") == "\U0001f600\ufffd"
    assert clean_unicode("Zoë") == "Zoë"
