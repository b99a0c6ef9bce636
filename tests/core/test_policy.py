from __future__ import annotations

import pytest

from harness_nb.core.config import CompactionConfig
from harness_nb.core.messages import Message
from harness_nb.core.plan import Plan
from harness_nb.core.policy import CompactionPolicy, FunctionPolicy, Rest
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import View

VIEW = View.of(Transcript([Message.user("a"), Message.assistant("b")]))


class KeepOne(CompactionPolicy):
    def __init__(self) -> None:
        self.config = CompactionConfig(keep_messages=1)

    def plan(self, view: View) -> Plan:
        return view.becomes(view.cut(keep_messages=1).recent, "kept one")


def test_a_policy_is_named_after_its_class_unless_it_says_otherwise() -> None:
    class Named(KeepOne):
        name = "mine"

    assert (KeepOne.name, Named.name, KeepOne().passes) == ("KeepOne", "mine", 4)
    assert repr(Named()) == "Named('mine')"


def test_the_settings_of_a_policy_are_those_of_its_config() -> None:
    assert KeepOne().settings["keep_messages"] == 1
    assert FunctionPolicy(KeepOne().plan).settings == {}


def test_a_policy_without_a_plan_says_so() -> None:
    class Empty(CompactionPolicy):
        pass

    with pytest.raises(TypeError, match="Empty has no plan"):
        Empty().plan(VIEW)


def test_a_function_is_a_policy() -> None:
    def keep_none(view: View) -> Plan:
        return view.becomes((), "kept none")

    policy = FunctionPolicy(keep_none)

    assert (policy.name, FunctionPolicy(keep_none, "other").name) == ("keep_none", "other")
    assert policy.plan(VIEW).input == ()
    assert KeepOne().plan(VIEW).input == VIEW.input[1:]


@pytest.mark.parametrize(
    ("rest", "holds"),
    [
        (Rest(), True),
        (Rest(messages=3), True),
        (Rest(messages=2), False),
        (Rest(tokens=VIEW.tokens + 1), True),
        (Rest(tokens=VIEW.tokens), False),
        (Rest(tokens=VIEW.tokens + 1, least=VIEW.tokens), True),
        (Rest(least=VIEW.tokens + 1), False),
        (Rest(tokens=3, size=lambda message: len(message.text)), True),
        (Rest(tokens=2, size=lambda message: len(message.text)), False),
    ],
)
def test_a_rest_holds_within_all_of_its_sizes(rest: Rest, holds: bool) -> None:
    assert rest.holds(VIEW) is holds


def test_a_policy_promises_nothing_unless_it_says_so() -> None:
    assert KeepOne().rests(VIEW) is None
