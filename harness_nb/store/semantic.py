"""The meaning of texts as vectors of static embeddings, which the extra `semantic` brings along: no network, no GPU."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from harness_nb.errors import ConfigError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DIMENSIONS = 256

LONGEST_CHARS = 1_000
"""Characters of a text that its vector is made of."""

_BLOCK = 1_024  # texts that are compared with all others at a time
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_NEGATION = re.compile(r"\b(?:no|not|never|none|nothing|without|cannot|\w+n['’]t)\b", re.IGNORECASE)


class Pair(NamedTuple):
    """Two texts that say the same: their places, the earlier first, and how near they are, up to 1."""

    first: int
    second: int
    similarity: float


def is_available() -> bool:
    """Whether the extra is installed; nothing is imported."""
    return find_spec("wordllama") is not None


def require() -> None:
    """Makes sure that the extra is installed.

    Raises:
        ConfigError: It is not.
    """
    if not is_available():
        raise ConfigError(
            "mode='hybrid' needs embeddings, and wordllama is not installed.",
            "Run: pip install 'harness_nb[semantic]', or search with mode='keyword'.",
            subject="mode",
        )


def vectors(texts: Sequence[str]) -> NDArray[np.float32]:
    """A vector of length 1 for each text, zero for one without letters.

    Raises:
        ConfigError: The extra is not installed.
    """
    import numpy as np

    if not texts:
        return np.zeros((0, DIMENSIONS), np.float32)
    require()
    made = _model().embed([text[:LONGEST_CHARS] or " " for text in texts])
    return unit(np.nan_to_num(np.asarray(made, np.float32)))


def unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows scaled to length 1; those of zeros stay."""
    import numpy as np

    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    scaled: NDArray[np.float32] = np.divide(rows, lengths, dtype=np.float32)
    return scaled


def near_duplicates(texts: Sequence[str], least: float = 0.9) -> list[Pair]:
    """Pairs of texts that say the same in almost the same words.

    Texts that differ in a number or in a negation never are a pair, however near their words are.

    Args:
        texts: Short texts, such as facts.
        least: Least similarity of a pair, cosine of their vectors.

    Returns:
        The pairs, by the place of the first, then of the second.

    Raises:
        ConfigError: The extra is not installed.
    """
    import numpy as np

    rows = vectors(texts)
    claims = [_claims(text) for text in texts]
    pairs = []
    for start in range(0, len(texts), _BLOCK):
        near = rows[start : start + _BLOCK] @ rows.T
        for first, second in np.argwhere(near >= least):
            if start + first < second and claims[start + first] == claims[second]:
                pairs.append(Pair(int(start + first), int(second), min(1.0, float(near[first, second]))))
    return pairs


def _claims(text: str) -> tuple[list[str], bool]:
    """What a text must have in common with another that says the same."""
    return sorted(_NUMBER.findall(text)), len(_NEGATION.findall(text)) % 2 == 1


@lru_cache(maxsize=1)
def _model() -> Any:
    """The embeddings in the package's own folder: nothing is fetched, nothing is written."""
    with _logging_untouched():
        import wordllama

    folder = Path(wordllama.__file__).parent
    return wordllama.WordLlama.load(cache_dir=folder, disable_download=True)


@contextmanager
def _logging_untouched() -> Iterator[None]:
    """Undoes what an import inside does to the log of the whole process, which is not its to set up."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
