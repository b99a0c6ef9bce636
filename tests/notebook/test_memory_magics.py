"""The cells of `%memory`, `%context` and `%policy` that change something or compare policies."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness_nb import CompactionConfig, HarnessAgent, MemoryConfig, Message, ScriptedModel, Transcript
from harness_nb.core.clock import Clock
from harness_nb.notebook.errors import MagicError

NEW = "# Memory\n\n- The solver is DOP853.\n- Ana reviews every schema change.\n"


@pytest.fixture
def lab(shell: Any, workspace: Path, clock: Clock) -> Iterator[HarnessAgent]:
    """An agent in use, with two notes to merge and a model that merges them."""
    (workspace / "memory").mkdir()
    (workspace / "memory" / "2026-04-12.md").write_text(
        "- The solver is DOP853.\n- Ana reviews every schema change.\n", "utf-8"
    )
    (workspace / "MEMORY.md").write_text("# Memory\n\n- The solver is RK45.\n", "utf-8")
    model = ScriptedModel(chat=["word " * 60], flush=["- The probe is Kappa."], summary=["## SUMMARY\nshort"], consolidation=[NEW], repeat_last=True, window=9_000)  # fmt: skip
    agent = HarnessAgent("lab", model=model, workspace=workspace, memory=MemoryConfig(review="always"),
                         compaction=CompactionConfig(trigger_messages=30, keep_messages=2), clock=clock)  # fmt: skip
    shell.user_ns["lab"] = agent
    shell.cell("%agent use lab")
    yield agent
    agent.close()


def memory(agent: HarnessAgent) -> str:
    return (agent.workspace.path / "MEMORY.md").read_text("utf-8")


def close(result: Any) -> None:
    end = getattr(result, "close", None)
    _ = end() if end else None


def test_a_proposal_is_made_shown_and_accepted_in_part(shell, lab) -> None:
    assert shell.cell("%memory consolidate").outcome == "waiting"
    pending = shell.cell("%memory pending")
    changes = pending.model.proposals[0].changes
    wanted = next(change.number for change in changes if "Ana" in change.after)
    assert "Ana" not in memory(lab)
    decision = shell.cell(f"%memory accept 1 --only {wanted}")
    assert (decision.verb, decision.left) == ("accepted", len(changes) - 1)
    assert "Ana reviews" in memory(lab) and "RK45" in memory(lab)
    assert shell.cell("%memory reject 1").left == 0
    close(pending)


def test_a_candidate_that_is_merged_anew_waits_again(shell, lab) -> None:
    shell.cell("%memory consolidate")
    shell.cell("%memory reject 1 --again")
    assert len(shell.cell("%memory pending").df) == 2
    assert shell.cell("%memory consolidate").outcome == "waiting"


def test_versions_are_listed_and_restored(shell, lab) -> None:
    before = memory(lab)
    shell.cell("%memory consolidate")
    shell.cell("%memory accept 1")
    versions = shell.cell("%memory restore")
    assert len(versions) == 1 and memory(lab) != before
    shell.cell(f"%memory restore {versions[0].number}")
    assert memory(lab) == before


def test_facts_are_taken_by_hand_and_the_index_is_built_anew(shell, lab) -> None:
    shell.cell("%%agent\nThe probe is Kappa.")
    assert shell.cell("%memory flush").events == ()  # the turn's own flush has read it
    status = shell.cell("%memory reindex")
    assert "lines of" in str(status)
    assert len(shell.cell("%memory search Kappa")) >= 1


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("%memory accept", "needs CANDIDATE"),
        ("%memory accept 99", "99"),
        ("%memory accept x", "'x' is no number"),
        ("%memory accept 1 --only few", "--only 'few' is not valid"),
        ("%memory reject 1 --agian", "Did you mean --again?"),
        ("%memory restore latest", "'latest' is no number of a version"),
        ("%memory restore 99", "99"),
        ("%context compcat", "Did you mean %context compact?"),
        ("%policy", None),
        ("%policy shwo", "Did you mean %policy show?"),
        ("%policy show hernes", "hernes"),
        ("%policy show --variant report", "--variant needs"),
        ("%policy show harness --variant old", "has no variants"),
        ("%policy show agentscope --variant old", "old"),
        ("%context pin x --message 1", "--message '1' is not valid here"),
        ("%context pin --message 99", "99"),
        ("%context pin --off nothing", "nothing"),
        ("%policy use", "needs PRESET"),
        ("%policy use eney", "an agent of your own"),
        ("%policy compare harness --on nothing", "--on 'nothing' is no variable"),
        (f"%policy compare harness --on {__file__}", "It is a file. Read it first"),
        ("%policy compare harness --on lba", "Did you mean 'lab'?"),
        ("%policy tune hernes --on talk", "hernes"),
        ("%policy compare --on empty", "Nothing has been said yet"),
    ],
)
def test_r093_a_mistake_is_said_in_at_most_three_lines(shell, lab, cell: str, said: str | None) -> None:
    shell.user_ns |= {"talk": Transcript([Message.user("a")]), "empty": Transcript()}
    if said is None:
        assert shell.cell(cell) is None
        return
    with pytest.raises(MagicError) as caught:
        shell.cell(cell)
    lines = caught.value._render_traceback_()
    assert said in "\n".join(lines) and len(lines) <= 3


def test_a_compaction_by_hand_passes_words_on(shell, lab) -> None:
    for number in range(4):
        shell.cell(f"%%agent\nquestion {number}")
    report = shell.cell("%context compact keep the file names")
    assert [event.outcome for event in report.events] == ["completed"]
    assert len(shell.cell("%context course").df) == 6
    tiers = shell.cell("%context tiers")
    assert tiers.df["name"].tolist() == ["trigger_tokens", "trigger_messages"] and "in " in str(tiers)


def test_a_text_and_a_message_are_pinned_and_taken_away(shell, lab) -> None:
    shell.cell("%%agent\nThe plan is ready.")
    assert len(shell.cell("%context pin Use metres, don't use feet.")) == 1
    pins = shell.cell("%context pin --message 0")
    assert [pin.text for pin in pins] == ["Use metres, don't use feet.", "The plan is ready."]
    assert len(shell.cell("%context pin --off 0")) == 1 and len(shell.cell("%context pin").df) == 1


def test_presets_are_listed_and_shown(shell, lab) -> None:
    listed = shell.cell("%policy list")
    assert listed.df.set_index("name").loc["harness", "is_in_use"]
    shown = shell.cell("%policy show eney")
    assert "thresholds" in shown.df["name"].tolist() and repr(shown) == 'PresetShown(presets.get("eney"))'
    assert "keep_messages" in str(shell.cell("%policy show"))


def test_another_policy_goes_on_with_the_session(shell) -> None:
    shell.cell("%agent new lab --workspace ws")
    shell.cell("%%agent\nRemember that the probe is Kappa.")
    before = shell.cell("%agent status")
    after = shell.cell("%policy use agentscope --variant as_shipped")
    assert (after.session, after.preset, after.turns) == (before.session, "agentscope", 1)


def test_policies_are_compared_and_tuned_over_a_conversation(shell, lab) -> None:
    said = [m for n in range(20) for m in (Message.user(f"q{n} " * 60), Message.assistant("a " * 90))]
    shell.user_ns["talk"] = Transcript(said, name="talk")
    found = shell.cell("%policy compare harness eney --on talk --window 8000")
    assert found.df["policy"].tolist() == ["harness", "eney"] and found.df["window"].tolist() == [8_000, 8_000]
    assert len(shell.cell("%policy compare --on talk").runs) >= 3
    tuner = shell.cell("%policy tune harness eney --on talk --window 8000")
    assert [column.preset.name for column in tuner.columns] == ["harness", "eney"]
    close(tuner)
    shell.cell("%%agent\nquestion")
    own = shell.cell("%policy tune")
    assert own.columns[0].preset.settings["keep_messages"] == 2 and len(own.transcript) == 2
    close(own)


def test_a_search_is_narrowed_to_kinds_and_brings_the_lines_around(shell) -> None:
    shell.cell("%agent new lab --workspace ws")
    (Path("ws") / "notes").mkdir(parents=True)
    (Path("ws") / "notes" / "optics.md").write_text(
        "# Optics\n\nThe lens is clean.\nThe probe is Kappa.\n", encoding="utf-8"
    )
    shell.cell("%%agent --no-stream\nThe probe is Kappa.")
    everywhere = shell.cell("%memory search probe")
    daily = shell.cell("%memory search probe --kind daily")
    assert {hit.kind for hit in daily} == {"daily"} < {hit.kind for hit in everywhere}
    both = shell.cell("%memory search probe --kind daily --kind topic --neighbours 1 --mode keyword")
    assert "The lens is clean." in " ".join(hit.content for hit in both)
    with pytest.raises(MagicError, match="nonsense"):
        shell.cell("%memory search probe --mode nonsense")
    assert "--kind" in shell.complete_line("%memory search probe --k")
    assert "session" in shell.complete_line("%memory search probe --kind s")


def test_a_topic_is_shown_by_its_name_which_is_completed(shell) -> None:
    shell.cell("%agent new lab --workspace ws")
    (Path("ws") / "notes").mkdir(parents=True)
    (Path("ws") / "notes" / "optics.md").write_text("The lens is clean.\n", encoding="utf-8")
    assert str(shell.cell("%memory show notes/optics.md")) == "The lens is clean."
    assert "notes/optics.md" in shell.complete_line("%memory show n")
    with pytest.raises(MagicError, match="Did you mean 'notes/optics.md'"):
        shell.cell("%memory show notes/optic.md")
    with pytest.raises(MagicError):
        shell.cell("%memory show ../secret.md")


def test_hints_say_what_to_type_in_a_cell(shell) -> None:
    shell.cell("%agent new lab --workspace ws")
    for line in ("%memory accept 9", "%memory accept nine"):
        with pytest.raises(MagicError, match="%memory pending"):
            shell.cell(line)
    with pytest.raises(MagicError, match="--again is for a whole candidate.\nLeave --only out."):
        shell.cell("%memory reject 1 --only 2 --again")
