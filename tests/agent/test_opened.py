from __future__ import annotations

import gc
from pathlib import Path

import pytest

from harness_nb.agent.agent import HarnessAgent
from harness_nb.errors import SessionBusyError
from tests.agent.conftest import Make
from tests.agent.processes import holding_session


def told(agent: HarnessAgent, *texts: str) -> HarnessAgent:
    for text in texts:
        agent.ask(text)
    return agent


def test_a_cell_that_makes_the_agent_can_be_run_again(make: Make) -> None:
    first = told(make("a0", session="s"), "q0")
    second = make("a1", session="s")
    assert [message.text for message in second.messages] == ["q0", "a0"]
    second.ask("q1")
    first.close()  # no longer its session: nothing happens
    assert [message.text for message in second.messages][-1] == "a1"


def test_an_agent_whose_session_was_taken_over_takes_it_up_again_from_the_files(make: Make) -> None:
    first = told(make("a0", "a2", session="s"), "q0")
    told(make("a1", session="s"), "q1")
    assert first.ask("q2").text == "a2"
    assert [message.text for message in first.messages] == ["q0", "a0", "q1", "a1", "q2", "a2"]


def test_a_closed_agent_can_go_on(make: Make) -> None:
    agent = told(make("a0", "a1", session="s"), "q0")
    agent.close()
    agent.close()
    assert agent.ask("q1").text == "a1" and len(agent.messages) == 4


def test_the_memory_of_a_closed_agent_is_searched_as_before(workspace: Path) -> None:
    with HarnessAgent(workspace=workspace) as agent:
        agent.ask("The freezer is called Boreas.")
    assert len(agent.memory.search("Boreas"))
    assert "Boreas" in agent.ask("What is the freezer called?").text
    agent.close()


def test_an_agent_that_nobody_holds_any_more_lets_go_of_its_session(workspace: Path) -> None:
    for _ in range(3):
        agent = HarnessAgent(workspace=workspace, session="s")
        del agent
        gc.collect()
    HarnessAgent(workspace=workspace, session="s").close()


def test_reset_begins_or_resumes_another_session_and_leaves_this_one_whole(make: Make) -> None:
    agent = told(make("a0", "a1", "a2", session="one"), "q0")
    assert agent.reset("two") == "two" and agent.messages == () and agent.last_reply is None
    agent.ask("q1")
    assert agent.reset("one") == "one"
    assert [message.text for message in agent.messages] == ["q0", "a0"]
    new = agent.reset()
    assert new not in ("one", "two") and agent.messages == ()
    rows = {(row["session"], row["is_current"]) for row in agent.sessions().records}
    assert {("one", False), ("two", False)} <= rows


def test_reset_to_the_session_that_is_open_reads_it_anew(make: Make) -> None:
    agent = told(make("a0", "a1", session="s"), "q0")
    agent.reset("s")
    assert [message.text for message in agent.messages] == ["q0", "a0"]
    assert agent.ask("q1").text == "a1"


def test_new_sessions_of_one_second_have_names_of_their_own(make: Make) -> None:
    assert [make("x").session for _ in range(3)] == ["2026-04-12-093000", "2026-04-12-093000-2", "2026-04-12-093000-3"]


def test_sessions_of_one_id_of_two_agents_are_two_sessions(make: Make) -> None:
    one, two = make("a", name="one", session="s"), make("b", name="two", session="s")
    one.ask("q")
    two.ask("r")
    assert [message.text for message in one.messages] == ["q", "a"]


def test_a_session_that_another_process_has_open_is_refused_with_the_way_out(make: Make, workspace: Path) -> None:
    with holding_session(workspace, "s"):
        with pytest.raises(SessionBusyError) as caught:
            make("x", session="s")
        assert "'s'" in caught.value.problem and "agent.close()" in caught.value.remedy
        agent = make("y")
        with pytest.raises(SessionBusyError):
            agent.reset("s")
        assert agent.ask("still mine").text == "y"
    assert [message.text for message in make("z", session="s").messages][0] == "from the other process"
