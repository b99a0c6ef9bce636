from __future__ import annotations

import copy
import itertools

import pytest
from hypothesis import given

from harness_nb.core.messages import Message, ToolCall
from harness_nb.core.rounds import UNANSWERED, Repair, boundaries, pairs, problems, repair, units
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import View
from tests.strategies import broken_lists, message_lists


def user(text: str = "go on") -> Message:
    return Message.user(text)


def calls(*ids: str) -> Message:
    return Message.assistant(None, [ToolCall(one, "run") for one in ids])


def result(call_id: str, text: str = "42", status: str = "ok") -> Message:
    return Message.tool(call_id, text, status=status)


def pairing_problems(messages: list[Message]) -> list[str]:
    kinds = [one.kind for one in problems(messages, needs_reply=False)]
    return [kind for kind in kinds if kind in ("orphan_result", "unanswered_call")]


@given(broken_lists())
def test_units_cover_any_list_without_gap_or_overlap(messages: list[Message]) -> None:
    spans = units(messages)

    positions = [at for span in spans for at in range(span.start, span.stop)]
    assert positions == list(range(len(messages)))
    assert all(len(span) > 0 for span in spans)


@given(broken_lists())
def test_a_call_and_its_results_always_lie_in_one_unit(messages: list[Message]) -> None:
    unit_of = {at: span for span in units(messages) for at in range(span.start, span.stop)}

    assert all(unit_of[at] == unit_of[call] for at, call in pairs(messages).items())


@given(broken_lists())
def test_boundaries_are_the_starts_of_units_and_the_end(messages: list[Message]) -> None:
    assert boundaries(messages) == (*(span.start for span in units(messages)), len(messages))


@given(message_lists())
def test_a_unit_of_a_valid_list_holds_one_round_at_most(messages: list[Message]) -> None:
    for span in units(messages):
        made = messages[span.start : span.stop]
        assert len(made) == 1 + len(made[0].calls)


@given(broken_lists())
def test_a_result_answers_an_earlier_call_of_its_id_and_no_call_is_answered_twice(messages: list[Message]) -> None:
    found = pairs(messages)

    answered = [(call, messages[at].call_id) for at, call in found.items()]
    assert all(call < at for at, call in found.items())
    for call, call_id in answered:
        asked = [one.id for one in messages[call].calls].count(call_id or "")
        assert 1 <= answered.count((call, call_id)) <= asked


@given(broken_lists())
def test_a_repaired_list_has_no_pairing_problem(messages: list[Message]) -> None:
    before = copy.deepcopy(messages)

    mended = list(repair(messages).apply(messages))

    assert pairing_problems(mended) == []
    assert not repair(mended).changed
    assert messages == before


@given(broken_lists())
def test_repair_loses_nothing_but_results_without_a_call(messages: list[Message]) -> None:
    mended = repair(messages)

    kept = {one for one in mended.order if isinstance(one, int)}
    assert set(range(len(messages))) - kept == set(mended.dropped)
    assert all(messages[at].role == "tool" and at not in pairs(messages) for at in mended.dropped)


@given(broken_lists())
def test_repair_says_so_exactly_when_it_changes_the_list(messages: list[Message]) -> None:
    mended = repair(messages)

    assert mended.changed is (mended.apply(messages) != tuple(messages))
    assert bool(mended.notes) is mended.changed


@given(message_lists())
def test_repair_of_a_valid_list_changes_nothing(messages: list[Message]) -> None:
    assert repair(messages).order == tuple(range(len(messages)))
    assert not repair(messages).changed


@given(message_lists(1))
def test_a_valid_list_in_progress_has_no_problems(messages: list[Message]) -> None:
    if messages[-1].role == "assistant":
        messages = [*messages, user()]

    assert problems(messages) == ()


@pytest.mark.parametrize("keep", range(7))
def test_r001_no_result_is_kept_without_its_call_whatever_is_kept(keep: int) -> None:
    log = [Message.system("S"), user("U1"), calls("c1"), result("c1"), Message.assistant("A1"), user("U2")]
    view = View.of(Transcript(log))

    for cut in (view.cut(keep_messages=keep), view.cut(keep_tokens=keep * 6)):
        assert pairing_problems([item.message for item in cut.old]) == []
        assert pairing_problems([item.message for item in cut.recent]) == []


def test_r001_a_cut_wanted_at_a_result_moves_to_its_call() -> None:
    view = View.of(Transcript([user("U1"), calls("c1"), result("c1"), Message.assistant("A1"), user("U2")]))

    cutoff = view.cutoff(keep_messages=3)

    assert (cutoff.wanted, cutoff.index, cutoff.moved) == (2, 1, True)
    assert "round stays whole" in cutoff.reason


