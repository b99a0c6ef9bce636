"""What a prompt cache serves, worked out by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from harness_nb import CompactionPolicy, Message, Transcript, edits, replay
from harness_nb.core.plan import Plan
from harness_nb.core.tokens import Measure
from harness_nb.core.view import View
from harness_nb.lab.cache import (
    ANTHROPIC,
    DEEPSEEK,
    OPENAI,
    PLAIN,
    CacheRules,
    Prompt,
    cache_reuse,
    cache_use,
    reads,
    rules_for,
)
from tests.lab.test_metrics import TenEach, run, ten

START = datetime(2026, 4, 12, 9, 30, tzinfo=UTC)


def prompt(tokens: int, shared: int, *, at: int = 0, blocks: int = 0, fixed: int = 0, **fields: object) -> Prompt:
    """A request of a list in which every 100 tokens are a block, sent so many seconds after the start."""
    when = START + timedelta(seconds=at)
    return Prompt(when, tokens, fixed, shared, (shared - fixed) // 100, blocks or (tokens - fixed) // 100, **fields)  # type: ignore[arg-type]  # fields by name


def read_of(rules: CacheRules, *prompts: Prompt) -> list[int]:
    return [one.tokens for one in reads(prompts, rules)]


def why(rules: CacheRules, *prompts: Prompt) -> str:
    return list(reads(prompts, rules))[-1].reason


ENDS = CacheRules(name="ends", has_breakpoints=True, lookback_blocks=3)


@pytest.mark.parametrize("rules", [PLAIN, ENDS])
def test_a_list_that_only_grows_is_read_up_to_the_end_of_the_request_before(rules: CacheRules) -> None:
    assert read_of(rules, prompt(1_000, 0), prompt(1_200, 1_000), prompt(1_300, 1_200)) == [0, 1_000, 1_200]


@pytest.mark.parametrize("rules", [PLAIN, ENDS])
def test_after_a_pause_longer_than_the_lifetime_nothing_is_left(rules: CacheRules) -> None:
    calls = (prompt(1_000, 0), prompt(1_100, 1_000, at=300), prompt(1_200, 1_100, at=601))
    assert read_of(rules, *calls) == [0, 1_000, 0]
    assert why(rules, *calls) == "a pause of 301 s"


def test_a_plain_cache_serves_what_is_common_when_the_middle_changed() -> None:
    calls = (prompt(1_000, 0), prompt(900, 400))
    assert read_of(PLAIN, *calls) == [0, 400]
    assert why(PLAIN, *calls) == "the list changed"


def test_a_cache_with_breakpoints_serves_only_what_ended_at_one() -> None:
    calls = (prompt(300, 0), prompt(500, 300), prompt(800, 500), prompt(700, 600), prompt(600, 400))
    assert read_of(ENDS, *calls) == [0, 300, 500, 500, 300]


def test_a_breakpoint_further_back_than_the_lookback_is_not_found() -> None:
    calls = (prompt(300, 0), prompt(700, 300))
    assert read_of(ENDS, *calls) == [0, 0]
    assert why(ENDS, *calls) == "the request grew: the last breakpoint is 4 blocks back"


def test_prompt_and_schemas_are_a_breakpoint_of_their_own() -> None:
    calls = (prompt(2_500, 0, fixed=2_000), prompt(2_300, 2_000, fixed=2_000))
    assert read_of(ANTHROPIC, *calls) == [0, 2_000]


def test_a_beginning_below_the_least_size_is_not_cached() -> None:
    assert read_of(ANTHROPIC, prompt(1_000, 0), prompt(1_100, 1_000), prompt(1_200, 1_100)) == [0, 0, 1_100]
    assert read_of(OPENAI, prompt(1_000, 0), prompt(1_100, 1_000), prompt(1_200, 1_100)) == [0, 0, 1_024]


def test_only_whole_units_are_read_and_some_providers_keep_them_for_hours() -> None:
    assert read_of(OPENAI, prompt(2_000, 0), prompt(2_100, 2_000)) == [0, 15 * 128]
    assert read_of(DEEPSEEK, prompt(1_000, 0), prompt(1_100, 1_000, at=7_200)) == [0, 15 * 64]


@pytest.mark.parametrize("rules", [PLAIN, ENDS])
def test_another_model_makes_all_new_and_another_level_of_thinking_the_messages(rules: CacheRules) -> None:
    before = prompt(2_300, 0, fixed=2_000)
    switched = prompt(2_400, 2_300, fixed=2_000, broken="all", why="the model changed")
    thinking = prompt(2_400, 2_300, fixed=2_000, broken="messages", why="thinking changed")
    assert read_of(rules, before, switched) == [0, 0]
    assert read_of(rules, before, thinking) == [0, 2_000]
    assert why(rules, before, thinking) == "thinking changed"


def test_without_times_nothing_expires() -> None:
    assert read_of(PLAIN, prompt(500, 0)._replace(at=None), prompt(600, 500, at=10_000)) == [0, 500]


def test_the_rules_are_those_of_the_models_provider_with_the_models_own_least_size() -> None:
    names = (
        "claude-opus-4-5",
        "anthropic/claude-sonnet-4-5",
        "gpt-4o",
        "gemini/gemini-2.5-pro",
        "deepseek/deepseek-chat",
    )
    assert [(rules_for(name).name, rules_for(name).least_tokens) for name in names] == [
        ("anthropic", 4_096),
        ("anthropic", 1_024),
        ("openai", 1_024),
        ("gemini", 2_048),
        ("deepseek", 0),
    ]
    assert rules_for("a-model-of-mine") == PLAIN


def test_the_reuse_of_a_replay_is_what_can_be_worked_out_by_hand() -> None:
    """Requests of 10, 30, 30 and 30 tokens: the second begins with the first, the fourth with the third's summary."""
    use = cache_use(run())
    assert [one.tokens for one in use.prompts] == [10, 30, 30, 30]
    assert [one.tokens for one in use.reads] == [0, 10, 0, 10]
    assert use.share == cache_reuse(run()) == pytest.approx(20 / 100)
    assert [one["reason"] for one in use.records] == ["the first request", "", "the list changed", "the list changed"]


