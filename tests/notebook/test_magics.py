"""Cells, run in a shell: what they return, what they refuse, and that nothing is sent then."""

from __future__ import annotations

from typing import Any

import pytest

from harness_nb import HarnessAgent, ScriptedModel
from harness_nb.notebook.errors import MagicError
from harness_nb.notebook.grammar import ASK, MAGICS

ALL = [ASK, *(command for commands in MAGICS.values() for command in commands)]


def scripted(shell: Any, *replies: Any, **settings: Any) -> HarnessAgent:
    """Puts an agent with a script in use."""
    model = ScriptedModel(chat=replies, flush=["NO_REPLY"], repeat_last=True, reports_usage=True)
    agent = HarnessAgent("lab", model=model, workspace="ws", **settings)
    shell.user_ns["lab"] = agent
    shell.cell("%agent use lab")
    return agent


def test_a_cell_is_answered_and_its_reply_is_the_value_of_the_cell(shell) -> None:
    agent = scripted(shell, "It is done.")
    reply = shell.cell("%%agent --out reply\nDo it.")
    assert reply.text == "It is done." and shell.user_ns["reply"] is reply is agent.last_reply
    assert set(reply._repr_mimebundle_()) == {"text/plain", "text/markdown"}
    agent.close()


def test_r091_the_body_is_sent_as_typed(shell) -> None:
    agent = scripted(shell, "ok")
    body = "explain {n: i for i, n in enumerate(xs)} and print({'a': 1})\n\n$HOME {{x}} {1/0}  "
    shell.cell(f"%%agent\n{body}")
    assert agent.messages[0].text == body
    agent.close()


def test_r091_only_a_variable_that_is_named_is_put_in(shell) -> None:
    agent = scripted(shell, "ok")
    shell.cell("note = 'the {{other}} note'")
    shell.cell("%%agent --var note\nRead {{note}} and {{other}}.")
    assert agent.messages[0].text == "Read the {{other}} note and {{other}}."
    agent.close()


def test_the_outputs_that_ipython_keeps_are_no_hint(shell) -> None:
    shell.user_ns["_"] = shell.user_ns["_1"] = HarnessAgent(workspace="ws")
    with pytest.raises(MagicError, match=r"%agent new"):
        shell.cell("%agent use _2")
    shell.user_ns["_"].close()


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("%%agent\n   ", "The cell is empty"),
        ("%%agent --var nope\n{{nope}}", "--var 'nope': there is no such variable"),
        ("%%agent --out 1x\nhi", "--out '1x' is no name of a variable"),
        ("%%agent --no-steam\nhi", "Did you mean --no-stream?"),
        ("%%agent --preset harnes\nhi", "harnes"),
        ("%%agent hello\nhi", "takes no text"),
        ("%agent nwe", "Did you mean %agent new?"),
        ("%agent use nobody", "'nobody' is no variable"),
        ("%agent new --preset hernes", "hernes"),
        ("%agent new --window few", "--window 'few' is not valid"),
        ("%memory search", "needs TEXT"),
        ("%memory search --limit", "--limit needs a value"),
        ("%memory log yesteryear", "'yesteryear' is no day"),
        ("%memory serch x", "Did you mean %memory search?"),
        ("%context plam", "Did you mean %context plan?"),
    ],
)
def test_r093_a_mistake_fails_the_cell_with_at_most_three_lines(shell, cell: str, said: str) -> None:
    with pytest.raises(MagicError) as caught:
        shell.cell(cell)
    lines = caught.value._render_traceback_()
    assert said in "\n".join(lines) and len(lines) <= 3
    magics = next(one for one in shell.configurables if type(one).__name__ == "HarnessMagics")
    assert magics.seat.taken is None or not magics.seat.taken.messages


@pytest.mark.parametrize("command", ALL, ids=lambda command: command.name)
def test_help_is_printed_and_nothing_is_done(shell, capsys, command) -> None:
    cell = f"{command.name} --help\nhi" if command is ASK else f"{command.name} --help"
    assert shell.cell(cell) is None
    assert capsys.readouterr().out.startswith(command.usage)
    magics = next(one for one in shell.configurables if type(one).__name__ == "HarnessMagics")
    assert magics.seat.taken is None


@pytest.mark.parametrize("magic", MAGICS)
def test_r093_every_magic_has_an_overview(shell, capsys, magic: str) -> None:
    if magic == "context":  # alone it shows the pressure
        shell.cell("%context --help")
    else:
        shell.cell(f"%{magic}")
    assert f"%{magic}" in capsys.readouterr().out


def test_every_sub_command_of_the_grammar_is_carried_out(shell) -> None:
    magics = next(one for one in shell.configurables if type(one).__name__ == "HarnessMagics")
    assert set(magics.runs) == {command.name for commands in MAGICS.values() for command in commands}


def test_results_are_returned_and_have_a_frame(shell) -> None:
    shell.cell("%agent new lab --workspace ws --window 8000")
    shell.cell("%%agent\nRemember that Ana reviews every schema change.")
    for line in ("%agent status", "%agent config", "%agent tools", "%agent sessions", "%memory search schema",
                 "%memory show", "%memory log today", "%memory status", "%context", "%context plan"):  # fmt: skip
        shell.cell(f"result = {line}")
        result = shell.user_ns["result"]
        assert result.df is not None and {"text/plain", "text/html"} <= set(result._repr_mimebundle_())
        assert "0x" not in repr(result)
        close = getattr(result, "close", None)
        _ = close() if close else None


