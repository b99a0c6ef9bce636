from __future__ import annotations

from harness_nb.model.kin import kin, stem


def test_forms_of_a_word_have_one_stem() -> None:
    assert stem("deadlines") == stem("deadline")
    assert stem("switched") == stem("switching")
    assert stem("5") == "5" and stem("is") == "is"


def test_words_of_a_group_stand_for_each_other() -> None:
    assert "decided" in kin("choose") and "choose" in kin("decided")


def test_a_member_stands_for_its_kind_and_not_the_other_way_round() -> None:
    assert "postgresql" in kin("database") and not kin("postgresql")


def test_most_words_have_no_kin() -> None:
    assert kin("microscope") == ()