class ClearsOne(CompactionPolicy):
    """Clears the third item at the fourth request."""

    def plan(self, view: View) -> Plan:
        items = view.input[:]
        if len(items) < 7 or items[2].how != "kept":
            return view.unchanged("nothing to clear")
        return view.becomes([*items[:2], edits.cleared(items[2]), *items[3:]], "cleared")


def test_what_stands_before_the_first_change_is_read_still() -> None:
    """Requests of 1, 3, 5 and 7 messages of ten tokens; in the last the third is new, so two are in common."""
    said = [
        one
        for at in range(4)
        for one in (Message.user(f"Question {at}, a long one?"), Message.assistant(f"Answer {at}."))
    ]
    sizes = Measure(TenEach(), size=ten)
    made = replay(Transcript(said), ClearsOne(), window=1_000, model=None, measure=sizes, guarded=False)
    assert [one.tokens for one in cache_use(made, PLAIN).reads] == [0, 10, 30, 20]
    assert [one.tokens for one in cache_use(made, ENDS).reads] == [0, 10, 30, 0]


def test_a_replay_without_a_request_has_no_share_and_every_use_a_frame() -> None:
    use = cache_use(replay(Transcript([Message.user("Hello?")]), "harness", window=1_000, model=None))
    assert use.share is None
    assert list(use.df.columns) == list(cache_use(run()).df.columns)
    assert (use.df.dtypes == cache_use(run()).df.dtypes).all()
    assert "read from the cache" in str(cache_use(run()))
    assert "<table" in cache_use(run())._repr_mimebundle_()["text/html"]
