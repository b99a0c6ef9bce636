"""Predicted against billed reads from the prompt cache: `HARNESS_NB_DATA=… python -m tests.benchmarks.cache_reuse`.

Two recorded sessions report for every call how many prompt tokens the provider read from its cache. Their requests are
given to the cache model with sizes, times and recorded marks, and what it says stands beside the bills: without a look at
the billed reads, and with the restarts that only these show. Below stand the calls that make the difference, each with the
reason. Exits 1 when a prediction is further from the bill than its limit.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from harness_nb.lab.cache_check import check_cache
from harness_nb.lab.transcripts import read_with_report

LIMITS = {"before-compaction": 0.02, "large-session": 0.09}
INFORMED_LIMIT = 0.001
LEAST_POINTS = 0.01


def main() -> int:
    """Prints the shares and the calls, and says whether all are within their limits."""
    folder = os.environ.get("HARNESS_NB_DATA")
    if not folder:
        print("HARNESS_NB_DATA names no folder of recorded conversations.")
        return 1
    is_within = True
    for session, limit in LIMITS.items():
        check = check_cache(*read_with_report(Path(folder) / "pi_sessions" / f"{session}.jsonl"))
        off, informed = check.predicted - check.billed, check.informed - check.billed
        is_within &= abs(off) <= limit and abs(informed) <= INFORMED_LIMIT
        print(f"{check}\n  off by {100 * off:+.2f} points, with the restarts by {100 * informed:+.3f}")
        named = [one for one in check.records if abs(one["points"]) >= LEAST_POINTS]
        print(
            f"  {len(named)} of {len(check.calls)} calls make {sum(one['points'] for one in named):+.2f} points of it:"
        )
        for one in named:
            print(
                f"    message {one['message']:4}  {one['time']:%H:%M:%S}  {one['predicted']:7,} predicted "
                f"{one['billed']:7,} billed  {one['points']:+.2f}  {one['reason']}"
            )
    return 0 if is_within else 1


if __name__ == "__main__":
    sys.exit(main())
