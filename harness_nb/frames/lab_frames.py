"""Frames of the lab's reports, as `frames.py` has all others."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from harness_nb.frames import lab_columns
from harness_nb.frames.assembly import Record, assemble


def diff_frame(records: Iterable[Record]) -> pd.DataFrame:
    """Figures of two reports beside each other: columns `lab_columns.DIFF`."""
    return assemble(records, lab_columns.DIFF)


def conversations_frame(records: Iterable[Record]) -> pd.DataFrame:
    """Conversations of a data set: columns `lab_columns.CONVERSATIONS`."""
    return assemble(records, lab_columns.CONVERSATIONS)


def retrieval_frame(records: Iterable[Record]) -> pd.DataFrame:
    """How much of the evidence a search brings: columns `lab_columns.RETRIEVAL`."""
    return assemble(records, lab_columns.RETRIEVAL)


def evidence_frame(records: Iterable[Record]) -> pd.DataFrame:
    """What became of the evidence of questions: columns `lab_columns.EVIDENCE`."""
    return assemble(records, lab_columns.EVIDENCE)


def answers_frame(records: Iterable[Record]) -> pd.DataFrame:
    """Answers of a model to questions about conversations: columns `lab_columns.ANSWERS`."""
    return assemble(records, lab_columns.ANSWERS)


def verdicts_frame(records: Iterable[Record]) -> pd.DataFrame:
    """Verdicts of judges on answers: columns `lab_columns.VERDICTS`."""
    return assemble(records, lab_columns.VERDICTS)


def spread_frame(records: Iterable[Record]) -> pd.DataFrame:
    """Scores over several seeds: columns `lab_columns.SPREAD`."""
    return assemble(records, lab_columns.SPREAD)
