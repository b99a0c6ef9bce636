"""The one interpolation there is."""

from __future__ import annotations

import pytest

from harness_nb.notebook.errors import MagicError
from harness_nb.notebook.variables import filled

VARIABLES = {"note": "a {{other}} note", "other": 7}


def test_r091_braces_are_text_unless_a_variable_is_asked_for() -> None:
    body = "explain {n: i for i, n in enumerate(xs)} and print({'a': 1}) {{note}} $note"
    assert filled(body, [], VARIABLES) == body


def test_a_named_variable_is_put_in_once_and_not_looked_at_again() -> None:
    assert (
        filled("x {{note}} y {{note}} {{other}}", ["note"], VARIABLES)
        == "x a {{other}} note y a {{other}} note {{other}}"
    )
    assert filled("{{note}} {{other}}", ["note", "other"], VARIABLES) == "a {{other}} note 7"


@pytest.mark.parametrize(
    ("body", "name", "said"), [("{{nate}}", "nate", "Did you mean 'note'"), ("nothing", "note", "does not mention")]
)
def test_an_unknown_or_unused_variable_is_an_error(body: str, name: str, said: str) -> None:
    with pytest.raises(MagicError, match=said):
        filled(body, [name], VARIABLES)
