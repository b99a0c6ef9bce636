from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_nb.errors import StoreError
from harness_nb.store.topics import Topic, Topics, read_front_matter, with_front_matter


@pytest.fixture
def topics(tmp_path: Path) -> Topics:
    return Topics(tmp_path / "notes")


def test_nothing_is_made_before_the_first_write(topics: Topics) -> None:
    assert topics.index_text is None and topics.names() == [] and topics.read("a.md") is None
    assert not topics.folder.exists()


def test_a_topic_is_written_read_replaced_and_deleted(topics: Topics) -> None:
    topic = Topic("a.md", {"name": "A", "type": "user"}, "body")
    topics.write(topic)
    assert topics.read("a.md") == Topic("a.md", topic.fields, "body\n")
    topics.write(Topic("a.md", {"name": "B"}, "new"))
    assert (topics.folder / "a.md").read_bytes() == b'---\nname: "B"\n---\n\nnew\n'
    assert topics.names() == ["a.md"]
    assert topics.delete("a.md") and not topics.delete("a.md")
    assert topics.names() == []


def test_the_index_is_a_file_of_its_own_and_may_be_emptied(topics: Topics) -> None:
    topics.write_index("- a.md\n")
    assert topics.index_text == "- a.md\n" and topics.names() == []
    topics.write_index("")
    assert topics.index_text == ""


def test_texts_are_cleaned_before_they_are_written(tmp_path: Path) -> None:
    topics = Topics(tmp_path, clean=lambda text: text.replace("secret", "[key]"))
    topics.write(Topic("a.md", {"name": "secret"}, "a secret"))
    assert "secret" not in (tmp_path / "a.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["", ".", "..", "../a.md", "a/b.md", "/etc/x"])
def test_a_name_that_leads_elsewhere_is_refused(topics: Topics, name: str) -> None:
    for act in (lambda: topics.write(Topic(name)), lambda: topics.delete(name), lambda: topics.read(name)):
        with pytest.raises(StoreError, match="is no file name"):
            act()


def test_a_link_is_neither_followed_nor_replaced(topics: Topics, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("mine", encoding="utf-8")
    topics.write_index("x")
    (topics.folder / "a.md").symlink_to(outside)
    (topics.folder / "folder.md").mkdir()
    for name in ("a.md", "folder.md"):
        with pytest.raises(StoreError, match="is no plain file"):
            topics.write(Topic(name, {}, "x"))
        with pytest.raises(StoreError, match="is no plain file"):
            topics.delete(name)
    assert outside.read_text(encoding="utf-8") == "mine"


VALUES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20)


@given(st.dictionaries(st.from_regex(r"[a-z][a-z_]{0,8}", fullmatch=True), VALUES, max_size=3), VALUES)
def test_fields_and_body_come_back_as_they_were(fields: dict[str, str], body: str) -> None:
    read, text = read_front_matter(with_front_matter(fields, body))
    assert read == fields
    assert text.strip() == body.strip()


@pytest.mark.parametrize(
    ("text", "fields", "body"),
    [
        ("no front", {}, "no front"),
        ("---\nname: a\nnever closed", {}, "---\nname: a\nnever closed"),
        ("---\nname: plain words\ntype: 'it''s'\n- odd\n---\n\nbody", {"name": "plain words", "type": "it's"}, "body"),
        ('---\nname: "broken \\q"\n---\nbody', {"name": "broken \\q"}, "body"),
    ],
)
def test_fields_written_by_hand_are_read_too(text: str, fields: dict[str, str], body: str) -> None:
    assert read_front_matter(text) == (fields, body)
