"""What a point of a replay tells: sizes by role, edits, what became of messages, and the recorded bill."""

from __future__ import annotations

from harness_nb import presets
from harness_nb.core.messages import Message, ToolCall, Usage
from harness_nb.core.tokens import CharsCounter, Measure
from harness_nb.core.transcript import Transcript
from harness_nb.lab.replay import replay
from harness_nb.lab.run import Replay


def run() -> Replay:
    said = [
        Message.user("Look."),  # ceil(5 / 4) = 2 tokens and a frame of 4
        Message.assistant(calls=[ToolCall("c1", "look")], usage=Usage(120, 7, cached_tokens=40, cost=0.5)),
        Message.tool("c1", "x" * 40),  # 10 and 4
        Message.assistant("Done."),  # 2 and 4
        *(Message.user("More? " * 90) if at % 2 == 0 else Message.assistant("Yes. " * 90) for at in range(20)),
    ]
    preset = presets.get("harness", trigger_messages=14, keep_messages=4)
    return replay(Transcript(said), preset, model=None, measure=Measure(CharsCounter()))


def test_sizes_by_role_add_up_to_the_estimate_of_what_is_sent() -> None:
    steps = [step for step, _ in run().contexts()]
    # the call is 4 for the frame, 8 for the call, 1 for "look" and 1 for "{}"
    assert steps[1].tokens_by_role == {"user": 6, "assistant": 14, "tool": 14, "harness": 0}
    for step in steps:
        assert sum(step.tokens_by_role.values()) + step.fixed_tokens == step.estimate
    assert steps[-1].tokens_by_role["harness"] > 0


def test_a_compaction_tells_what_it_made_and_what_became_of_the_messages() -> None:
    done = run()
    first = done.compactions[0]
    # 15 items, of which the last 4 stay; the rest are stood for by one summary
    assert (first.edits, first.fates) == ({"summary": 1}, {"stood for": 11, "kept": 4})
    assert (first.record["edits"], first.record["summarised"], first.record["gone"]) == ("1 summary", 11, 0)
    quiet = done.steps[0]
    assert (quiet.edits, quiet.fates, quiet.changed) == ({}, {}, False)


def test_the_recorded_bill_stands_beside_the_estimate_where_there_is_one() -> None:
    frame = run().df
    billed = frame[["input_tokens", "output_tokens", "cached_tokens", "cost"]]
    assert billed.iloc[0].tolist() == [120, 7, 40, 0.5]
    assert billed.iloc[1:].isna().all(axis=None)
    assert (frame["estimate"] > 0).all()
