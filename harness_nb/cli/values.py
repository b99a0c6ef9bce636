"""What a user types for settings, windows and names, as values: the types of the options that several commands share."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from harness_nb.core.figures import figure

_WORDS = {"true": True, "yes": True, "false": False, "no": False, "none": None, "null": None}


def window(text: str) -> int:
    """A number of tokens: `200000`, `200_000` or `200k`."""
    size = figure(text.strip())
    if not isinstance(size, int) or size < 1:
        raise click.BadParameter(f"{text!r} is no number of tokens. Give one above 0: 200000, 200_000 or 200k.")
    return size


def windows(text: str) -> tuple[int, ...]:
    """Numbers of tokens with commas between them: `8k,32k,200k`, each once."""
    return tuple(dict.fromkeys(window(one) for one in text.split(",")))


def names(text: str) -> tuple[str, ...]:
    """Names with commas between them, each once."""
    return tuple(dict.fromkeys(one.strip() for one in text.split(",") if one.strip()))


def setting(text: str) -> tuple[str, Any]:
    """A setting and its value: `name=value`."""
    name, value = _parted(text)
    return name, meant(value)


def choices(text: str) -> tuple[str, list[Any]]:
    """A setting and the values to try: `name=value,value`; a list or a mapping in JSON is one value."""
    name, value = _parted(text)
    return name, [meant(value)] if value[:1] in ("[", "{") else [meant(one.strip()) for one in value.split(",")]


def _parted(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name.strip():
        raise click.BadParameter(f"{text!r} sets nothing. Write name=value.")
    return name.strip().replace("-", "_"), value.strip()


def meant(text: str) -> Any:
    """A text that was typed as the value it stands for: a number, true, false, none, a list or mapping in JSON, or itself.

    Numbers may have `_` between digits, and `k` or `m` for thousands and millions.
    """
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if text[:1] in ("[", "{"):
        try:
            return json.loads(text)
        except ValueError:
            return text
    number = figure(text)
    return text if number is None else number


def out_file(*endings: str) -> Callable[[str], Path]:
    """A path whose ending names a form that a result can be written in; another is refused before any work is done.

    Args:
        *endings: Those that are known, such as `.json`.
    """

    def path(text: str) -> Path:
        if Path(text).suffix not in endings:
            raise click.BadParameter(f"{text!r} names no form to write in. End it in {', '.join(endings)}.")
        return Path(text)

    return path
