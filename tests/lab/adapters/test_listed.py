from __future__ import annotations

import asyncio

import pytest

from harness_nb import presets
from harness_nb.agent.driver import Answer, Effect, finished
from harness_nb.core.config import PinsConfig
from harness_nb.core.messages import Message
from harness_nb.core.requests import Ask
from harness_nb.core.rounds import problems
from harness_nb.errors import ConfigError
from harness_nb.lab.adapters.listed import Applied, Compacted, Given, afinished, compacting
from harness_nb.lab.answers import Answers
from harness_nb.model.offline import OfflineModel
from harness_nb.model.scripted import ScriptedModel
from tests.lab.adapters.talks import RULE, talk

ANSWERS = Answers(OfflineModel())
HARNESS = Applied.of(presets.get("harness", keep_messages=4))


def run(said: list[Message], applied: Applied = HARNESS) -> Compacted:
    return finished(compacting([Given(one) for one in said], applied, "manual"), ANSWERS)


def test_a_list_is_compacted_and_knows_where_each_message_that_stays_stood() -> None:
    said = talk()
    result = run(said)
    assert result.changed and len(result.items) < len(said)
    stays = [(item, result.place(item)) for item in result.items if item.index is not None]
    assert stays and all(place is not None and said[place] is item.message for item, place in stays)
    assert result.items[-1].message.text == "And what now?"


def test_the_users_standing_instructions_are_pinned_as_the_preset_has_it() -> None:
    assert any(RULE in item.message.text for item in run(talk()).items)
    bare = Applied.of(presets.get("harness", keep_messages=4), pins=PinsConfig(rule=False))
    assert run(talk(), bare).pins == ()
    assert Applied.of("hermes").pins.rule is False


def test_pins_beyond_the_limit_give_way_oldest_first() -> None:
    said = [Message.user(f"Always name file {at}.") for at in range(40)]
    few = Applied.of("harness", pins=PinsConfig(max_tokens=20))
    kept = [pin.text for pin in run(said, few).pins]
    assert kept == [f"Always name file {at}." for at in range(40)][-len(kept) :] and 0 < len(kept) < 6


def test_what_was_made_is_known_again_when_its_list_comes_back_with_more() -> None:
    first = run(talk())
    grown = (*first.again(), Given(Message.assistant("Then this.")), *(Given(one) for one in talk()[3:]))
    second = finished(compacting(grown, HARNESS, "manual"), ANSWERS)
    hows = [item.how for item in second.items if item.index is None]
    assert sorted(hows) == ["note", "summary"]  # one note of pins and one summary, made of the one before
    assert [pin.text for pin in second.pins] == [RULE]
    assert all(RULE in item.message.text for item in second.items if item.how == "note")


def test_what_the_policy_remembers_comes_back_with_the_list() -> None:
    applied = Applied.of("hermes", window=4_000)
    first = finished(compacting([Given(one) for one in talk(40)], applied, "manual"), ANSWERS)
    assert first.state is not None
    again = compacting(first.again(), applied, "manual")
    states: list[object] = []

    def answer(effect: Effect) -> Answer:
        states.append(getattr(getattr(effect, "view", None), "state", None))
        return ANSWERS(effect)

    second = finished(again, answer)
    assert second.passes[0].view.state == first.state


@pytest.mark.parametrize("name", presets.names())
def test_no_preset_makes_an_invalid_list(name: str) -> None:
    for said, window in ((talk(16, with_tools=True), 2_000), (talk(3), 400)):
        result = run(said, Applied.of(name).within(window))
        if result.changed:
            assert problems([item.message for item in result.items], needs_reply=False) == ()


def test_a_model_that_fails_leaves_the_list_as_it_was() -> None:
    failing = Answers(ScriptedModel([RuntimeError("down")]))
    result = finished(compacting([Given(one) for one in talk()], HARNESS, "manual"), failing)
    assert not result.changed and "down" in result.reason
    assert [item.message for item in result.items] == talk()[1:]


def test_answers_may_be_awaited() -> None:
    async def answer(effect: Effect) -> Answer:
        await asyncio.sleep(0)
        return ANSWERS(effect)

    steps = compacting([Given(one) for one in talk()], HARNESS, "manual")
    assert asyncio.run(afinished(steps, answer)).items == run(talk()).items


def test_when_told_that_the_input_is_too_long_the_list_gets_shorter_than_the_window() -> None:
    small = HARNESS.within(400)
    asked: list[Ask] = []

    def answer(effect: Effect) -> Answer:
        asked.extend([effect] if isinstance(effect, Ask) else [])
        return ANSWERS(effect)

    result = finished(compacting([Given(one) for one in talk(40)], small, "overflow"), answer)
    assert result.changed and asked
    assert sum(map(small.measure, (item.message for item in result.items))) < 400


def test_what_is_no_policy_is_refused() -> None:
    with pytest.raises(ConfigError, match="no preset"):
        Applied.of("harnes")
    with pytest.raises(ConfigError, match="no policy"):
        Applied.of(3)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="window=0"):
        Applied.of("harness", window=0)
