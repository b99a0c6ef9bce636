from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from harness_nb.cli import main
from harness_nb.cli.doctor import Check, checks, doctor_card
from harness_nb.render.card import card_text


def found(name: str, workspace: Path | None = None) -> Check:
    """The check of that name."""
    return next(check for check in checks(workspace) if check.name == name)


def test_everything_essential_works_here() -> None:
    result = CliRunner().invoke(main, ["doctor"])
    assert result.exit_code == 0, result.output
    assert "everything essential works" in result.output


def test_the_offline_model_always_works() -> None:
    assert found("offline").is_fine


def test_models_of_litellm_need_a_key_and_a_key_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not found("any of litellm").is_fine
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-123")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "")
    check = found("any of litellm")
    assert check.is_fine
    assert "OPENAI_API_KEY" in check.detail
    assert "ANTHROPIC" not in check.detail
    assert "sk-test-123" not in card_text(doctor_card((check,)))


def test_a_local_model_that_is_missing_is_said_to_be_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    check = found("local")
    assert not check.is_fine
    assert "pip install" in check.detail


def test_full_text_search_is_there() -> None:
    assert found("full-text search").is_fine


def test_looking_at_a_workspace_leaves_nothing_behind(tmp_path: Path) -> None:
    assert found("workspace", tmp_path / "new" / "workspace").is_fine
    assert list(tmp_path.iterdir()) == []


def test_a_workspace_below_a_file_is_broken_and_ends_in_an_exit_code(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    result = CliRunner().invoke(main, ["doctor", "--workspace", str(tmp_path / "file" / "workspace")])
    assert result.exit_code == 1
    assert "1 essential thing broken" in result.output
    assert "can't be written" in result.output
