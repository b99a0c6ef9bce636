"""The steps of OpenHarness' compaction, one by one."""

from __future__ import annotations

from harness_nb.core.item import Item
from harness_nb.core.messages import Message, Text, ToolCall
from harness_nb.policies.openharness.boundary import Boundary, rebuilt
from harness_nb.policies.openharness.carryover import attachment_paths, notes
from harness_nb.policies.openharness.checkpoint import MOST_CHARS, checkpoint
from harness_nb.policies.openharness.clearing import CLEARED, cleared, collapsed
from harness_nb.policies.openharness.config import OpenHarnessConfig
from harness_nb.policies.openharness.digest import digest, texts_item
from harness_nb.policies.openharness.overflow import is_overflow_text
from harness_nb.policies.openharness.peers import items_of, peers_of, sanitized, split, without_oldest
from harness_nb.policies.openharness.sizes import OpenHarnessEstimate
from harness_nb.policies.openharness.summary import written
from harness_nb.policies.openharness.tracking import Tracked
from tests.policies.openharness.talks import said, worked

CONFIG = OpenHarnessConfig()
ESTIMATE = OpenHarnessEstimate(CONFIG)


def items(messages: list[Message]) -> tuple[Item, ...]:
    return tuple(Item(at, message) for at, message in enumerate(messages))


def calling(*ids: str, text: str | None = None) -> Message:
    return Message.assistant(text, [ToolCall(one, "t", "{}") for one in ids])


def result(call: str) -> Message:
    return Message.tool(call, f"result of {call}")


def test_the_estimate_rounds_each_text_up_and_adds_a_third() -> None:
    assert ESTIMATE(items([Message.user("x" * 4_000)])) == 1_333
    assert ESTIMATE(items([Message.user("x"), Message.user("y")])) == 2
    assert ESTIMATE(items([Message.user("")])) == 0


