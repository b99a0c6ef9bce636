from __future__ import annotations

from tests.fuzz.kills import run


def test_whenever_the_process_is_killed_nothing_is_lost_or_doubled_and_the_index_says_what_the_files_say() -> None:
    found = run(10)
    assert sum(number for name, number in found.items() if name.startswith("killed in")) == 10
