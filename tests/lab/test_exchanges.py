"""What a model was asked is kept in a file and not asked again."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness_nb import Message, ScriptedModel
from harness_nb.errors import ConfigError, ModelError
from harness_nb.lab.exchanges import FILE, Exchange, Exchanges, resolved

KEY = "sk-proj-" + "a1B2" * 12
ASKED = (Message.system("Be brief."), Message.user("Why?"))


def ask(exchanges: Exchanges, model: ScriptedModel, *, purpose: str = "judge", max_tokens: int = 9) -> Exchange:
    return exchanges.ask(model, ASKED, purpose=purpose, max_tokens=max_tokens)


def test_an_exchange_has_the_whole_prompt_and_the_reply() -> None:
    model = ScriptedModel(["Because."])
    exchange = ask(Exchanges(), model)
    assert (exchange.prompt, exchange.reply) == ((("system", "Be brief."), ("user", "Why?")), "Because.")
    assert (exchange.model, exchange.purpose) == ("scripted", "judge")
    assert model.requests[0].max_tokens == 9 and model.requests[0].messages == ASKED


def test_what_stands_in_the_file_is_not_asked_again(tmp_path: Path) -> None:
    first = ask(Exchanges(tmp_path), ScriptedModel(["Because."]))
    silent = ScriptedModel([])
    again = Exchanges(tmp_path)
    assert ask(again, silent) == first
    assert again.asked == 0 and silent.requests == []


def test_another_model_purpose_or_limit_is_another_question(tmp_path: Path) -> None:
    exchanges = Exchanges(tmp_path)
    ask(exchanges, ScriptedModel(["a"]))
    assert ask(exchanges, ScriptedModel(["b"], name="other")).reply == "b"
    assert ask(exchanges, ScriptedModel(["c"]), purpose="question").reply == "c"
    assert ask(exchanges, ScriptedModel(["d"]), max_tokens=10).reply == "d"
    assert exchanges.asked == 4


def test_a_torn_line_is_passed_over(tmp_path: Path) -> None:
    ask(Exchanges(tmp_path), ScriptedModel(["Because."]))
    path = tmp_path / FILE
    path.write_bytes(path.read_bytes() + b'{"key": "x", "mod')
    again = Exchanges(tmp_path)
    assert ask(again, ScriptedModel([])).reply == "Because."
    assert ask(again, ScriptedModel(["More."]), purpose="question").reply == "More."
    assert ask(Exchanges(tmp_path), ScriptedModel([]), purpose="question").reply == "More."


def test_a_failure_keeps_what_was_answered_before(tmp_path: Path) -> None:
    exchanges = Exchanges(tmp_path)
    model = ScriptedModel(["Because.", ModelError("down")])
    ask(exchanges, model)
    with pytest.raises(ModelError, match="down"):
        ask(exchanges, model, purpose="question")
    assert ask(Exchanges(tmp_path), ScriptedModel([])).reply == "Because."


def test_keys_are_masked_before_anything_is_written(tmp_path: Path) -> None:
    exchanges = Exchanges(tmp_path)
    exchange = exchanges.ask(ScriptedModel([f"It is {KEY}."]), [Message.user(KEY)], purpose="judge", max_tokens=None)
    assert KEY not in (tmp_path / FILE).read_text(encoding="utf-8")
    assert KEY not in repr(exchange)


def test_models_must_be_told_apart_by_name() -> None:
    assert [one.limits.name for one in resolved([ScriptedModel([], name="a"), ScriptedModel([])])] == ["a", "scripted"]
    for given in ([], [ScriptedModel([]), ScriptedModel([])]):
        with pytest.raises(ConfigError, match="can't be told apart"):
            resolved(given)


def test_the_offline_model_is_refused_as_it_only_quotes() -> None:
    with pytest.raises(ConfigError, match="neither answers questions nor judges answers"):
        resolved("offline")
