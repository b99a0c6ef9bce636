from __future__ import annotations

import pytest

from harness_nb.memory.designs.openclaw.flushing import FlushRecord, Transcript, is_due


def due(record: FlushRecord | None, said: Transcript | None = None, prompt: str = "", threshold: int = 100_000) -> bool:
    return is_due(record, said or Transcript(), prompt, threshold=threshold, most_bytes=2_000_000)


@pytest.mark.parametrize(("tokens", "is_now"), [(99_999, False), (100_000, True)])
def test_notes_are_taken_at_the_threshold(tokens: int, is_now: bool) -> None:
    assert due(FlushRecord(total_tokens=tokens, is_fresh=True)) is is_now


def test_the_new_message_and_the_last_answer_count() -> None:
    known = FlushRecord(total_tokens=99_000, is_fresh=True)
    assert due(known, prompt="x" * 4_000) and not due(known, prompt="x" * 3_992)
    assert due(known, Transcript(output_tokens=999), prompt="hi") and not due(known, Transcript(output_tokens=999))


def test_stale_figures_are_looked_up_in_the_messages() -> None:
    assert due(FlushRecord(total_tokens=1, is_fresh=False), Transcript(prompt_tokens=99_000, output_tokens=1_000))
    assert not due(FlushRecord(total_tokens=200_000, is_fresh=False))
    assert due(FlushRecord(total_tokens=200_000))


def test_a_large_session_is_due_in_any_case() -> None:
    assert due(FlushRecord(), Transcript(size_bytes=2_000_000), threshold=0)
    assert not due(FlushRecord(total_tokens=10**6, is_fresh=True), threshold=0)


def test_it_happens_once_between_two_compactions() -> None:
    full = FlushRecord(total_tokens=200_000, is_fresh=True, compactions=2)
    assert due(full) and not due(full.succeeded()) and full.succeeded().flushed_at == 2
    assert not due(None)


def test_three_failures_end_the_attempts_of_a_cycle() -> None:
    record = FlushRecord(total_tokens=200_000, is_fresh=True)
    for left in (True, True, False):
        record = record.failed()
        assert due(record) is left and record.is_exhausted is not left
    assert not record.succeeded().is_exhausted
