"""Lines of magics: quotes, free text, options, help and hints."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_nb.notebook.arguments import Command, Option, find_command, nearest, parse, split, wants_help
from harness_nb.notebook.errors import MagicError
from harness_nb.notebook.grammar import ASK, CONTEXT, MAGICS, MEMORY, overview

SEARCH = MEMORY[0]
ALL = [ASK, *(command for commands in MAGICS.values() for command in commands)]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("don't rotate", ["don't", "rotate"]),
        ('"lab 7" --limit 2', ["lab 7", "--limit", "2"]),
        ("lab-7", ["lab-7"]),
        ("'tis the season's end", ["'tis", "the", "season's", "end"]),
        ("say \"a 'quoted' word\"", ["say", "a 'quoted' word"]),
        ("'\"alpha beta\"'", ['"alpha beta"']),
        ('--var="my name" x', ["--var", "my name", "x"]),
        (r"C:\data \n", [r"C:\data", r"\n"]),
        ('""', [""]),
        ("  ", []),
    ],
)
def test_r092_quotes_group_words_and_are_removed_once(line: str, words: list[str]) -> None:
    assert [word.text for word in split(line)] == words


@pytest.mark.parametrize(
    ("line", "text", "options"),
    [
        ("don't rotate", "don't rotate", {}),
        ('"lab 7" --limit 2', "lab 7", {"limit": 2}),
        ("--limit=3 lab-7", "lab-7", {"limit": 3}),
        ("lab-7", "lab-7", {}),
        ("-5 degrees", "-5 degrees", {}),
        ("-- --limit is an option", "--limit is an option", {}),
        ('"--limit" 5', "--limit 5", {}),
        ("x --debug", "x", {"debug": True}),
    ],
)
def test_r093_free_text_and_options_are_told_apart(line: str, text: str, options: dict[str, object]) -> None:
    assert parse(SEARCH, line) == type(parse(SEARCH, line))(text, options)


@pytest.mark.parametrize(
    ("line", "problem", "remedy"),
    [
        ("", "%memory search needs TEXT.", "Usage: %memory search TEXT [--limit N]"),
        ("x --limit", "--limit needs a value.", "Usage:"),
        ("x --limit many", "--limit 'many' is not valid.", "Give a whole number above 0."),
        ("x --limit 0", "--limit '0' is not valid.", "whole number"),
        ("x --limit 1.5", "--limit '1.5' is not valid.", "whole number"),
        ("x --limt 3", "%memory search has no option '--limt'.", "Did you mean --limit?"),
        ("x --zzz", "has no option '--zzz'.", "text after -- is plain text"),
        ("x -v", "has no option '-v'.", "text after -- is plain text"),
        ("x --debug=1", "--debug takes no value.", "Usage:"),
    ],
)
def test_r093_wrong_use_names_the_value_and_says_what_to_do(line: str, problem: str, remedy: str) -> None:
    with pytest.raises(MagicError) as caught:
        parse(SEARCH, line)
    assert problem in caught.value.problem and remedy in caught.value.remedy


def test_text_where_none_is_taken_is_refused() -> None:
    with pytest.raises(MagicError, match="takes no text"):
        parse(next(one for one in MEMORY if not one.text), "everything")


def test_a_repeated_option_is_a_list_and_an_amount_is_a_number() -> None:
    command = Command(
        name="%x", meaning="m", twin="t", options=(Option(name="cost", kind="amount", meaning="c"), *ASK.options)
    )
    assert parse(command, "--var a --var b --cost 0.5").options == {"var": ["a", "b"], "cost": 0.5}
    with pytest.raises(MagicError, match="'inf' is not valid"):
        parse(command, "--cost inf")


@pytest.mark.parametrize("line", ["--help", "x -h", "--limit 3 --help"])
def test_help_is_seen_anywhere(line: str) -> None:
    assert wants_help(line)


@pytest.mark.parametrize("line", ["-- --help", '"--help"', "helpful"])
def test_help_in_text_is_text(line: str) -> None:
    assert not wants_help(line)


@pytest.mark.parametrize("command", ALL, ids=lambda command: command.name)
def test_every_help_names_usage_options_and_the_python_twin(command: Command) -> None:
    text = command.help
    assert text.startswith(command.usage) and f"In Python: {command.twin}" in text
    assert all(f"--{option.name}" in text and option.meaning in text for option in command.options)
    assert max(map(len, text.splitlines())) <= 140


@pytest.mark.parametrize("magic", MAGICS)
def test_an_overview_names_every_sub_command(magic: str) -> None:
    assert all(command.name in overview(magic) for command in MAGICS[magic])


def test_an_unknown_sub_command_suggests_the_nearest() -> None:
    assert find_command(MEMORY, "%memory", "search") is SEARCH
    with pytest.raises(MagicError, match="Did you mean %memory search"):
        find_command(MEMORY, "%memory", "serch")
    with pytest.raises(MagicError, match="It has: search, show, log, flush"):
        find_command(MEMORY, "%memory", "xyzzy")
    assert nearest("plam", [command.name.split()[-1] for command in CONTEXT]) == "plan"


@given(st.text(max_size=60))
def test_no_line_breaks_the_parser(line: str) -> None:
    try:
        parse(SEARCH, line)
    except MagicError as error:
        assert error.problem and error.remedy


@pytest.mark.parametrize(("text", "value"), [("32k", 32_000), ("1.5K", 1_500), ("1m", 1_000_000), ("200_000", 200_000)])
def test_a_number_may_be_typed_in_thousands_and_millions_as_in_a_terminal(text: str, value: int) -> None:
    assert parse(SEARCH, f"x --limit {text}").options == {"limit": value}
