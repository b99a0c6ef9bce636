"""JSON as JavaScript writes it, for systems that measure what they write."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping

_EXACT = 2**53  # above it a JavaScript number is a float
_LONGEST_PLAIN = 10**21  # from here on it is written with an exponent
_LONE = re.compile("[\\ud800-\\udfff]")


def js_json(value: object) -> str:
    """Compact JSON text of a JSON value, with numbers as JavaScript writes them: 250.0 is `250`, 1e-07 is `1e-7`."""
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{_text(str(key))}:{js_json(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(js_json, value)) + "]"
    if isinstance(value, str):
        return _text(value)
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return js_number(value) if isinstance(value, int | float) else _text(str(value))


def js_number(value: float) -> str:
    """A number as JavaScript writes it."""
    if isinstance(value, int) and abs(value) <= _EXACT:
        return str(value)
    try:
        exact = float(value)
    except OverflowError:
        return "null"
    if not math.isfinite(exact):
        return "null"
    if exact.is_integer() and abs(exact) < _LONGEST_PLAIN:
        return str(int(exact))
    return _fraction(repr(exact))


def _fraction(text: str) -> str:
    """Python's shortest form of a float, with JavaScript's limits for the exponent."""
    mantissa, mark, exponent = text.partition("e")
    if not mark:
        return mantissa.removesuffix(".0")
    power = int(exponent)
    if -7 < power < 0:
        digits = mantissa.lstrip("-").replace(".", "")
        return ("-" if mantissa.startswith("-") else "") + "0." + "0" * (-power - 1) + digits
    return f"{mantissa.removesuffix('.0')}e{'+' if power > 0 else '-'}{abs(power)}"


def _text(text: str) -> str:
    """A text in quotes; only what JSON has to escape is escaped, and lone surrogates."""
    return _LONE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))
