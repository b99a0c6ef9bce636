from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from harness_nb.errors import ConfigError
from harness_nb.store import semantic
from harness_nb.store.index import MemoryIndex
from harness_nb.store.semantic import Pair, near_duplicates, vectors

needs_the_extra = pytest.mark.skipif(not semantic.is_available(), reason="the extra `semantic` is not installed")


@needs_the_extra
def test_a_vector_has_length_1_and_one_of_nothing_length_0() -> None:
    rows = vectors(["the lab uses Python", "the lab uses Python", "", "a" * 100_000])
    assert rows.shape == (4, semantic.DIMENSIONS)
    assert float(rows[0] @ rows[1]) == pytest.approx(1, abs=1e-5)
    assert float(rows[0] @ rows[0]) == pytest.approx(1, abs=1e-5)
    assert vectors([]).shape == (0, semantic.DIMENSIONS)


@needs_the_extra
def test_texts_of_one_meaning_are_nearer_than_others() -> None:
    dog, puppy, tax = vectors(["my dog is ill", "the puppy feels sick", "tax forms are due"])
    assert dog @ puppy > dog @ tax


@needs_the_extra
def test_texts_that_say_the_same_are_pairs() -> None:
    facts = ["The lab uses Python 3.11", "Ada likes tea", "the lab uses python 3.11.", "The lab uses Python 3.12"]
    (pair,) = near_duplicates(facts)
    assert (pair.first, pair.second) == (0, 2) and 0.9 <= pair.similarity <= 1


@needs_the_extra
@pytest.mark.parametrize(
    ("one", "other"),
    [("The port is 8080", "The port is 8081"), ("Ada likes tea", "Ada doesn't like tea"), ("Deploy", "Never deploy")],
)
def test_another_number_or_a_negation_is_no_duplicate(one: str, other: str) -> None:
    assert near_duplicates([one, other], least=0.1) == []
    assert near_duplicates([one, one], least=0.1) == [Pair(0, 1, pytest.approx(1, abs=1e-5))]


@needs_the_extra
def test_no_texts_have_no_pairs() -> None:
    assert near_duplicates([]) == [] and near_duplicates(["a"]) == []


@needs_the_extra
def test_nothing_is_fetched_written_or_set_up(tmp_path: Path) -> None:
    code = (
        "import socket\n"
        "def refuse(*_): raise OSError('no network')\n"
        "socket.socket.connect = refuse\n"
        "from harness_nb.store.semantic import vectors\n"
        "import logging\n"
        "print(vectors(['a']).shape, logging.getLogger().handlers)"
    )
    home = {"HOME": str(tmp_path), "PATH": ""}
    done = subprocess.run([sys.executable, "-c", code], env=home, capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.strip() == "(1, 256) []" and list(tmp_path.iterdir()) == []


def test_without_the_extra_hybrid_says_how_to_get_it_and_auto_is_keyword(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(semantic, "find_spec", lambda name: None if name == "wordllama" else find(name))
    (workspace / "a.md").write_text("zebra\n", encoding="utf-8")
    with MemoryIndex(workspace) as index:
        with pytest.raises(ConfigError, match=r"pip install 'harness_nb\[semantic\]'"):
            index.search("zebra", mode="hybrid")
        (hit,) = index.search("zebra", mode="auto")
        assert hit.vector_rank is None
    with pytest.raises(ConfigError, match="wordllama"):
        vectors(["a"])
