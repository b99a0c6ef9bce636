from __future__ import annotations

from harness_nb.core.messages import Message, Usage
from harness_nb.policies.openclaw.config import OpenClawConfig
from harness_nb.policies.openclaw.gates import precheck, preflight, stored
from tests.policies.openclaw.talks import called, chat, items, result, steps


def test_the_bill_of_the_very_last_message_is_taken_as_it_is() -> None:
    talk = [*chat(2, 100), Message.assistant("x", usage=Usage(1_000, 50))]
    assert (stored(talk).prompt_tokens, stored(talk).output_tokens) == (1_000, 50)


def test_an_earlier_bill_counts_with_what_was_stored_since() -> None:
    talk = [Message.assistant("x", usage=Usage(1_000, 50)), *chat(2, 500)]
    assert stored(talk).prompt_tokens > 3_000
    assert stored(chat(2, 500)).prompt_tokens == 2_000


def test_only_the_newest_records_are_read_and_a_huge_one_counts_as_none() -> None:
    assert stored(chat(150, 10)).prompt_tokens == 200 * 10
    assert stored([Message.user("x" * 300_000)]).prompt_tokens == 11
    assert stored(chat(20, 30_000)).prompt_tokens < 20 * 30_000


def test_the_last_answer_is_added_near_the_threshold_only() -> None:
    talk = [Message.user("go"), Message.assistant("x", usage=Usage(1_200, 300))]
    assert preflight(talk, "", 175_999, 176_000).tokens == 175_999
    assert preflight(talk, "go! " * 60, 175_650, 176_000).tokens == 175_650 + 300 + 60
    assert preflight(talk, "go! " * 60, 100_000, 176_000).tokens == 100_060
    assert not preflight(talk, "", 10**6, 0).fires


def test_results_that_are_too_long_together_ask_for_a_compaction_at_once() -> None:
    found = precheck(items(steps(10, 2_400)), "", "next", 32_000, OpenClawConfig())
    assert found.aggregate_pressure and found.route == "compact_then_truncate" and found.compacts


def test_a_request_fits_or_is_compacted() -> None:
    fits = precheck(items(chat(2, 100)), "", "next", 64_000, OpenClawConfig())
    assert (fits.route, fits.overflow) == ("fits", 0)
    over = precheck(items(chat(20, 1_000)), "", "next", 64_000, OpenClawConfig())
    assert (over.route, over.budget) == ("compact_only", 44_000)


def test_in_a_tool_loop_results_may_be_enough() -> None:
    loop = [Message.user("go"), called("c"), result("c", 20_000)]
    found = precheck(items(loop), "", "", 64_000, OpenClawConfig(), caps=False)
    assert found.route == "truncate_tool_results_only" and not found.compacts
    both = precheck(
        items([*chat(20, 1_000), called("c"), result("c", 5_000)]), "", "", 64_000, OpenClawConfig(), caps=False
    )
    assert both.route == "compact_then_truncate"
