from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness_nb.agent.agent import HarnessAgent
from harness_nb.core.config import CompactionConfig, ToolResultEvictionConfig
from harness_nb.core.events import CompactionFinished, Warned
from harness_nb.core.item import ModelInput
from harness_nb.core.messages import Message, Text, ToolCall
from harness_nb.core.pins import Pin
from harness_nb.core.plan import Plan
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.redact import LEFT_OUT
from harness_nb.core.rounds import UNANSWERED
from harness_nb.core.view import View
from harness_nb.errors import StoreError
from harness_nb.presets import Preset
from tests.agent.conftest import Make
from tests.agent.reading import all_valid, chats, events, log_records, talk_of

SHORT = CompactionConfig(trigger_messages=6, keep_messages=2)


def told(agent: HarnessAgent, *texts: str) -> HarnessAgent:
    for text in texts:
        agent.ask(text)
    return agent


def log_path(agent: HarnessAgent) -> Path:
    return agent.workspace.session(agent.name, agent.session).log_path


def view_path(agent: HarnessAgent) -> Path:
    return agent.workspace.session(agent.name, agent.session).view_path


# Resuming


def test_a_session_goes_on_where_it_was_left(make: Make) -> None:
    told(make("a0", "a1", session="s"), "q0", "q1").close()
    agent = make("a2", session="s")
    assert [message.text for message in agent.messages] == ["q0", "a0", "q1", "a1"]
    agent.ask("q2")
    assert [message.text for message in talk_of(chats(agent)[0])] == ["q0", "a0", "q1", "a1", "q2"]
    assert agent.status().turns == 3 and agent.warnings == ()


def test_a_compacted_session_goes_on_with_its_summary(make: Make) -> None:
    first = told(make(*"abcdef", session="s", compaction=SHORT), *(f"q{at} {'x' * 400}" for at in range(5)))
    assert events(first, CompactionFinished)
    shown = [item.message for item in first.view().input]
    first.close()
    agent = make("next", session="s", compaction=SHORT)
    assert [item.message for item in agent.view().input] == shown
    assert len(agent.messages) == 10


def test_an_evicted_result_stays_out_of_the_input_after_a_resume(make: Make) -> None:
    def large() -> str:
        return "row\n" * 1_000

    settings = ToolResultEvictionConfig(max_result_chars=500, preview_chars=50)
    first = make([ToolCall("c1", "large")], "ok", session="s", tools=[large], tool_result_eviction=settings)
    told(first, "go").close()
    agent = make("next", session="s")
    result = next(item.message for item in agent.view().input if item.message.role == "tool")
    assert len(result.text) < 500 and "moved to large_tool_results/agent/c1-" in result.text
    assert next(message for message in agent.messages if message.role == "tool").text == "row\n" * 1_000


@dataclass(frozen=True)
class Counted:
    """How often a policy was asked."""

    times: int = 0
    names: tuple[str, ...] = ()


class Counting(CompactionPolicy):
    """Counts its calls, and drops the first turn when it is asked to."""

    record = Counted

    def __init__(self, name: str) -> None:
        self.name = name

    def plan(self, view: View) -> Plan:
        state = view.state if isinstance(view.state, Counted) else Counted()
        state = Counted(state.times + 1, (*state.names, view.hook))
        if view.hook == "manual":
            return view.becomes(view.input[2:], "dropped a turn", state=state)
        return view.unchanged("counted", state=state)


def test_the_state_of_a_policy_lives_on_and_that_of_another_policy_does_not(make: Make) -> None:
    first = told(make("a", "b", session="s", preset=Preset(name="mine", about=".", policy=Counting("one"))), "q", "r")
    first.compact()
    first.close()
    same = make("c", session="s", preset=Preset(name="mine", about=".", policy=Counting("one")))
    assert same.view().state == Counted(3, ("request", "request", "manual"))
    assert len(same.view().input) == 2
    same.close()
    other = make("c", session="s", preset=Preset(name="mine", about=".", policy=Counting("two")))
    assert other.view().state is None and len(other.view().input) == 2