def test_arguments_count_as_python_prints_them() -> None:
    call = ToolCall("c", "tool", '{"path":"a"}')
    assert ESTIMATE.size(Message.assistant(None, [call])) == 1 + -(-len("{'path': 'a'}") // 4)


def test_all_results_of_one_answer_are_one_message() -> None:
    peers = peers_of(
        items([Message.user("go"), calling("a", "b"), result("a"), result("b"), Message.assistant("done")])
    )
    assert [len(peer.items) for peer in peers] == [1, 1, 2, 1]
    assert [peer.role for peer in peers] == ["user", "assistant", "user", "assistant"]


def test_a_cut_never_parts_a_call_from_its_result() -> None:
    messages = [*said(4), calling("a"), result("a"), *said(5)]
    older, recent = split(peers_of(items(messages)), 6)
    assert (len(older), len(recent)) == (4, 7)
    assert recent[0].calls[0].id == "a"


def test_what_a_provider_would_refuse_is_left_out() -> None:
    messages = [
        Message.assistant(""),
        result("lost"),
        calling("a", "b", text="half"),
        result("a"),
        Message.user("on"),
        calling("c"),
    ]
    assert [one.message.text for one in items_of(sanitized(peers_of(items(messages))))] == ["on"]


def test_only_the_newest_five_results_stay_and_ids_that_repeat_protect_all() -> None:
    found = cleared(items(worked(7)), CONFIG, ESTIMATE)
    assert [one.message.text == CLEARED for one in found.items if one.message.role == "tool"] == [True] * 2 + [
        False
    ] * 5
    assert found.freed == 500
    repeated = [*worked(3), *worked(3)]
    assert cleared(items(repeated), CONFIG, ESTIMATE).freed == 0


def test_results_of_other_tools_are_cleared_from_4_000_characters_on() -> None:
    small, large = worked(8, 3_999, "own"), worked(8, 4_000, "own")
    assert cleared(items(small), CONFIG, ESTIMATE).freed == 0
    assert cleared(items(large), CONFIG, ESTIMATE).freed == 3_000
    assert cleared(items(worked(8, 100, "mcp__a__b")), CONFIG, ESTIMATE).freed == 75


def test_the_middle_of_long_texts_is_cut_out_in_the_older_part_only() -> None:
    found = collapsed(items(said(10, 3_000)), CONFIG, ESTIMATE)
    assert found is not None
    assert [one.how for one in found] == ["truncated"] * 4 + ["kept"] * 6
    assert {len(one.message.text) for one in found[:4]} == {900 + 500 + 30}
    assert collapsed(items(said(8, 3_000)), CONFIG, ESTIMATE) is None
    assert collapsed(items(said(10, 2_400)), CONFIG, ESTIMATE) is None


def test_each_long_part_is_cut_by_itself() -> None:
    parts = (Text("a" * 3_000), Text("short"), Text("b" * 3_000))
    found = collapsed(items([Message.user(parts), *said(9)]), CONFIG, ESTIMATE)
    assert found is not None
    assert [len(one.text) for one in found[0].message.parts if isinstance(one, Text)] == [1_430, 5, 1_430]


def test_a_digest_keeps_the_oldest_lines_or_if_told_the_newest() -> None:
    peers = peers_of(items(said(60)))
    oldest = digest(peers, CONFIG)
    newest = digest(peers, OpenHarnessConfig(digest_keeps="newest"))
    assert oldest.is_condensed and newest.is_condensed
    assert oldest.lines[0].peer is peers[0] and newest.lines[-1].peer is peers[-1]
    assert len(oldest.body) < 4_100
    assert [
        one.form for one in digest(peers_of(items([calling("a"), result("a"), Message.user(" ")])), CONFIG).lines
    ] == [
        "calls",
        "results",
        "other",
    ]


def test_the_first_version_says_some_texts_and_nothing_without_one() -> None:
    item = texts_item(peers_of(items(said(12, 500))), "assistant")
    assert item is not None
    assert item.message.role == "assistant" and item.message.text.count("\n") == 8
    assert texts_item(peers_of(items([calling("a"), result("a")]))) is None


def test_the_marker_states_figures_that_lag_by_its_own_last_line() -> None:
    rest = items(said(3))
    boundary = Boundary(trigger="auto", of="full", messages=9, tokens=900)
    once, twice = (rebuilt(boundary, rest, ESTIMATE, again=again) for again in (False, True))
    assert once[0].meta["after"] == [4, ESTIMATE(once) - 16]
    assert twice[0].meta["after"] == [4, ESTIMATE(twice)]


def test_a_fifth_of_the_rounds_is_left_out_and_never_the_only_one() -> None:
    peers = peers_of(items(said(34)))
    assert len(without_oldest(peers) or ()) == 28  # three of 17 rounds
    assert without_oldest(peers[:2]) is None


def test_overflow_is_known_by_some_phrases_only() -> None:
    assert is_overflow_text("This model's maximum context length is 8 tokens")
    assert is_overflow_text("too many tokens per minute")  # as shipped
    assert not is_overflow_text("prompt is too long: 213462 tokens > 200000 maximum")


def test_a_summary_is_taken_out_of_its_marks() -> None:
    assert written("<analysis>a</analysis>\n\n\n<summary>\n  kept\n</summary>") == "Summary:\nkept"
    assert written("<summary>no end") == "<summary>no end"
    assert written("<analysis>only</analysis>") == ""


def test_paths_end_at_the_letter_n_by_a_slip_of_the_system() -> None:
    peers = peers_of(items([Message.user("(path: /srv/main.py) [attachment: /d/a.csv] [attachment: download failed]")]))
    assert attachment_paths(peers, 6) == ["/srv/mai", "/d/a.csv"]
    assert [one.meta["openharness"] for one in notes(peers, {}, 6)] == ["recent_attachments"]


def test_a_checkpoint_loses_its_newest_lines_to_the_limit() -> None:
    peers = peers_of(items(said(100)))
    made = checkpoint(peers, {"goal": "g", "verified_state": ["v"]})
    assert made.is_cut and len(made.text) <= MOST_CHARS + 60
    assert made.shown[0] is peers[20] and made.shown[-1] is not peers[-1]
    assert not checkpoint(peers[:3], {}).is_cut


def test_the_state_of_the_work_is_tracked_from_what_was_said_and_done() -> None:
    failed = [
        Message.assistant(None, [ToolCall("z", "bash", '{"command":"no"}')]),
        Message.tool("z", "e", status="error"),
    ]
    state = Tracked.of([*worked(8), *failed]).state
    assert state["task_focus_state"]["goal"] == "Look at everything."
    assert [one["path"] for one in state["read_file_state"]] == [f"f{at}.py" for at in range(2, 8)]
    assert not any("no" in one.split() for one in state["recent_verified_work"])
