from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from harness_nb import presets, replay
from harness_nb.errors import ConfigError
from harness_nb.lab.adapters import compactbench
from harness_nb.model.scripted import ScriptedModel
from tests.gates import need
from tests.lab.adapters.talks import RULE, talk, transcript

need("compactbench")

from compactbench.compactors import list_built_ins  # noqa: E402 - the tests need the package
from compactbench.contracts import Transcript, Turn  # noqa: E402
from compactbench.providers import MockProvider  # noqa: E402
from compactbench.runner import resolve_compactor_class  # noqa: E402
from compactbench.runner.cycle import execute_cycle  # noqa: E402

SAID = Transcript(turns=[Turn(id=at + 10, role=one.role, content=one.text) for at, one in enumerate(talk(30))])
STATE = json.dumps({"locked_decisions": ["Rows are split."], "forbidden_behaviors": ["Never push."]})


def test_a_policy_is_a_method_that_keeps_the_rule_and_names_the_turns_that_stay() -> None:
    method = compactbench.method(presets.get("harness", keep_messages=4))
    artifact = asyncio.run(method(MockProvider(), "none").compact(SAID))
    assert RULE in artifact.summary_text and artifact.structured_state.locked_decisions == []
    last = SAID.turns[-1]
    assert artifact.selected_source_turn_ids[-1] == last.id and last.content in artifact.summary_text
    assert artifact.method_metadata["method"] == "harness-nb-harness" and artifact.method_metadata["calls"] > 0


def test_the_text_is_never_longer_than_the_limit() -> None:
    method = compactbench.method("hermes", budget_chars=700)
    artifact = asyncio.run(method(MockProvider(), "none").compact(SAID))
    assert 0 < len(artifact.summary_text) <= 700


def test_the_benchs_own_provider_may_write_the_summary() -> None:
    provider = MockProvider(default="Rows, rows and more rows.")
    method = compactbench.method(presets.get("harness", keep_messages=4), model=None)
    artifact = asyncio.run(method(provider, "their-model").compact(SAID))
    assert "Rows, rows and more rows." in artifact.summary_text
    assert provider.calls[0].model == "their-model"


def test_a_provider_that_fails_is_a_warning_and_the_conversation_stays() -> None:
    class Down(MockProvider):
        async def complete(self, request: object) -> object:
            raise RuntimeError("down")

    method = compactbench.method(presets.get("harness", keep_messages=4), model=None, budget_chars=8_000)
    artifact = asyncio.run(method(Down(), "none").compact(SAID))
    assert "down" in artifact.warnings[0] and SAID.turns[-1].content in artifact.summary_text


@pytest.mark.usefixtures("vocabularies")
def test_its_runner_takes_a_method_from_a_file_and_scores_it(tmp_path: Path) -> None:
    file = tmp_path / "methods.py"
    file.write_text("from harness_nb.lab.adapters import compactbench\nHarness = compactbench.method()\n", "utf-8")
    method = resolve_compactor_class(f"{file}:Harness")
    case, provider = _case(), MockProvider(default="We never push.")
    result = asyncio.run(
        execute_cycle(
            case=case,
            transcript=case.transcript,
            cycle_number=0,
            previous_artifact=None,
            compactor=method(provider, "m"),
            provider=provider,
            model="m",
            case_seed=1,
        )
    )
    assert result.scorecard.cycle_number == 0 and result.artifact.summary_text


def _case() -> object:
    from compactbench.contracts import EvaluationItem, GeneratedCase, GroundTruth

    item = EvaluationItem(
        key="rule",
        item_type="forbidden_behavior_retention",
        prompt="What must never be done?",
        expected={"check": "contains_normalized", "value": "push"},
    )
    return GeneratedCase(
        case_id="case",
        template_key="t",
        template_version="1",
        seed=1,
        difficulty="easy",
        transcript=SAID,
        ground_truth=GroundTruth(forbidden_behaviors=["push to the main branch"]),
        evaluation_items=[item],
    )


@pytest.mark.parametrize("key", list_built_ins())
def test_each_of_its_methods_is_a_policy_whose_calls_the_driver_makes(key: str) -> None:
    policy = compactbench.policy(key, trigger_tokens=600, keep_messages=2)
    model = ScriptedModel(summary=[STATE], repeat_last=True)
    run = replay(transcript(30), policy, window=2_000, model=model)
    shown = "\n".join(item.message.text for item in run.final.input)
    assert policy.name == f"compactbench {key}" and model.requests
    assert ("Rows are split." in shown) and run.final.input[-1].message.text == "And what now?"


def test_what_is_no_method_is_refused() -> None:
    with pytest.raises(ConfigError, match="no method 'best'"):
        compactbench.policy("best")
    with pytest.raises(ConfigError, match="budget_chars=0"):
        compactbench.method(budget_chars=0)
