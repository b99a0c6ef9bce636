"""The plugin for pytest: a fixture that fails a test when a policy scores worse. Found by pytest itself once installed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from harness_nb.lab.gate import PolicyGate

_FOLDER = "policy_baselines"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option that writes baselines."""
    parser.getgroup("harness_nb").addoption(
        "--write-policy-baselines",
        action="store_true",
        help="Write what policy_gate is given as its baselines instead of comparing with them.",
    )


@pytest.fixture
def policy_gate(request: pytest.FixtureRequest) -> PolicyGate:
    """Holds a policy: `policy_gate(replay(...), tolerance=0.02)` fails when a figure is worse than in the baseline."""
    from harness_nb.lab.gate import PolicyGate

    name = re.sub(r"[^\w.-]+", "-", f"{request.path.stem}-{request.node.name}").strip("-")
    return PolicyGate(
        folder=request.path.parent,
        baseline=f"{_FOLDER}/{name}.json",
        is_writing=request.config.getoption("write_policy_baselines"),
    )
