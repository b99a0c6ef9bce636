from __future__ import annotations

import json
import subprocess
import sys

import pytest

from harness_nb import HarnessAgent, presets, replay
from harness_nb.errors import ConfigError
from harness_nb.lab.adapters import kit
from harness_nb.model.scripted import ScriptedModel
from tests.gates import need
from tests.lab.adapters.talks import transcript

need("compaction_kit")

from compaction_kit.cli import COMPACTORS  # noqa: E402 - the tests need the package
from compaction_kit.compactors import LLMSummarizerCompactor  # noqa: E402
from compaction_kit.runner import run_conformance  # noqa: E402
from compaction_kit.session import Turn, build_seeded_session  # noqa: E402

TURNS = [
    Turn("system", "You help."),
    Turn("user", "Never push to the main branch. What is in the file?"),
    Turn("tool", "The file has 3 lines."),
    Turn("assistant", "Three lines."),
    *(Turn(role, f"{role} says number {at} of many.") for at in range(20) for role in ("user", "assistant")),
]


def run_kit(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "compaction_kit.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=120, check=False)


def test_a_preset_is_a_compactor_whose_text_is_what_the_model_sees() -> None:
    context = kit.compactor(presets.get("harness", keep_messages=4)).compact(TURNS)
    assert context.compactor_name == "harness" and context.round_num == 1
    assert context.text.startswith("[system] You help.")
    assert "Never push to the main branch." in context.text and "says number 19 of many" in context.text
    assert "says number 9 of many" not in context.text.split("</summary")[-1]


def test_a_later_round_goes_on_with_what_the_round_before_left() -> None:
    compactor = kit.compactor("opencode")
    first = compactor.compact(TURNS, 1, 900)
    second = compactor.compact([Turn("system", first.text)], 2, 900)
    assert second.text.count("[system]") == first.text.count("[system]") == 1
    other = compactor.compact([Turn("system", "something else"), *TURNS[1:]], 1)
    assert other.text.startswith("[system] something else")


@pytest.mark.parametrize("name", ["harness", "hermes", "gemini-cli", "picoclaw"])
def test_no_text_is_longer_than_the_kits_budget(name: str) -> None:
    for fraction in (0.05, 0.1, 0.3):
        run = run_conformance(build_seeded_session(), kit.compactor(name), rounds=3, budget_fraction=fraction)
        assert all(one.within_budget for one in run.rounds)


def test_the_kits_safety_rules_and_constraints_survive_five_rounds_of_harness() -> None:
    run = run_conformance(build_seeded_session(), kit.compactor(), rounds=5, budget_fraction=0.3)
    final = run.rounds[-1].survival_by_type
    assert final["safety_rule"] == final["hard_constraint"] == 1.0


def test_its_command_line_checks_any_preset_by_name() -> None:
    done = run_kit("check", "harness_nb.lab.adapters.kit:gemini_cli", "--rounds", "1", "--format", "json")
    assert done.returncode in (0, 1), done.stderr
    assert json.loads(done.stdout)["compactor"] == "gemini-cli"
    assert run_kit("check", "harness_nb.lab.adapters.kit:no_such").returncode == 2


@pytest.mark.parametrize("name", sorted(COMPACTORS))
def test_each_of_the_kits_compactors_is_a_policy(name: str) -> None:
    policy = kit.policy(COMPACTORS[name](), trigger_tokens=600, keep_messages=2)
    run = replay(transcript(30, with_tools=True), policy, window=2_000, model=None)
    done = [step for step in run.steps if step.outcome == "compacted"]
    assert done and policy.name == f"kit {name}"
    assert all(one.asked == () for step in done for one in step.passes)


def test_a_compactor_that_asks_a_model_asks_by_way_of_the_driver() -> None:
    policy = kit.asking_policy(LLMSummarizerCompactor, trigger_tokens=600)
    model = ScriptedModel(summary=["They spoke about the importer."], repeat_last=True)
    run = replay(transcript(30), policy, window=2_000, model=model)
    texts = [item.message.text for item in run.final.input]
    assert model.requests and model.requests[0].purpose == "summary"
    assert any("They spoke about the importer." in text for text in texts)


def test_one_of_theirs_can_be_registered_and_serves_a_live_agent() -> None:
    presets.register("checklist", kit.policy(COMPACTORS["checklist-carrying"](), trigger_tokens=5_000))
    try:
        model = ScriptedModel(chat=[f"Answer {at}: {'word ' * 800}" for at in range(6)])
        with HarnessAgent(preset="checklist", model=model, window=20_000) as agent:
            for at in range(6):
                agent.ask(f"Question {at}?")
            assert any("PRESERVED CHECKLIST" in item.message.text for item in agent.view().input)
    finally:
        presets.unregister("checklist")


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(ConfigError, match="keep_messages=0"):
        kit.policy(COMPACTORS["naive-summary"](), keep_messages=0)
    with pytest.raises(ConfigError, match="trigger_tokens=2.5"):
        kit.policy(COMPACTORS["naive-summary"](), trigger_tokens=2.5)
    with pytest.raises(ConfigError, match="no preset"):
        kit.compactor("nothing")
