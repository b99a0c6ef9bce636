from __future__ import annotations

import json
from dataclasses import replace

from harness_nb.core.records import item_from_record, item_to_record
from harness_nb.policies.picoclaw.nodes import Node, node_item, node_of
from tests.policies.picoclaw.talks import chat, items

LEAF = Node(id="s1", depth=0, text='a <b> & "c"', tokens=9, level=1, source_tokens=99, messages=(0, 1))
TOP = Node(
    id="s2", depth=1, text="both", tokens=5, level=2, source_tokens=9, sources=("s1",), descendants=1, below=(LEAF,)
)


def test_a_node_comes_back_from_a_file_but_for_the_texts_below_it() -> None:
    item = node_item(TOP, items(chat(1)))
    again = item_from_record(json.loads(json.dumps(item_to_record(item))), chat(1))
    assert node_of(again) == replace(TOP, below=(replace(LEAF, text=""),))
    assert again.stands_for == (0, 1)


def test_its_text_is_escaped_and_its_sources_are_named() -> None:
    assert 'depth="0"' in LEAF.xml and "a &lt;b&gt; &amp; &quot;c&quot;" in LEAF.xml
    assert 'kind="condensed"' in TOP.xml and '<source id="s1" />' in TOP.xml


def test_every_node_below_is_known() -> None:
    assert [one.id for one in TOP.every()] == ["s2", "s1"]
    assert node_of(items(chat(1))[0]) is None
