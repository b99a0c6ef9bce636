from __future__ import annotations

import json
import time
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_nb.model.merging import NEAR_REPEAT, merged
from harness_nb.model.offline import OfflineModel
from harness_nb.model.sentences import trigrams
from tests.model.asking import ask

MEMORY = (
    "# Memory\n\nSome prose\nover two lines.\n\n## People\n\n- User: My name is Ada.\n- The deadline is 12 June 2026\n"
)


def test_new_facts_go_below_the_heading_of_their_topic() -> None:
    text = merged(
        MEMORY, "### 2026-04-12.md\n- User: I prefer tabs <!-- session s1 -->\n- User: My wife is called Eve", 4_000
    )
    assert text == (
        "# Memory\n\nSome prose\nover two lines.\n\n## People\n\n- User: My name is Ada.\n- The deadline is 12 June 2026\n"
        "- User: My wife is called Eve\n\n## Preferences\n\n- User: I prefer tabs\n"
    )


def test_repeat_takes_the_place_of_the_older_one() -> None:
    text = merged(MEMORY, "- User: my name is Ada", 4_000)
    assert text.count("Ada") == 1 and "my name is Ada" in text


def test_correction_replaces_what_it_corrects() -> None:
    text = merged(
        MEMORY,
        "- The deadline is 14 June 2026\n- The favourite colour of Eve is red\n- The favourite colour of Eve is blue",
        4_000,
    )
    assert "12 June" not in text and "14 June" in text
    assert "red" not in text and "blue" in text


def test_different_facts_about_one_thing_both_stay() -> None:
    text = merged(
        "- The server is in Berlin\n",
        "- The server is old\n- The server does not run at night\n- The server does run at night",
        4_000,
    )
    assert text.count("server") == 4


def test_merging_again_changes_nothing() -> None:
    entries = "- User: I prefer tabs\n- The deadline is 14 June 2026"
    once = merged(MEMORY, entries, 4_000)
    assert merged(once, entries, 4_000) == once


def test_budget_holds_and_the_weightiest_facts_stay() -> None:
    entries = (
        "\n".join(f"- Item {n} was seen" for n in range(400)) + "\n- Remember that the deploy key is in vault/prod.yaml"
    )
    text = merged("", entries, 500)
    assert len(text) <= 2_000
    assert "vault/prod.yaml" in text


def test_code_and_nested_lines_stay_with_their_bullet() -> None:
    memory = "- Run it:\n  ```sh\n\n  make all\n  ```\n- Other\n  with more\n"
    assert merged(memory, "", 4_000) == memory


def test_nothing_at_all_gives_nothing() -> None:
    assert merged("", "", 4_000) == ""


def test_consolidation_request_is_read_by_its_sections() -> None:
    text = f"<memory>\n{MEMORY}</memory>\n<entries>\n- User: I prefer tabs\n</entries>\n<budget_tokens>4,000</budget_tokens>"
    assert ask(OfflineModel(), text, purpose="consolidation").text == merged(MEMORY, "- User: I prefer tabs", 4_000)


def bullets(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("- ")]


def near_repeats(lines: list[str]) -> list[tuple[str, str]]:
    runs = [frozenset(trigrams(line)) for line in lines]
    pairs = combinations(range(len(lines)), 2)
    return [(lines[a], lines[b]) for a, b in pairs if len(runs[a] & runs[b]) >= NEAR_REPEAT * len(runs[a] | runs[b])]


def test_figures_in_another_order_are_another_fact() -> None:
    text = merged("- box 3 holds row 5\n", "- box 5 holds row 3\n- box 3 holds row 5\n", 4_000)
    assert sorted(bullets(text)) == ["- box 3 holds row 5", "- box 5 holds row 3"]


