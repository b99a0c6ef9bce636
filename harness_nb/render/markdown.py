"""Text of a model as Markdown that hides nothing and fetches nothing: tags are shown, remote images become links."""

from __future__ import annotations

import re
from collections.abc import Callable

_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_SPAN = re.compile(r"\\.|(`+)(?!`)(.+?)(?<!`)\1(?!`)|`+|[^\\`]+|\\$")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_IMAGE = re.compile(r"!\[([^\]]*)\]\(\s*<?([^\s)>]+)>?[^)]*\)")
_MONEY = re.compile(r"(?<!\\)\$(?=\d)")


def safe_markdown(text: str) -> str:
    """The same text for a Markdown display.

    Outside of code, what looks like a tag is escaped, so that it is seen and never becomes markup; an image that would be
    fetched becomes a link with its address in sight; a dollar sign before a figure starts no formula
    (the backslash keeps it from the Markdown step, the element of its own from the search for formulas in its result).

    Code is recognised within one line or between fences, and less readily than renderers do: where they could differ, text
    is taken for prose and escaped.
    """
    lines, fence, indent = [], "", 0
    for line in text.split("\n"):
        here = len(line) - len(line.lstrip(" "))
        if fence and line.strip() and here < indent:
            fence = ""
        opened = _FENCE.match(line)
        if fence:
            if opened and opened[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            lines.append(line)
        elif opened:
            fence, indent = opened[1], here
            lines.append(_prose(line))
        else:
            lines.append(_outside_spans(line, _prose))
    return "\n".join(lines)


def _outside_spans(line: str, change: Callable[[str], str]) -> str:
    """Changes a line except within its code spans."""
    pieces, prose = [], ""
    for found in _SPAN.finditer(line):
        if found[1] and "|" not in found[2]:  # a bar would end a cell of a table, and with it the code
            pieces += [change(prose), found[0]]
            prose = ""
        else:
            prose += found[0]
    return "".join((*pieces, change(prose)))


def _prose(text: str) -> str:
    return _MONEY.sub(r"<span>\\$</span>", _TAG.sub("&lt;", _without_images(text)))


def _without_images(text: str) -> str:
    def as_link(found: re.Match[str]) -> str:
        words, address = found[1], found[2]
        return found[0] if address.startswith("data:image/") else f"[image: {words} ({address})]({address})"

    return re.sub(r"!\[(?![^\]]*\]\(data:image/)", r"\\![", _IMAGE.sub(as_link, text))


def fenced(text: str, language: str = "") -> str:
    """A text in a code fence longer than any inside it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
