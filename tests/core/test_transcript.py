from __future__ import annotations

import itertools
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_nb.core.messages import Message
from harness_nb.core.tokens import CharsCounter, Measure
from harness_nb.core.transcript import Transcript
from tests.strategies import message_lists

A, B, C = Message.user("a"), Message.assistant("bb"), Message.user("ccc")


def length(message: Message) -> int:
    return len(message.text)


class Counting:
    """A size that knows how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, message: Message) -> int:
        self.asked += 1
        return len(message.text)


@given(message_lists())
def test_sums_equal_those_added_up_one_by_one(messages: list[Message]) -> None:
    transcript = Transcript(messages)

    assert transcript.sums(length) == tuple(itertools.accumulate(map(length, messages), initial=0))
    assert transcript.tokens(length) == sum(map(length, messages))


@given(message_lists(1), st.data())
def test_the_size_of_any_range_is_the_sum_over_it(messages: list[Message], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(messages)))
    stop = data.draw(st.integers(start, len(messages)))

    assert Transcript(messages).tokens(length, start, stop) == sum(map(length, messages[start:stop]))


@given(message_lists(1), st.data())
def test_branches_do_not_see_each_others_messages(messages: list[Message], data: st.DataObject) -> None:
    stems = [(Transcript(), [])] if data.draw(st.booleans()) else [(Transcript(messages), list(messages))]
    for _ in range(data.draw(st.integers(1, 6))):
        stem, naive = data.draw(st.sampled_from(stems))
        more = data.draw(st.lists(st.sampled_from(messages), max_size=3))
        stems.append((stem.append(*more), [*naive, *more]))
        stem.sums(length)

    for transcript, naive in stems:
        assert list(transcript) == naive
        assert transcript.sums(length) == tuple(itertools.accumulate(map(length, naive), initial=0))


def test_appending_shares_messages_and_sums() -> None:
    size = Counting()
    short = Transcript([A, B])
    short.sums(size)

    long = short.append(C)

    assert long.sums(size)[-1] == 6
    assert size.asked == 3
    assert long._store is short._store


def test_a_branch_leaves_the_sums_of_the_other_alone() -> None:
    stem = Transcript([A])
    one, two = stem.append(B), stem.append(C)

    assert (stem.sums(length), one.sums(length), two.sums(length)) == ((0, 1), (0, 1, 3), (0, 1, 4))


def test_sums_that_somebody_holds_do_not_grow() -> None:
    stem = Transcript([A])
    held = stem.sums(length)

    stem.append(B).sums(length)

    assert held == (0, 1)


def test_a_range_never_reaches_beyond_the_end() -> None:
    stem = Transcript([A])
    stem.append(B).sums(length)

    assert stem.tokens(length, 0, 9) == 1


def test_indices_and_slices_work_as_in_a_tuple() -> None:
    stem = Transcript([A, B])
    stem.append(C)

    for index in (slice(None), slice(0, 9), slice(None, None, -1), slice(-1, None), slice(5, 1, -2)):
        assert stem[index] == (A, B)[index]
    assert (stem[0], stem[-1], stem[-2]) == (A, B, A)
    for index in (2, -3):
        with pytest.raises(IndexError):
            stem[index]


def test_equal_messages_make_equal_transcripts_whatever_they_grew_from() -> None:
    one, other = Transcript([A, B]), Transcript([A]).append(B)
    other.append(C)

    assert one == other
    assert hash(one) == hash(other)
    assert one != Transcript([A])
    assert one != [A, B]


@given(message_lists())
def test_a_transcript_survives_pickling_after_it_was_measured(messages: list[Message]) -> None:
    transcript = Transcript(messages, report=["line 3 left out"], name="s")
    transcript.sums(Measure(CharsCounter()))
    transcript.sums(lambda message: 1)

    again = pickle.loads(pickle.dumps(transcript))  # noqa: S301

    assert (again, again.report, again.name) == (transcript, ("line 3 left out",), "s")


def test_a_transcript_takes_openai_messages_and_gives_them_back() -> None:
    wires = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b", "odd": 1}]

    assert Transcript(wires).to_openai() == wires


def test_a_transcript_shows_its_name_and_length_only() -> None:
    assert repr(Transcript([A], name="s.jsonl")) == "Transcript('s.jsonl', 1 messages)"
    assert repr(Transcript()) == "Transcript(0 messages)"


def test_rounds_of_an_empty_transcript_are_none() -> None:
    assert Transcript().rounds() == ()
    assert Transcript().sums(length) == (0,)


def test_what_begins_a_transcript_shares_what_was_measured_of_it() -> None:
    size = Counting()
    whole = Transcript([A, B, C])
    whole.sums(size)
    grown = whole.first(0).append(A).append(B, C)
    assert (list(whole.first(2)), list(whole.first(9)), list(whole.first(-1))) == ([A, B], [A, B, C], [])
    assert (grown, grown.tokens(size), size.asked) == (whole, 6, 3)


def test_a_transcript_that_goes_on_in_another_way_leaves_the_first_alone() -> None:
    whole = Transcript([A, B, C])
    other = whole.first(1).append(C)
    same_words = whole.first(1).append(Message.assistant("bb"), C)
    assert (list(other), list(same_words), list(whole)) == ([A, C], [A, B, C], [A, B, C])


def test_what_is_made_of_a_transcript_is_made_once_and_left_behind_when_it_is_pickled() -> None:
    made = []

    def make(transcript: Transcript) -> int:
        made.append(transcript)
        return len(transcript)

    transcript = Transcript([A, B])
    assert (transcript.once(make), transcript.once(make), len(made)) == (2, 2, 1)
    assert (pickle.loads(pickle.dumps(transcript)).once(make), transcript.append(C).once(make)) == (2, 3)  # noqa: S301 - made here


def test_threads_that_measure_one_transcript_at_once_get_the_right_sums() -> None:
    messages = [Message.user("x" * (at % 7)) for at in range(2_000)]
    transcript = Transcript(messages)
    expected = tuple(itertools.accumulate(map(length, messages), initial=0))
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: transcript.sums(length), range(16)))
    assert set(found) == {expected}