def test_a_state_that_no_longer_fits_is_left_out_with_a_warning(make: Make) -> None:
    mine = Preset(name="mine", about=".", policy=Counting("one"))
    first = told(make("a", "b", session="s", preset=mine), "q", "r")
    first.compact()
    path = view_path(first)
    first.close()
    path.write_text(path.read_text(encoding="utf-8").replace('"times"', '"tiems"'), encoding="utf-8")
    agent = make("c", session="s", preset=mine)
    assert agent.view().state is None and "state of policy 'one' was not used" in agent.warnings[0]


# Damage


def test_r076_a_torn_last_line_is_skipped_with_its_number_and_the_next_record_is_readable(make: Make) -> None:
    first = told(make("a0", session="s"), "q0")
    path = log_path(first)
    first.close()
    with path.open("ab") as file:
        file.write(b'{"kind":"message","index":2,"mess')
    lines = len(path.read_bytes().splitlines())
    agent = make("a1", session="s")
    assert [message.text for message in agent.messages] == ["q0", "a0"]
    assert f"Line {lines} of s.log.jsonl" in agent.warnings[0]
    agent.ask("q1")
    agent.close()
    again = make("a2", session="s")
    assert [message.text for message in again.messages] == ["q0", "a0", "q1", "a1"]


def test_a_corrupt_line_in_the_middle_costs_its_message_only(make: Make) -> None:
    first = told(make("a0", "a1", "a2", session="s"), "q0", "q1", "q2")
    path = log_path(first)
    first.close()
    lines = path.read_text(encoding="utf-8").splitlines()
    at = next(number for number, line in enumerate(lines) if '"q1"' in line)
    lines[at] = lines[at][:30]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    agent = make("a3", session="s")
    texts = [message.text for message in agent.messages]
    assert texts[:2] == ["q0", "a0"] and texts[3:] == ["a1", "q2", "a2"] and "could not be read" in texts[2]
    assert len(agent.warnings) == 2
    agent.ask("q3")
    assert all_valid(agent)


def test_without_its_stored_list_a_session_shows_the_whole_log(make: Make) -> None:
    first = told(make(*"abcde", session="s", compaction=SHORT), *(f"q{at} {'x' * 400}" for at in range(5)))
    path = view_path(first)
    first.close()
    path.unlink()
    agent = make("next", session="s", compaction=None)
    assert len(agent.view().input) == 10 and agent.warnings == ()


@pytest.mark.parametrize(
    "damage", ["", "{", "[]\n", '{"format":"harness_nb view","version":1}\n{"index":999}\n', "\x00\x01"]
)
def test_a_damaged_stored_list_is_not_used(make: Make, damage: str) -> None:
    first = told(make(*"abcde", session="s", compaction=SHORT), *(f"q{at} {'x' * 400}" for at in range(5)))
    path = view_path(first)
    first.close()
    path.write_text(damage, encoding="utf-8")
    agent = make("next", session="s", compaction=None)
    agent.ask("go on")
    assert len(talk_of(chats(agent)[0])) == 11 and all_valid(agent)


def test_a_log_that_is_shorter_than_its_list_knows_is_shown_whole_with_a_warning(make: Make) -> None:
    first = told(make(*"abcde", session="s", compaction=SHORT), *(f"q{at} {'x' * 400}" for at in range(5)))
    path = log_path(first)
    first.close()
    kept = [line for line in path.read_text(encoding="utf-8").splitlines() if '"q3' not in line and '"q4' not in line]
    path.write_text("\n".join(kept[:5]) + "\n", encoding="utf-8")
    agent = make("next", session="s", compaction=None)
    assert any("its log is shorter than it was" in warning for warning in agent.warnings)
    agent.ask("go on")
    assert all_valid(agent)


