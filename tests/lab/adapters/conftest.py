"""What the packages need for running without a network."""

from __future__ import annotations

import pytest

from harness_nb.model.tokenizer import TiktokenCounter


@pytest.fixture(scope="session")
def vocabularies() -> list[TiktokenCounter]:
    """The vocabularies that the packages count with, loaded from this computer: they would fetch them."""
    return [TiktokenCounter("o200k_base"), TiktokenCounter("cl100k_base")]
