from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from harness_nb.cli import main
from harness_nb.cli.group import Commands, short
from harness_nb.errors import ConfigError


def run(*arguments: str) -> Result:
    """What the command says to some arguments."""
    return CliRunner().invoke(main, arguments)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("dmeo",), ["'dmeo'", "Did you mean 'demo'?"]),
        (("zzz",), ["'zzz'", "Use one of", "demo, diff, doctor, lab"]),
        (("demo", "--presett", "eney"), ["--presett", "Did you mean", "--preset"]),
        (("demo", "--window", "wide"), ["'wide'", "'--window'", "demo --help."]),
        (("demo", "--window", "0"), ["'0'", "no number of tokens"]),
        (("demo", "--preset", "harnes"), ["'harnes'", "Did you mean 'harness'?"]),
        (("demo", "--model", "nobody/knows-it"), ["'nobody/knows-it'"]),
        (("demo", "--transcript", "nowhere.jsonl"), ["'nowhere.jsonl'"]),
        (("demo", "--out", "file/out"), ["'file/out'", "another folder"]),
        (("lab", "--dir", "file/notebooks"), ["'file/notebooks'", "another folder"]),
    ],
)
def test_a_wrong_word_is_named_with_what_to_do_in_three_lines(arguments: tuple[str, ...], said: list[str]) -> None:
    Path("file").write_text("no folder", encoding="utf-8")
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) <= 3
    assert all(words in result.stderr for words in said)


def test_without_a_command_the_help_is_shown() -> None:
    result = run()
    assert result.exit_code == 2
    assert "Commands:" in result.stderr


@pytest.mark.parametrize("command", ["demo", "lab", "doctor"])
def test_each_command_has_a_help(command: str) -> None:
    result = run(command, "--help")
    assert result.exit_code == 0
    assert f"{command} [OPTIONS]" in result.stdout


def test_an_error_of_ours_ends_a_command_without_a_traceback() -> None:
    @click.group(cls=Commands)
    def group() -> None:
        pass

    @group.command()
    def fail() -> None:
        raise ConfigError("'x' is wrong.", "Correct it.")

    result = CliRunner().invoke(group, ["fail"])
    assert (result.exit_code, result.stderr) == (2, "'x' is wrong.\nCorrect it.\n")


def test_a_fault_of_ours_keeps_its_traceback() -> None:
    @click.group(cls=Commands)
    def group() -> None:
        pass

    @group.command()
    def fail() -> None:
        raise KeyError("a bug")

    assert isinstance(CliRunner().invoke(group, ["fail"]).exception, KeyError)


def test_a_long_text_goes_on_in_its_third_line() -> None:
    assert short("a\n\n b \nc\nd\n") == "a\nb\nc d"