def test_r004_rounds_are_mended_on_load_and_the_stored_log_stays(make: Make) -> None:
    first = make("a0", session="s")
    session = first._opened.session
    for message in (
        Message.tool("c0", "orphan"),
        Message.user("U1"),
        Message.assistant(None, [ToolCall("c1", "run")]),
        Message.user("U2"),
    ):
        session.add(message)
    session.save()
    path = log_path(first)
    first.close()
    stored = path.read_bytes()
    agent = make("answer", session="s", compaction=None)
    assert any("'c1'" in warning or "c1" in warning for warning in agent.warnings)
    assert path.read_bytes() == stored
    agent.ask("U3")
    sent = talk_of(chats(agent)[0])
    assert [message.role for message in sent] == ["user", "assistant", "tool", "user", "user"]
    assert sent[2].text == UNANSWERED and path.read_bytes().startswith(stored)


# What is written


def test_r078_each_message_is_written_once_and_in_order_across_many_compactions(make: Make) -> None:
    agent = make(*(f"a{at} {'y' * 300}" for at in range(12)), compaction=SHORT)
    told(agent, *(f"q{at} {'x' * 300}" for at in range(12)))
    assert len(events(agent, CompactionFinished)) >= 3
    written = log_records(agent, "message")
    assert [record["index"] for record in written] == list(range(24))
    assert max(Counter(record["message"]["content"] for record in written).values()) == 1
    first = agent.view().input[0]
    assert first.how == "summary" and first.index is None
    assert "summary_of_earlier_conversation" not in str(written)


def test_r008_signed_parts_go_to_the_file_and_back_byte_for_byte(make: Make) -> None:
    wire = {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "hm", "signature": "sig=="}, {"type": "text", "text": "so"}],
    }
    told(make(Message.from_openai(wire), session="s"), "q").close()
    agent = make("next", session="s")
    agent.ask("and")
    assert talk_of(chats(agent)[0])[1].to_openai() == wire


