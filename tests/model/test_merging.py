from __future__ import annotations

import time

from harness_nb.model.merging import merged
from harness_nb.model.offline import OfflineModel
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


def test_many_entries_are_merged_in_bounded_time() -> None:
    entries = "\n".join(f"- The price of item {n} is {n * 3} euros" for n in range(1_500))
    started = time.perf_counter()
    merged("", entries, 4_000)
    assert time.perf_counter() - started < 10.0
