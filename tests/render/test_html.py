"""Everything is escaped unless this layer made it."""

from __future__ import annotations

import base64
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_nb.render.html import Markup, escape, join, picture, tag


def test_text_is_escaped_and_markup_is_not_escaped_twice() -> None:
    inner = tag("b", "a < b & c")
    assert tag("p", inner, " <i>") == "<p><b>a &lt; b &amp; c</b> &lt;i&gt;</p>"
    assert escape(inner) is inner


def test_attributes_are_escaped_and_named_as_in_html() -> None:
    made = tag("td", None, class_="x", data_a='"><script>', hidden=True, title=None, open=False)
    assert made == '<td class="x" data-a="&quot;&gt;&lt;script&gt;" hidden></td>'


@given(st.text())
def test_no_text_can_open_a_tag(text: str) -> None:
    made = tag("p", text)
    assert set(re.findall(r"<[^>]*>", made)) <= {"<p>", "</p>", "<span>", "</span>"}


def test_what_begins_a_formula_is_a_piece_of_its_own() -> None:
    assert tag("p", r"$5 or \(x\)", title="$5") == (
        '<p title="$5"><span>$</span>5 or <span>\\</span>(x<span>\\</span>)</p>'
    )


@pytest.mark.parametrize("text", ["\x00", "\x1b[31m", "\ud800 alone"])
def test_characters_that_no_page_may_hold_are_replaced(text: str) -> None:
    assert not set(escape(text)) & {"\x00", "\x1b"}
    escape(text).encode("utf-8")


def test_a_picture_is_an_image_with_words() -> None:
    made = picture("<svg/>", "half full", width=640, height=46)
    code = re.search(r"base64,([^\"]+)", made)
    assert code and base64.b64decode(code[1]) == b"<svg/>"
    assert 'alt="half full"' in made and 'width="640"' in made


def test_joining_leaves_out_what_is_not_there() -> None:
    assert join("<", None, Markup("<br>")) == "&lt;<br>"