@pytest.mark.parametrize(("size", "keep"), [(3, 4), (18, 5)])
def test_r002_a_message_with_several_calls_is_one_unit_with_all_its_results(size: int, keep: int) -> None:
    ids = [f"c{at}" for at in range(size)]
    log = [user("U1"), calls(*ids), *map(result, ids), Message.assistant("A1"), user("U2")]

    recent = View.of(Transcript(log)).cut(keep_messages=keep).recent

    assert [item.index for item in recent] == list(range(1, size + 4))


@pytest.mark.parametrize(("status", "text"), [("denied", "no"), ("error", ""), ("interrupted", ""), ("", "")])
def test_r003_refused_failed_interrupted_and_empty_results_are_answers(status: str, text: str) -> None:
    log = [user(), calls("c1"), result("c1", text, status)]

    assert problems(log) == ()
    assert pairs(log) == {2: 1}
    assert not repair(log).changed


def test_r004_orphans_are_dropped_and_unanswered_calls_get_a_labelled_stub() -> None:
    log = [result("c0"), user("U1"), calls("c1"), user("U2")]

    mended = repair(log)
    sent = mended.apply(log)

    assert [one.role for one in sent] == ["user", "assistant", "tool", "user"]
    assert (sent[2].call_id, sent[2].text, sent[2].origin) == ("c1", UNANSWERED, "harness")
    assert (mended.dropped, mended.stubbed) == ((0,), ("c1",))
    assert "at 0" in mended.notes[0] and "c1" in mended.notes[1]
    assert problems([*sent]) == ()
    assert len(log) == 4


def test_a_late_result_is_put_next_to_its_call() -> None:
    log = [user(), calls("c1", "c2"), result("c2"), user("meanwhile"), result("c1")]

    mended = repair(log)

    assert mended.order == (0, 1, 2, 4, 3)
    assert mended.moved == (4,)
    assert "next to their call, from 4" in mended.notes[0]


def test_results_that_stand_apart_pull_what_is_between_into_the_unit() -> None:
    log = [user(), calls("c1"), user("a"), calls("c2"), result("c1"), user("b"), result("c2"), user("c")]

    assert boundaries(log) == (0, 1, 7, 8)


def test_a_result_before_its_call_is_no_answer() -> None:
    assert pairs([result("c1"), calls("c1")]) == {}


def test_an_id_used_again_later_is_answered_in_its_own_round() -> None:
    log = [user(), calls("c1"), result("c1"), user(), calls("c1"), result("c1")]

    assert pairs(log) == {2: 1, 5: 4}
    assert boundaries(log) == (0, 1, 3, 4, 6)
    assert problems(log) == ()


def test_one_message_may_use_an_id_twice_when_each_call_has_a_result() -> None:
    log = [user(), calls("", ""), result(""), result("")]

    assert problems(log) == ()
    assert [one.kind for one in problems(log[:3])] == ["unanswered_call"]
    assert len(repair(log[:3]).stubbed) == 1


def test_a_second_answer_to_one_call_is_dropped() -> None:
    log = [user(), calls("c1"), result("c1", "first"), result("c1", "second")]

    assert repair(log).dropped == (3,)
    assert [one.kind for one in problems(log)] == ["orphan_result"]


def test_r006_a_list_that_begins_with_anything_but_a_user_message_is_a_problem() -> None:
    tail = [calls("c1"), result("c1"), Message.assistant("A1"), user()]

    for log in (tail, [Message.system("S"), *tail]):
        found = problems(log)
        assert [(one.kind, one.position) for one in found] == [("start", len(log) - 4)]
        assert "assistant" in found[0].detail


def test_r007_a_request_that_ends_with_the_assistant_is_a_problem() -> None:
    log = [user(), Message.assistant("partial")]

    assert [(one.kind, one.position) for one in problems(log)] == [("end", 1)]
    assert problems(log, needs_reply=False) == ()


@pytest.mark.parametrize("log", [[], [Message.system("S")]])
def test_a_list_without_conversation_is_a_problem(log: list[Message]) -> None:
    assert [one.kind for one in problems(log)] == ["empty"]


def test_a_system_message_inside_the_conversation_is_a_problem() -> None:
    found = problems([Message.system("S"), user(), Message.system("late"), user()])

    assert [(one.kind, one.position) for one in found] == [("late_system", 2)]


def test_a_message_between_a_call_and_its_result_is_a_problem() -> None:
    found = problems([user(), calls("c1"), user("wait"), result("c1")])

    assert [(one.kind, one.position) for one in found] == [("unanswered_call", 1), ("orphan_result", 3)]


def test_notes_name_the_first_of_many_and_count_the_rest() -> None:
    note = Repair((), dropped=tuple(range(12))).notes[0]

    assert note == "left out 12 tool result(s) without a call, at 0, 1, 2, 3, 4, 5, 6, 7 and 4 more"


def test_dividing_a_long_list_takes_time_in_proportion() -> None:
    log = list(itertools.chain.from_iterable((calls(f"c{at}"), result(f"c{at}")) for at in range(5_000)))

    assert len(units(log)) == 5_000
