from __future__ import annotations

import pytest

from harness_nb.core.weights import weighted_chars
from harness_nb.memory.designs.openclaw.chunker import Chunk, chunked


def spans(text: str, tokens: int = 400, overlap: int = 80) -> list[tuple[int, int, int]]:
    return [(one.start_line, one.end_line, len(one.text)) for one in chunked(text, tokens, overlap)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("\n".join(["x" * 79] * 100), [(1, 20), (17, 36), (33, 52), (49, 68), (65, 84), (81, 100)]),
        ("\n".join(["x" * 600] * 10), [(at, at + 1) for at in range(1, 10)]),
        ("", [(1, 1)]),
    ],
)  # fmt: skip
def test_a_note_is_cut_by_lines_and_chunks_overlap(text: str, found: list[tuple[int, int]]) -> None:
    assert [(first, last) for first, last, _ in spans(text)] == found


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("x" * 5_000, [1_600, 3_201, 3_201, 1_801]),
        ("数" * 2_000, [400, 801, 801, 801, 801]),
        ("\n".join(["x" * 600] * 10), [1_201] * 9),
    ],
)
def test_long_lines_make_chunks_above_the_limit(text: str, sizes: list[int]) -> None:
    assert [size for _, _, size in spans(text)] == sizes


@pytest.mark.parametrize("text", ["x" * 5_000, "数" * 2_000, "\n".join(["x" * 600] * 10)])
def test_a_bounded_overlap_keeps_every_chunk_within_the_limit(text: str) -> None:
    chunks = chunked(text, 400, 80, bounded=True)
    assert max(weighted_chars(one.text) for one in chunks) <= 1_600
    assert sum(len(one.text) for one in chunks) >= len(text.replace("\n", ""))


def test_without_an_overlap_nothing_is_there_twice() -> None:
    text = "\n".join(f"line {at}" for at in range(2_000))
    assert "\n".join(one.text for one in chunked(text, 40, 0)) == text


def test_a_pair_of_surrogates_is_never_cut() -> None:
    chunks = chunked("a" + "😀" * 2_000, 10, 0)
    assert all("\ufffd" not in one.text and one.text.encode() for one in chunks)
    assert "".join(one.text for one in chunks) == "a" + "😀" * 2_000


def test_a_chunk_is_known_by_its_text() -> None:
    assert Chunk(1, 2, "a").sha256 == Chunk(3, 4, "a").sha256 != Chunk(1, 2, "b").sha256
