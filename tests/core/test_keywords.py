from __future__ import annotations

import pytest

from harness_nb.core.keywords import is_stop_word, keywords, words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("What was the decision about the database migration?", ["decision", "database", "migration"]),
        ("api_key of DB 42 x", ["api", "key"]),
        ("dónde está la configuración", ["está", "configuración"]),
        ("plan Plan PLAN", ["plan"]),
        ("++ -- $$", []),
        ("", []),
        ("数据库迁移", ["数", "据", "库", "迁", "移", "数据", "据库", "库迁", "迁移"]),
        ("デプロイの計画について", ["デプロイ", "計画", "について"]),
        ("서버에서 데이터베이스를", ["서버에서", "서버", "데이터베이스를", "데이터베이스"]),
        ("나는", []),
    ],
)
def test_keywords_are_what_a_text_is_about(text: str, found: list[str]) -> None:
    assert keywords(text) == found


def test_runs_of_han_stay_whole_for_an_index_of_trigrams() -> None:
    assert keywords("之前 部署方案", whole_runs=True) == ["部署方案"]
    assert words("計画表とか", whole_runs=True) == ["計画表", "とか"]


def test_stop_words_of_seven_languages_are_known() -> None:
    assert all(map(is_stop_word, ("the", "dónde", "você", "هذا", "的", "그리고", "です")))
    assert not is_stop_word("database")
