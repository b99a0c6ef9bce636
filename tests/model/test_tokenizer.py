from __future__ import annotations

import base64
import os
import pickle
import random
import time

import pytest

from harness_nb.core.messages import Message, ToolCall
from harness_nb.core.tokens import message_tokens
from harness_nb.model import tokenizer
from harness_nb.model.tokenizer import TiktokenCounter, counter_for

SPECIAL = "<|endoftext|> and <|im_start|>"


def test_encoding_follows_the_model() -> None:
    names = {
        name: counter_for(name).name
        for name in ("openai/gpt-4o-mini", "o3", "gpt-5", "gpt-4", "anthropic/claude-x", "")
    }
    assert [name for name, found in names.items() if found == "tiktoken o200k_base"] == [
        "openai/gpt-4o-mini",
        "o3",
        "gpt-5",
    ]
    assert {found for found in names.values()} == {"tiktoken o200k_base", "tiktoken cl100k_base"}


def test_loading_leaves_the_environment_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    TiktokenCounter("cl100k_base")
    assert "TIKTOKEN_CACHE_DIR" not in os.environ


def test_missing_vocabulary_falls_back_to_characters_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(encoding: str) -> None:
        raise OSError(f"no {encoding}")

    monkeypatch.setattr(tokenizer, "_load", missing)
    tokenizer._counter.cache_clear()
    try:
        assert counter_for("gpt-4").name == "characters/4"
        assert counter_for("gpt-4").count_text("12345") == 2
    finally:
        tokenizer._counter.cache_clear()


@pytest.mark.parametrize("encoding", ["cl100k_base", "o200k_base"])
def test_count_equals_plain_tiktoken_on_ordinary_text(encoding: str) -> None:
    counter = TiktokenCounter(encoding)
    plain = counter._encoding
    shuffled = random.Random(7)
    words = [
        "the",
        "Straße",
        "naïve",
        "记忆",
        "x" * 150,
        "\n\n",
        "    ",
        "def",
        "f(x):",
        "12345",
        "it's",
        "🙂",
        "\t",
        SPECIAL,
    ]
    for length in (0, 1, 10, 300, 3_000):
        text = " ".join(shuffled.choices(words, k=length))
        assert counter.count_text(text) == len(plain.encode(text, disallowed_special=()))


def test_cut_changes_the_count_by_hardly_a_token() -> None:
    counter = TiktokenCounter("o200k_base")
    text = "intro " + "abcdefgh" * 2_000 + " end"
    plain = len(counter._encoding.encode_ordinary(text))
    assert abs(counter.count_text(text) - plain) <= len(text) / 1_000 + 1


def test_r036_special_tokens_are_ordinary_text() -> None:
    counter = counter_for("gpt-4o")
    assert counter.count_text(SPECIAL) > 5
    for message in (
        Message.system(SPECIAL),
        Message.user(SPECIAL),
        Message.tool("c", SPECIAL),
        Message.assistant(calls=[ToolCall("c", SPECIAL, f'{{"a":"{SPECIAL}"}}')]),
    ):
        assert message_tokens(message, counter) > 5


HOSTILE = {
    "one letter": "x" * 500_000,
    "one sign": "-" * 500_000,
    "spaces": " " * 500_000,
    "line feeds": "\n" * 500_000,
    "CJK": "的" * 100_000,
    "mixed CJK": "漢字仮名" * 25_000,
    "base64": base64.b64encode(random.Random(1).randbytes(750_000)).decode(),
    "accents": "é" * 500_000,
    "emoji": "😀" * 200_000,
    "runs just below the cut": ("x" * 1_998 + " ") * 500,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_r037_counting_takes_less_than_a_second(text: str) -> None:
    counter = counter_for("gpt-4o")
    started = time.process_time()
    assert counter.count_text(text) > 0
    assert time.process_time() - started < 1.0


def test_lone_surrogates_are_counted() -> None:
    assert counter_for().count_text("\ud83d ok") > 0


def test_counter_survives_pickling() -> None:
    counter = pickle.loads(pickle.dumps(TiktokenCounter("cl100k_base")))  # noqa: S301 - made in this line
    assert counter.name == "tiktoken cl100k_base" and counter.count_text("twelve words") > 1


def test_text_that_comes_again_has_the_same_count() -> None:
    counter = TiktokenCounter("cl100k_base")
    assert counter.count_text("read_file") == counter.count_text("read_file") > 0