@pytest.mark.parametrize(
    ("line", "query", "limit"),
    [
        ("don't rotate", "don't rotate", None),
        ('"lab 7" --limit 2', "lab 7", 2),
        ("lab-7", "lab-7", None),
        ("-5 degrees", "-5 degrees", None),
    ],
)
def test_r092_free_text_is_a_query(shell, line: str, query: str, limit: int | None) -> None:
    shell.cell("%agent new lab --workspace ws")
    agent = (
        shell.cell("%agent status")
        and next(o for o in shell.configurables if type(o).__name__ == "HarnessMagics").seat.agent
    )
    day = agent.workspace.clock.now().date()
    folder = agent.workspace.path / "memory"
    folder.mkdir(exist_ok=True)
    lines = [
        "- don't rotate the keys",
        "- lab 7 is full",
        "- lab-7 is a machine",
        "- at -5 degrees it stops",
        "- lab 7 again",
        "- lab 7 once more",
    ]
    (folder / f"{day}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    hits = shell.cell(f"%memory search {line}")
    assert hits.query == query and len(hits) >= 1 and (limit is None or len(hits) == limit)


def test_the_limit_of_a_search_can_be_configured(shell) -> None:
    shell.cell("%config HarnessMagics.limit = 1")
    shell.cell("%agent new lab --workspace ws")
    shell.cell("%%agent\nRemember that Ana reviews every schema change.")
    assert len(shell.cell("%memory search schema")) == 1


def test_a_dry_run_shows_request_and_plan_and_sends_nothing(shell) -> None:
    agent = scripted(shell, "never")
    result = shell.cell("%%agent --dry-run\nWhat is <b>next</b>?")
    shown = result._repr_mimebundle_()
    assert "What is <b>next</b>?" in shown["text/plain"] and "What is &lt;b&gt;next&lt;/b&gt;?" in shown["text/html"]
    assert "Nothing has been changed" in shown["text/plain"]
    assert not agent.messages and not agent.model.requests
    assert result.df["role"].tolist() == ["system", "user"]
    agent.close()


def test_another_model_or_preset_goes_on_with_the_session(shell) -> None:
    shell.cell("%agent new lab --workspace ws")
    shell.cell("%%agent\nRemember that the probe is Kappa.")
    before = shell.cell("%agent status")
    shell.cell("%%agent --preset eney\nWhat is the probe?")
    after = shell.cell("%agent status")
    assert (after.session, after.preset, after.turns) == (before.session, "eney", 2)
    assert "Kappa" in shell.cell(
        "_magics = get_ipython().magics_manager.registry['HarnessMagics']\n_magics.seat.agent.last_reply.text"
    )


def test_settings_of_an_agent_of_the_users_own_are_not_changed_behind_its_back(shell) -> None:
    agent = scripted(shell, "ok")
    with pytest.raises(MagicError, match="an agent of your own"):
        shell.cell("%%agent --model offline\nhi")
    assert not agent.messages
    agent.close()


def test_a_session_is_begun_and_resumed(shell) -> None:
    shell.cell("%agent new lab --workspace ws --session first")
    shell.cell("%%agent\nRemember that the probe is Kappa.")
    assert shell.cell("%agent reset second").session == "second"
    assert shell.cell("%agent status").messages == 0
    shell.cell("%%agent --session first\nAnd now?")
    status = shell.cell("%agent status")
    assert (status.session, status.turns) == ("first", 2)
    assert len(shell.cell("%agent sessions")) >= 1


def test_an_error_of_the_provider_is_short_and_debug_shows_it_whole(shell) -> None:
    from harness_nb.errors import MissingKeyError, ModelError

    error = MissingKeyError("There is no key for 'x/y'.", "Set X_API_KEY before you start Jupyter.")
    agent = scripted(shell, error)
    with pytest.raises(MagicError, match="no key"):
        shell.cell("%%agent\nhi")
    with pytest.raises(ModelError) as caught:
        shell.cell("%%agent --debug\nhi")
    assert not isinstance(caught.value, MagicError)
    agent.close()


def test_r103_an_unknown_model_shows_the_window_in_use_and_where_it_comes_from(shell) -> None:
    agent = HarnessAgent(model=ScriptedModel(["ok"], window=9_000, name="my-local-7b"), workspace="ws")
    shell.user_ns["mine"] = agent
    shell.cell("%agent use mine")
    text = str(shell.cell("%agent status")._repr_mimebundle_()["text/plain"])
    assert "9,000 tokens (from: model)" in text
    agent.close()


def test_another_session_of_the_same_agent_is_said(shell, capsys) -> None:
    shell.cell("%agent new lab --workspace ws")
    shell.cell("%agent new lab --workspace ws")
    assert "another session" not in capsys.readouterr().out
    first = shell.cell("%agent status").session
    shell.cell("%%agent --no-stream\nThe probe is Kappa.")
    shell.cell("%agent new lab --workspace ws")
    said = capsys.readouterr().out
    assert f"This is another session of 'lab'; go on with the one before: %agent reset {first}" in said
    assert shell.cell("%agent reset " + first).messages == 2


def test_a_window_without_room_is_said_where_the_agent_is_shown(shell) -> None:
    agent = shell.cell("%agent new tight --workspace ws --window 10")
    assert "no turn fits" in " ".join(agent.status().warnings)
    assert "no turn fits" in str(shell.cell("%agent status"))
