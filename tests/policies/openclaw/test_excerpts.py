from __future__ import annotations

from harness_nb.core.messages import Image, Message, Text
from harness_nb.policies.openclaw import excerpts
from harness_nb.policies.openclaw.excerpts import Files, files_of, preserved
from harness_nb.policies.openclaw.pairs import safe_cut, safe_tail
from harness_nb.policies.openclaw.parts import parts_of
from harness_nb.policies.openclaw.wording import SPLIT_TURN
from tests.policies.openclaw.talks import called, chat, items, result

PICTURE = Image("data:x", '{"type":"image_url","image_url":{"url":"data:x"}}')


def indices(found: object) -> list[int]:
    return [item.index for item in found]  # type: ignore[attr-defined]


def test_the_last_turns_are_counted_by_requests() -> None:
    found = preserved(items(chat(5, 10)), 3)
    assert (indices(found.rest), indices(found.excerpted)) == ([0, 1, 2, 3], [4, 5, 6, 7, 8, 9])
    assert preserved(items(chat(5, 10)), 0).excerpted == ()


def test_with_too_few_requests_the_newest_messages_and_their_results_go_along() -> None:
    talk = [Message.user("u"), *(one for at in range(6) for one in (called(f"c{at}"), result(f"c{at}", 5)))]
    found = preserved(items(talk), 3)
    assert indices(found.rest) == [1, 2] and len(found.excerpted) == 11


def test_an_excerpt_is_cut_and_names_what_is_no_text() -> None:
    long, picture, call = excerpts.excerpt_lines(
        items([Message.user("x" * 700), Message.user([Text("see"), PICTURE]), called("c")])
    )
    assert len(long) == 611 and long.endswith("...")
    assert picture == "- User: see\n[other parts here: image]"
    assert call == "- Assistant: [other parts here: toolCall]"


def test_failed_calls_are_listed_once_and_eight_at_most() -> None:
    failed = [result(f"c{at % 10}", 100, status="error") for at in range(12)]
    text = excerpts.failures(items(failed))
    assert text.count("\n- ") == 9 and text.endswith("- (and 2 more.)")
    assert excerpts.failures(items(chat(1))) == ""


def test_a_file_that_was_written_leaves_the_list_of_those_read() -> None:
    talk = items([called("a", "x.ts"), called("b", "y.ts"), called("c", "x.ts", "edit"), called("d", "", "write")])
    assert files_of(talk) == Files(("y.ts",), ("x.ts",))
    assert files_of(talk, Files(("old.ts",), ("y.ts",))) == Files(("old.ts",), ("x.ts", "y.ts"))


def test_long_lists_say_how_much_is_left_out() -> None:
    files = Files(tuple(f"src/some/long/path/file{at:03}.ts" for at in range(60)))
    text = excerpts.file_lists(files, bounded=True)
    assert len(text) <= 902 and "(and " in text
    assert excerpts.file_lists(files, bounded=False).count("\n") > 60
    assert parts_of(text).read.more == 60 - parts_of(text).read.listed


def test_the_body_gives_way_to_what_stands_behind_it() -> None:
    assert len(excerpts.with_suffix("b" * 20_000, "\n\nend")) == 16_000
    assert excerpts.with_suffix("body", "s" * 20_000) == "s" * 16_000
    assert excerpts.with_suffix("body", "") == "body"


def test_a_summary_is_taken_apart_at_its_headings() -> None:
    suffix = excerpts.suffix_of(
        SPLIT_TURN + "so far",
        excerpts.excerpts(items(chat(1, 5))),
        excerpts.failures(items([result("c", 5, status="error")])),
        excerpts.file_lists(Files(("a",), ("b", "c")), bounded=True),
    )
    found = parts_of(excerpts.with_suffix("body", suffix))
    assert found.body == "body" and not found.is_cut
    assert found.split_turn == SPLIT_TURN + "so far"
    assert found.excerpt_chars == (27, 33)
    assert found.failures is not None and found.failures.listed == 1
    assert (found.read.listed, found.modified.listed) == (1, 2)


def test_cuts_go_through_no_pair() -> None:
    assert safe_cut("a😀b", 2) == "a" and safe_cut("a😀b", 3) == "a😀"
    assert safe_tail("a😀b", 2) == "b" and safe_tail("ab", 5) == "ab"
