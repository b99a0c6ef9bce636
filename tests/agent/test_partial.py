from __future__ import annotations

from harness_nb.agent.partial import WRITE_SECONDS, Partial


class Seconds:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_what_streams_is_written_down_now_and_then_and_never_half_a_word() -> None:
    written: list[str] = []
    seconds = Seconds()
    partial = Partial(written.append, seconds)
    partial.add("The key is sk-te")
    assert written == []
    seconds.now += WRITE_SECONDS
    partial.add("st-abc")
    assert written == ["The key is"]
    partial.add("d and more than before")
    assert written == ["The key is"]  # not yet
    seconds.now += WRITE_SECONDS
    partial.add(" !")
    assert written == ["The key is", "The key is sk-test-abcd and more than before"]
    assert partial.text == "The key is sk-test-abcd and more than before !"


def test_all_writes_together_stay_a_few_times_the_size_of_the_text() -> None:
    written: list[str] = []
    seconds = Seconds()
    partial = Partial(written.append, seconds)
    for _ in range(5_000):
        seconds.now += 1
        partial.add("word ")
    assert sum(map(len, written)) < 6 * len(partial.text)
    assert len(written[-1]) > 0.7 * len(partial.text)


def test_an_answer_that_is_given_up_is_taken_back_and_one_that_became_a_message_is_not() -> None:
    written: list[str] = []
    seconds = Seconds()
    partial = Partial(written.append, seconds)
    for end in (partial.clear, partial.taken):
        seconds.now += WRITE_SECONDS
        partial.add("some words")
        end()
        assert partial.text == ""
    assert written == ["some", "", "some"]


def test_nothing_is_written_for_an_answer_that_comes_at_once() -> None:
    written: list[str] = []
    partial = Partial(written.append, Seconds())
    partial.add("all of it at once")
    partial.clear()
    assert written == []