def test_r085_a_failure_between_writing_and_replacing_leaves_the_old_list(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = told(
        make(*(f"a{at} {'y' * 300}" for at in range(9)), session="s", compaction=SHORT),
        *(f"q{at} {'x' * 300}" for at in range(4)),
    )
    old = view_path(agent).read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        told(agent, *(f"q{at} {'x' * 300}" for at in range(4, 8)))
    assert view_path(agent).read_bytes() == old
    assert any("No space left" in event.text for event in events(agent, Warned))
    shown = [item.message for item in agent.view().input]
    agent.close()
    resumed = make("next", session="s", compaction=None)
    assert len(resumed.messages) == 16  # nothing of what was said is lost, only the last compaction
    assert len(resumed.view().input) > len(shown)
    resumed.ask("go on")
    assert all_valid(resumed)


KEYS = ("sk-test-abcdefghijklmnop1234", "ghp_" + "a1B2" * 9, "AKIAIOSFODNN7EXAMPLE")


def test_r099_keys_are_masked_in_every_part_before_anything_is_written(make: Make) -> None:
    pem = "-----BEGIN PRIVATE KEY-----\n" + "MIIEvQIBADANBgkqhkiG9w0B\n" * 3 + "-----END PRIVATE KEY-----"

    def leak(token: str) -> str:
        return f"OPENAI_API_KEY={KEYS[0]}\n{pem}"

    calls = [ToolCall("c1", "leak", f'{{"token": "{KEYS[1]}"}}')]
    model_text = f"Your id is {KEYS[2]}"
    agent = make(calls, model_text, tools=[leak], session="s", compaction=SHORT)
    reply = agent.ask(f"my key is {KEYS[0]}")
    agent.compact()
    agent.close()
    written = "".join(path.read_text("utf-8") for path in agent.workspace.path.rglob("*") if path.is_file())
    assert "redacted" in written
    for secret in (*KEYS, "MIIEvQIBADANBgkqhkiG9w0B"):
        assert secret not in written
    assert KEYS[2] not in reply.text


def test_r099_a_signed_part_that_holds_a_key_is_left_out_of_the_file_whole(make: Make) -> None:
    thought = {"type": "thinking", "thinking": f"the key is {KEYS[0]}", "signature": "sig=="}
    reply = Message.from_openai({"role": "assistant", "content": [thought, {"type": "text", "text": "so"}]})
    agent = told(make(reply, session="s"), "q")
    written = log_path(agent).read_text(encoding="utf-8")
    assert KEYS[0] not in written and "sig==" not in written and LEFT_OUT in written
    assert agent.messages[1].content == reply.content  # in the kernel it stays as it came


def test_rounds_are_looked_at_again_after_a_change_of_the_list_that_could_not_be_stored(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = told(make(*(f"a{at}" for at in range(5))), *(f"q{at}" for at in range(5)))
    session = agent._opened.session
    session.conversation.replace_input(ModelInput(session.conversation.input[:2]))
    session.set_pins((Pin("q0"),))
    session.record(session.warned("test", "pending"))

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch, pytest.raises(StoreError):
        patch.setattr(os, "write", full)
        session.save_list()
    session.add(Message.tool("c0", "orphan"))
    assert session.mend() == ("left out 1 tool result(s) without a call, at 2",)


def test_a_disk_that_is_full_ends_the_turn_with_a_remedy_and_nothing_is_lost_once_there_is_room(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = told(make("a0", "a1", session="s"), "q0")

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(StoreError, match="No space left"):
            agent.ask("q1")
    assert agent.ask("again").text == "a1"
    agent.close()
    assert [message.text for message in make("x", session="s").messages] == ["q0", "a0", "q1", "again", "a1"]


def test_text_parts_of_a_message_survive(make: Make) -> None:
    told(make(Message("assistant", (Text("a"), Text("b"))), session="s"), "q").close()
    assert make("x", session="s").messages[1].parts == (Text("a"), Text("b"))


def test_r019_prompt_and_memory_come_from_their_source_after_compactions(make: Make) -> None:
    agent = make(
        *(f"a{at} {'y' * 300}" for at in range(30)), compaction=SHORT, system_prompt="Speak of nothing but tides."
    )
    agent.workspace.curated.replace("- the boat is called Ann\n")
    told(agent, *(f"q{at} {'x' * 300}" for at in range(30)))
    assert len(events(agent, CompactionFinished)) >= 2
    last = chats(agent)[-1].messages
    assert last[0].text.startswith("Speak of nothing but tides.") and "the boat is called Ann" in last[1].text
    assert not any("nothing but tides" in request.messages[-1].text for request in chats(agent, "summary"))
    assert not any("called Ann" in request.messages[-1].text for request in chats(agent, "summary"))


def test_a_pin_that_comes_behind_a_tool_round_leaves_the_round_whole(make: Make) -> None:
    def work() -> str:
        return "done"

    agent = make("noted", ToolCall("c0", "work"), "it is done", "and on", tools=[work], session="s", compaction=SHORT)
    agent.ask("Keep to metres.")
    agent.ask("Do the work.")
    agent.pin("Keep to metres, always.")
    agent.ask("Go on.")
    assert all_valid(agent) and events(agent, Warned) == []
    assert [message.text for message in talk_of(chats(agent)[-1]) if message.role == "tool"] == ["done"]


def test_a_list_begins_with_a_user_message_also_when_the_pins_that_stood_there_are_taken_off(make: Make) -> None:
    class KeepTwo(CompactionPolicy):
        def plan(self, view: View) -> Plan:
            return view.becomes(view.input[-2:], "kept two") if len(view.input) > 4 else view.unchanged("short")

    preset = Preset(name="mine", about="Mine.", policy=KeepTwo())
    agent = make(*["a" * 300] * 3, preset=preset, session="s")
    agent.pin("always in metres")
    for turn in range(3):
        agent.ask(f"q{turn} " * 80)
    agent.unpin(0)
    assert all_valid(agent)
