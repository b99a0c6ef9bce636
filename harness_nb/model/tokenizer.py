"""Tokens counted with tiktoken, offline, with a bounded time for any text.

The vocabularies come with litellm's package, which holds them under the names that tiktoken looks for, so nothing is
downloaded. Text that looks like a special token is ordinary text.
"""

from __future__ import annotations

import functools
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from harness_nb.core.tokens import CharsCounter, TokenCounter
from harness_nb.model.windows import litellm_folder

if TYPE_CHECKING:
    from tiktoken import Encoding

_WINDOW_CHARS = 1_000
"""Length of the places at which a text is looked at for long runs without (or of nothing but) white space. Encoding
costs the square of a run's length, so runs of twice this length are cut; a cut adds one token at most."""

_SHORT_CHARS, _MOST_KNOWN = 40, 4_096
"""Shorter texts, such as names of tools, come again and again: so many of them are counted once."""

_UNBROKEN = re.compile(rf"\S{{{_WINDOW_CHARS}}}|\s{{{_WINDOW_CHARS}}}")
_RUN = re.compile(r"\S+|\s+")
_O200K = re.compile(r"(?:^|/)(?:gpt-4o|gpt-4\.1|gpt-4\.5|gpt-5|chatgpt-4o|o[1-9](?:-|$)|gpt-oss)")
_CACHE_VARIABLE = "TIKTOKEN_CACHE_DIR"
_environment = threading.Lock()


class TiktokenCounter:
    """Counts with one of tiktoken's encodings.

    Args:
        encoding: Name of the encoding, `cl100k_base` or `o200k_base`.

    Raises:
        OSError: The vocabulary is not on this computer.
        ImportError: tiktoken is not installed.
    """

    def __init__(self, encoding: str) -> None:
        self._encoding = _load(encoding)
        self._count_short = functools.lru_cache(maxsize=_MOST_KNOWN)(self._count)

    def __reduce__(self) -> tuple[type[TiktokenCounter], tuple[str]]:
        """The encoding's name: the vocabulary is loaded where it is unpickled."""
        return TiktokenCounter, (self._encoding.name,)

    @property
    def name(self) -> str:
        """Name of the encoding."""
        return f"tiktoken {self._encoding.name}"

    def count_text(self, text: str) -> int:
        """Tokens of a text. A million characters of any kind take well below a second."""
        if len(text) <= _SHORT_CHARS:
            return self._count_short(text)
        if not _has_long_run(text):
            return self._count(text)
        return sum(map(self._count, _pieces(text)))

    def _count(self, text: str) -> int:
        try:  # an array is made faster than the list of `encode_ordinary`; no token is special in either
            return len(self._encoding.encode_to_numpy(text, disallowed_special=()))
        except UnicodeEncodeError:  # lone surrogates: `encode_ordinary` reads them as the replacement character
            return len(self._encoding.encode_ordinary(text))


def counter_for(model: str = "") -> TokenCounter:
    """The counter for a model: tiktoken's encoding for OpenAI's models, `cl100k_base` for all others.

    Where tiktoken or its vocabulary is missing, four characters are a token, and the counter's name says so.
    """
    return _counter("o200k_base" if _O200K.search(model.casefold()) else "cl100k_base")


@functools.cache
def _counter(encoding: str) -> TokenCounter:
    try:
        return TiktokenCounter(encoding)
    except (ImportError, OSError, ValueError):
        return CharsCounter()


def _has_long_run(text: str) -> bool:
    """Whether one of the windows is unbroken, as is the case for every run of two windows' length."""
    return any(_UNBROKEN.match(text, at) for at in range(0, len(text) - _WINDOW_CHARS + 1, _WINDOW_CHARS))


def _pieces(text: str) -> Iterator[str]:
    """The text with each long run cut off and apart, the rest in one piece between."""
    start = 0
    for run in _RUN.finditer(text):
        if run.end() - run.start() >= _WINDOW_CHARS:
            yield text[start : run.start()]
            yield from (
                text[at : min(at + _WINDOW_CHARS, run.end())] for at in range(run.start(), run.end(), _WINDOW_CHARS)
            )
            start = run.end()
    yield text[start:]


def _load(encoding: str) -> Encoding:
    with _vocabularies():
        import tiktoken

        return tiktoken.get_encoding(encoding)


@contextmanager
def _vocabularies() -> Iterator[None]:
    """Points tiktoken to litellm's folder for the time of loading, unless the user has pointed it somewhere."""
    folder = litellm_folder()
    with _environment:
        if folder is None or _CACHE_VARIABLE in os.environ:
            yield
            return
        os.environ[_CACHE_VARIABLE] = str(folder / "litellm_core_utils" / "tokenizers")
        try:
            yield
        finally:
            os.environ.pop(_CACHE_VARIABLE, None)
