"""Frames of the lab's reports, as `frames.py` has all others."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from harness_nb.frames import lab_columns
from harness_nb.frames.assembly import Record, assemble


def diff_frame(records: Iterable[Record]) -> pd.DataFrame:
    """Figures of two reports beside each other: columns `lab_columns.DIFF`."""
    return assemble(records, lab_columns.DIFF)
