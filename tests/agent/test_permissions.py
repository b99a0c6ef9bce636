from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import pytest

from harness_nb.agent.permissions import Permissions, permissions_of
from harness_nb.core.messages import ToolCall
from harness_nb.core.tool import Tool
from harness_nb.errors import ConfigError
from tests.agent.conftest import Make
from tests.agent.reading import all_valid

RAN: list[str] = []


def write(text: str) -> str:
    """Writes."""
    RAN.append(text)
    return "written"


CALL = [ToolCall("c1", "write", '{"text": "x"}')]


def result_of(make: Make, permissions: Any) -> tuple[str, str]:
    """Status and text of the result of one call under some permissions."""
    RAN.clear()
    agent = make(CALL, "done", tools=[write], permissions=permissions)
    assert agent.ask("go").text == "done" and all_valid(agent)
    message = next(message for message in agent.messages if message.role == "tool")
    return message.status, message.text


@pytest.mark.parametrize(
    "given", [None, "allow", {"write": "allow"}, Permissions(default="deny", effects={"run": "allow"})]
)
def test_what_is_allowed_runs(make: Make, given: Any) -> None:
    assert result_of(make, given) == ("ok", "written") and RAN == ["x"]


@pytest.mark.parametrize("given", ["deny", {"write": "deny"}, Permissions(effects={"run": "deny"})])
def test_what_is_denied_does_not_run_and_the_model_is_told(make: Make, given: Any) -> None:
    status, text = result_of(make, given)
    assert (status, RAN) == ("denied", [])
    assert text == "The user does not allow write. Go on without it, or ask the user."


def test_nobody_to_ask_means_no(make: Make) -> None:
    status, text = result_of(make, "ask")
    assert (status, RAN) == ("denied", []) and "nobody is here" in text


@pytest.mark.parametrize("answer", [True, False])
def test_somebody_is_asked_with_the_arguments_and_the_answer_holds(make: Make, answer: bool) -> None:
    asked: list[tuple[str, Mapping[str, Any], str]] = []

    def asker(tool: Tool, arguments: Mapping[str, Any]) -> bool:
        asked.append((tool.name, arguments, threading.current_thread().name))
        return answer

    status, _ = result_of(make, Permissions(default="ask", asker=asker))
    assert status == ("ok" if answer else "denied") and (["x"] if answer else []) == RAN
    assert asked == [("write", {"text": "x"}, "harness_nb-tool")]


def test_an_asker_that_fails_means_no(make: Make) -> None:
    def asker(*_: object) -> bool:
        raise EOFError("no terminal")

    status, text = result_of(make, Permissions(default="ask", asker=asker))
    assert (status, RAN) == ("denied", []) and "EOFError: no terminal" in text


def test_a_name_goes_before_an_effect_and_that_before_the_default() -> None:
    tool = Tool.of(write, effect="write")
    assert Permissions(default="deny", effects={"write": "ask"}, tools={"write": "allow"}).of(tool) == "allow"
    assert Permissions(default="deny", effects={"write": "ask"}).of(tool) == "ask"
    assert Permissions(default="deny").of(tool) == "deny"


@pytest.mark.parametrize("wrong", [{"default": "no"}, {"tools": {"x": "perhaps"}}, {"effects": {"fly": "allow"}}])
def test_a_wrong_permission_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as caught:
        Permissions(**wrong)
    assert caught.value.remedy.startswith("Use ")


def test_permissions_come_in_three_forms() -> None:
    assert permissions_of(None) == Permissions()
    assert permissions_of("ask").default == "ask"
    assert permissions_of({"write": "deny"}).tools == {"write": "deny"}