def test_denial_is_another_fact() -> None:
    text = merged("", "- Grace drinks coffee in the morning\n- Grace never drinks coffee in the morning", 4_000)
    assert len(bullets(text)) == 2


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("default solver: RK45", "default solver changed to DOP853"),
        ("The deadline is 11 June 2026", "The deadline was moved to 14 June 2026"),
        ("The office is in Berlin", "The office is now in Oslo"),
        ("User: My phone number is 555 1234", "User: My phone number is 555 9876"),
        (
            "User: I'm trying to bring the response time of the dashboard below 300 ms with one cache for each user, and I want "
            "to keep using the versions of the packages that are pinned in the lock file of the project",
            "User: I'm trying to bring the response time of the dashboard below 250 ms with one cache for each user, and I want "
            "to keep using the versions of the packages that are pinned in the lock file of the project",
        ),
    ],
)
def test_r057_newer_replaces_older(before: str, after: str) -> None:
    assert bullets(merged(f"# Memory\n\n- {before}\n", f"### 2026-04-12\n\n- {after}", 4_000)) == [f"- {after}"]
    assert bullets(merged("", f"### 2026-04-11\n\n- {before}\n\n### 2026-04-12\n\n- {after}", 4_000)) == [f"- {after}"]


def test_what_somebody_says_does_not_correct_what_they_said_before() -> None:
    turns = [
        "- Joanna: I finished the new script for the film festival, and it is about two sisters at sea",
        "- Joanna: My brother now lives in Utrecht and takes care of the three turtles for me this summer",
    ]
    assert sorted(bullets(merged("", "\n".join(turns), 4_000))) == sorted(turns)


def test_newer_fact_replaces_every_near_repeat_of_it() -> None:
    words = [f"word{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
    first, middle, last = ("- " + " ".join(words[start : start + 22]) for start in (0, 1, 2))
    assert near_repeats([first, middle]) and near_repeats([middle, last])
    assert bullets(merged(f"{first}\n{last}\n", "", 4_000)) == [first]
    apart = "- " + " ".join(words[3:25])
    assert bullets(merged(f"{first}\n- Other\n{apart}\n", middle, 4_000)) == [middle, "- Other"]


WORDS = st.sampled_from(
    [
        *["the", "box", "key", "red", "blue", "3", "5", "is", "are", "not", "now", "we", "use", "Ada", "never"],
        "鍵",
        "-",
        ":",
        "`",
        "#",
        "<!--",
        "-->",
        "```",
    ]
)
LINES = st.lists(st.lists(WORDS, max_size=14).map(" ".join), max_size=12).map("\n- ".join)


@given(memory=LINES, entries=LINES, budget=st.integers(1, 120))
@settings(max_examples=300, deadline=None)
def test_merged_memory_keeps_to_the_budget_and_has_no_near_repeats(memory: str, entries: str, budget: int) -> None:
    text = merged(f"# Notes\n\n- {memory}\n", f"- {entries}", budget)
    assert len(text) <= budget * 4
    assert not near_repeats(bullets(text)) or "```" in text


def test_budget_holds_for_a_memory_of_nothing_but_headings() -> None:
    assert len(merged("".join(f"## Heading {n}\n\n" for n in range(50)), "", 20)) <= 80


def test_weightier_and_newer_entries_outlast_others() -> None:
    old = "\n".join(f"- Ticket {n} was read" for n in range(30))
    text = merged(f"{old}\n- Remember that the key is in vault/prod.yaml\n", "- Ticket 99 was read", 40)
    assert "vault/prod.yaml" in text and "Ticket 99" in text and "Ticket 3 " not in text


def test_real_conversations_as_logs_leave_no_near_repeats(data: Path) -> None:
    talks = [one["conversation"] for one in json.loads((data / "locomo" / "locomo10.json").read_text())[:3]]
    turns = [turn for talk in talks for said in talk.values() if isinstance(said, list) for turn in said]
    entries = "\n".join(f"- {turn['speaker']}: {' '.join(turn['text'].split())}" for turn in turns)
    for budget in (500, 4_000, 1_000_000):
        text = merged("", entries, budget)
        assert len(text) <= budget * 4
        assert not near_repeats(bullets(text))


def test_many_entries_are_merged_in_linear_time() -> None:
    def seconds(count: int) -> float:
        lines = [f"- The price of item {n} is {n * 3} euros" for n in range(count)]
        started = time.process_time()
        merged("\n".join(lines[: count // 2]), "\n".join(lines[count // 2 :]), 4_000)
        return time.process_time() - started

    small, large = min(seconds(1_500) for _ in range(3)), seconds(12_000)
    assert large < 3 * 8 * small
