"""A real small language model behind its real server, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness_nb.core.messages import Message
from harness_nb.errors import ConfigError, ContextOverflowError
from harness_nb.model.base import TextDelta
from harness_nb.model.local import LocalModel
from tests.gates import skip_or_fail
from tests.model.asking import TOOLS, ask, stream

WINDOW = 1_024
SYSTEM = Message.system("You are a helpful assistant.")


@pytest.fixture(scope="module")
def local() -> Iterator[LocalModel]:
    try:
        model = LocalModel(window=WINDOW)
    except ConfigError as error:
        skip_or_fail(str(error))
    yield model
    model.close()


@pytest.mark.local
def test_answer_is_streamed_with_reported_usage(local: LocalModel) -> None:
    *deltas, message = stream(local, SYSTEM, "Say hello.", max_tokens=12)
    texts = [delta.text for delta in deltas if isinstance(delta, TextDelta)]
    assert len(texts) > 3
    assert isinstance(message, Message) and "".join(texts) == message.text
    assert message.usage is not None and message.usage.input_tokens > 10
    assert local.limits.window_source == "server"


@pytest.mark.local
def test_tool_is_called_and_its_result_answered(local: LocalModel) -> None:
    question = Message.user("Call add with a=2 and b=3.")
    reply = ask(local, SYSTEM, question, tools=TOOLS)
    (call,) = reply.calls
    assert call.name == "add" and call.parsed() == {"a": 2, "b": 3}
    *deltas, answer = stream(local, SYSTEM, question, reply, Message.tool(call.id, "5"), tools=TOOLS, max_tokens=40)
    assert isinstance(answer, Message)
    assert not answer.calls and "5" in answer.text
    assert "".join(delta.text for delta in deltas if isinstance(delta, TextDelta)) == answer.text


@pytest.mark.local
def test_input_above_the_window_is_a_real_overflow_with_both_figures(local: LocalModel) -> None:
    with pytest.raises(ContextOverflowError) as caught:
        ask(local, "word " * 3_000)
    assert caught.value.window == WINDOW
    assert caught.value.input_tokens is not None and caught.value.input_tokens > 3_000


@pytest.mark.local
def test_server_is_started_again_after_it_was_closed(local: LocalModel) -> None:
    local.close()
    assert ask(local, "Hi", max_tokens=2).text


def test_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.gguf"
    with pytest.raises(ConfigError, match="can't be read"):
        LocalModel(file)
    file.write_text("text", encoding="utf-8")
    with pytest.raises(ConfigError, match="no GGUF file"):
        LocalModel(file)
