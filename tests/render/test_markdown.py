"""Model text as Markdown: tags are seen, nothing is fetched, money is no formula, code stays as it is."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_nb.render.markdown import fenced, safe_markdown

SAME = [
    "plain text",
    "a < b and b > c",
    "`<agent-note>` in code",
    "``a ` <b>`` too",
    "```html\n<b>bold</b>\n```",
    "~~~\n<b>\n~~~\nafter",
    "````\n```\n<b>\n```\n````",
    "a formula $x^2$ stays",
    "![dot](data:image/png;base64,AAAA)",
    "| a | b |\n|---|---|\n| 1 | 2 |",
]
CHANGED = {
    "<agent-note>hi</agent-note>": "&lt;agent-note>hi&lt;/agent-note>",
    "<img src=x onerror=alert(1)>": "&lt;img src=x onerror=alert(1)>",
    "![pic](https://evil.example/?q=1)": "[image: pic (https://evil.example/?q=1)](https://evil.example/?q=1)",
    '![pic](<https://evil.example/> "t")': "[image: pic (https://evil.example/)](https://evil.example/)",
    "![pic][ref]": "\\![pic][ref]",
    "costs $5 and then $7 per run": "costs <span>\\$</span>5 and then <span>\\$</span>7 per run",
    "\\` <img src=x> `": "\\` &lt;img src=x> `",
    "| ` | <img src=x> | ` |": "| ` | &lt;img src=x> | ` |",
    "` not closed\n<img src=x> `": "` not closed\n&lt;img src=x> `",
    "- x\n   ```\n<img src=x>": "- x\n   ```\n&lt;img src=x>",
    "```js`\n<img src=x>": "```js`\n&lt;img src=x>",
}


@pytest.mark.parametrize("text", SAME)
def test_what_is_harmless_stays_as_it_is(text: str) -> None:
    assert safe_markdown(text) == text


@pytest.mark.parametrize(("text", "shown"), CHANGED.items())
def test_what_could_hide_or_fetch_is_shown_as_text(text: str, shown: str) -> None:
    assert safe_markdown(text) == shown


@given(st.text(alphabet="`~<img src=x>![]()\n -|\\a$1", max_size=60))
def test_outside_of_one_line_code_and_fences_no_tag_is_left(text: str) -> None:
    fences = re.compile(r"^ {0,3}(```|~~~)", re.MULTILINE)
    shown = safe_markdown(text)
    if "`" not in text and not fences.search(text):
        assert not re.search(r"<(?!/?span>)[A-Za-z/!?]", shown)
        assert not re.search(r"(?<!\\)!\[", shown)


def test_a_fence_is_longer_than_any_inside() -> None:
    assert fenced("```\nx\n```", "md") == "````md\n```\nx\n```\n````"
