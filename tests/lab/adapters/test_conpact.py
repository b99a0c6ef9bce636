from __future__ import annotations

import pytest

from harness_nb import presets, replay
from harness_nb.errors import ConfigError
from harness_nb.lab.adapters import conpact
from harness_nb.model.scripted import ScriptedModel
from tests.gates import need
from tests.lab.adapters.talks import RULE, talk, transcript

need("conpact")

from conpact import SCS, Endpoint, LLMSummarize, RecentN, compact  # noqa: E402 - the tests need the package
from conpact.generate import build_instances  # noqa: E402

SAID = [{"role": one.role, "content": one.text} for one in talk(30)]


def test_a_policy_is_a_function_that_leaves_what_stays_as_the_objects_that_were_given() -> None:
    after = conpact.compactor(presets.get("harness", keep_messages=4))(SAID)
    assert after[0] is SAID[0] and after[-1] is SAID[-1] and len(after) < 12
    assert any(RULE in one["content"] for one in after)
    assert all(set(one) == {"role", "content"} for one in after)


def test_with_the_hook_of_requests_the_policys_own_triggers_decide() -> None:
    assert conpact.compactor(presets.get("harness", trigger_messages=500), hook="request")(SAID) == SAID


@pytest.mark.parametrize("direct", [True, False])
def test_every_side_constraint_of_the_package_survives_harness_word_for_word(direct: bool) -> None:
    haystack = {
        "haystack_id": "h",
        "source": "made up",
        "messages": SAID[1:],
        "message_tokens": [20] * len(SAID[1:]),
        "system_prompt": "You help.",
        "source_conversation_count": 1,
    }
    instances = build_instances([haystack], length=1_000, position="top", direct=direct)
    after = compact(instances, conpact.compactor(presets.get("harness", keep_messages=4)), workers=2)
    texts = ["\n".join(one["content"] for one in messages) for messages in after]
    kept = [sc["sc"][1:] in text for sc, text in zip(SCS, texts, strict=True)]  # the frame changes the first letter
    assert all(kept), [sc["sc"] for sc, one in zip(SCS, kept, strict=True) if not one]
    assert all(len(messages) < len(one.messages) for messages, one in zip(after, instances, strict=True))


def test_its_compactor_that_keeps_the_last_messages_is_a_policy() -> None:
    policy = conpact.policy(RecentN(5), trigger_tokens=600)
    run = replay(transcript(30), policy, window=2_000, model=None)
    step = next(step for step in run.steps if step.outcome == "compacted")
    assert policy.name == "conpact RecentN" and step.messages_after < step.messages_before
    assert all(item.how in ("kept", "note") for item in run.final.input)


def test_its_summariser_is_a_policy_whose_endpoint_nobody_calls() -> None:
    theirs = LLMSummarize(Endpoint("nowhere", base_url="http://127.0.0.1:9/v1", api_key="none"), prompt="pi_mono")
    model = ScriptedModel(summary=["<summary>Long rows.</summary>"], repeat_last=True)
    run = replay(transcript(30), conpact.policy(theirs, trigger_tokens=600), window=2_000, model=model)
    assert any(RULE in one.text for one in model.requests[0].messages)
    assert any(item.how == "summary" and "Long rows." in item.message.text for item in run.final.input)


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(ConfigError, match="trigger_tokens=-1"):
        conpact.policy(RecentN(), trigger_tokens=-1)
