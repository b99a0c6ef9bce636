"""The one way in which a cell's text takes in variables: `--var name` makes `{{name}}` stand for the variable's text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from harness_nb.notebook.arguments import nearest
from harness_nb.notebook.errors import MagicError


def filled(body: str, names: Sequence[str], variables: Mapping[str, Any]) -> str:
    """The body with `{{name}}` replaced for the names given, once; what is put in is not looked at again.

    Args:
        body: Text of the cell.
        names: Names of variables; every other brace is text.
        variables: The user's variables.

    Raises:
        MagicError: A variable is not defined, or the body does not mention it.
    """
    for name in names:
        if name not in variables:
            hint = nearest(name, variables)
            raise MagicError(
                f"--var {name!r}: there is no such variable.",
                f"Did you mean {hint!r}?" if hint else "Define it in a cell before this one.",
                subject=name,
            )
        if f"{{{{{name}}}}}" not in body:
            raise MagicError(
                f"--var {name!r}: the cell does not mention {{{{{name}}}}}.", "Write it, or leave --var out."
            )
    if not names:
        return body
    pattern = "|".join(re.escape(f"{{{{{name}}}}}") for name in names)
    return re.sub(pattern, lambda found: str(variables[found[0][2:-2]]), body)
