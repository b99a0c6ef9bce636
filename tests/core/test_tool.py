from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Optional, Union

import pytest

from harness_nb.core.tool import Tool, json_schema
from harness_nb.errors import ConfigError


def fit(path: str, degree: int = 2, *, method: Literal["ols", "ridge"] = "ols", weights: list[float] | None = None):  # noqa: ANN201
    """Fits a curve to a table.

    Reads the table each time.

    Args:
        path: Table in the workspace, as CSV with a header
            and one row a sample.
        degree (int): Degree of the polynomial: 1 is a line.
        method: How to fit.

    Returns:
        The coefficients.
    """


class Bench:
    def measure(self, times: int) -> float:
        """Measures."""
        return float(times)


def test_a_function_becomes_a_tool_with_a_schema_from_its_signature() -> None:
    tool = Tool.of(fit)

    assert (tool.name, tool.effect, tool.evicts) == ("fit", "run", True)
    assert tool.description == "Fits a curve to a table.\n\nReads the table each time."
    assert tool.parameters == {
        "type": "object",
        "properties": {
            "path": {
                "type": "string",
                "description": "Table in the workspace, as CSV with a header and one row a sample.",
            },
            "degree": {"type": "integer", "description": "Degree of the polynomial: 1 is a line.", "default": 2},
            "method": {"enum": ["ols", "ridge"], "description": "How to fit.", "default": "ols"},
            "weights": {
                "anyOf": [{"type": "array", "items": {"type": "number"}}, {"type": "null"}],
                "default": None,
            },
        },
        "required": ["path"],
    }


def test_the_schema_is_openais_and_can_be_sent() -> None:
    schema = Tool.of(fit).schema

    assert json.loads(json.dumps(schema))["function"]["name"] == "fit"
    assert schema["type"] == "function"


def test_a_method_becomes_a_tool_without_its_self() -> None:
    tool = Tool.of(Bench().measure)

    assert list(tool.parameters["properties"]) == ["times"]
    assert tool.function(3) == 3.0


def test_a_function_without_annotations_or_docstring_becomes_a_tool_too() -> None:
    def bare(x, y=()):  # noqa: ANN001, ANN202
        return x, y

    tool = Tool.of(bare)

    assert tool.description == "Calls bare."
    assert tool.parameters["properties"] == {"x": {}, "y": {}}


def test_annotations_that_name_nothing_at_run_time_are_left_open() -> None:
    def odd(x: NotThere, y: json.NotThere) -> None:  # type: ignore[name-defined]  # noqa: F821
        """Does."""

    assert Tool.of(odd).parameters["properties"] == {"x": {}, "y": {}}


def test_what_was_found_can_be_replaced() -> None:
    tool = Tool.of(fit, effect="read", name="curve", description="D", evicts=False)

    assert (tool.name, tool.description, tool.effect, tool.evicts) == ("curve", "D", "read", False)
    assert Tool.of(tool) is tool


def takes_any(*values: int) -> None:
    """Takes."""


def takes_named(**values: int) -> None:
    """Takes."""


def takes_position(x: int, /) -> None:
    """Takes."""


@pytest.mark.parametrize("function", [lambda x: x, functools.partial(fit, "a"), 3, "fit", None])
def test_what_has_no_name_of_its_own_can_not_become_a_tool(function: Any) -> None:
    with pytest.raises(ConfigError, match="can't become a tool"):
        Tool.of(function)


@pytest.mark.parametrize(
    ("function", "named"),
    [(takes_any, r"\*values"), (takes_named, r"\*\*values"), (takes_position, "takes 'x' without a name")],
)
def test_parameters_without_a_name_to_give_are_refused(function: Any, named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        Tool.of(function)


def test_a_function_whose_parameters_are_not_known_is_refused() -> None:
    with pytest.raises(ConfigError, match="not known"):
        Tool.of(dict)


@dataclass
class Record:
    a: int


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (str, {"type": "string"}),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (list, {"type": "array"}),
        (list[str], {"type": "array", "items": {"type": "string"}}),
        (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
        (tuple[int, str], {"type": "array"}),
        (set[int], {"type": "array", "items": {"type": "integer"}}),
        (Sequence[str], {"type": "array", "items": {"type": "string"}}),
        (dict[str, int], {"type": "object"}),
        (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        (Optional[str], {"anyOf": [{"type": "string"}, {"type": "null"}]}),  # noqa: UP045
        (Union[int, str], {"anyOf": [{"type": "integer"}, {"type": "string"}]}),  # noqa: UP007
        (Annotated[int, ["unhashable"]], {"type": "integer"}),
        (Literal["a", 1], {"enum": ["a", 1]}),
        (Any, {}),
        (Record, {}),
        ("not resolved", {}),
    ],
)
def test_annotations_become_json_schema(annotation: Any, schema: dict[str, Any]) -> None:
    assert json_schema(annotation) == schema


def test_a_described_parameter_does_not_leak_into_the_next_tool() -> None:
    Tool.of(fit)

    assert json_schema(str) == {"type": "string"}


def test_lines_that_describe_no_parameter_are_passed_over() -> None:
    def run(x: int) -> None:
        """Runs.

        Args:

            without a name
            x: The number.
        """

    assert Tool.of(run).parameters["properties"]["x"]["description"] == "The number."
