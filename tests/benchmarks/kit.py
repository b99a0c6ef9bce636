"""Presets in compaction-conformance-kit, beside its own compactors: `python -m tests.benchmarks.kit`.

Needs the extra `bench`, no data, no model and no network: the offline model writes the presets' summaries. Prints the kit's
report of `harness` and three other presets, as its command `check` makes it; the final survival by type of these and of the
kit's own; its fixed-budget benchmark; and by type who does better than `harness`. With `--save` the tables go into
notebooks/reference/kit.md. Takes half a minute.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from compaction_kit.benchmark import budget_benchmark_to_markdown, run_budget_benchmark
from compaction_kit.canaries import CanaryType
from compaction_kit.cli import COMPACTORS
from compaction_kit.report import build_report
from compaction_kit.runner import run_conformance
from compaction_kit.session import build_seeded_session

from harness_nb.lab.adapters import kit

PRESETS = ("harness", "gemini-cli", "hermes", "opencode")
BUDGETS = (0.10, 0.20, 0.30)
SEEDS = (1, 2, 3, 4)
ROUNDS = 5
PAGE = Path(__file__).parents[2] / "notebooks" / "reference" / "kit.md"
BEGIN, END = "<!-- tables: begin -->", "<!-- tables: end -->"

Makers = Mapping[str, Callable[[], Any]]


def makers() -> Makers:
    """What makes each compactor, ours first."""
    return {name: partial(kit.compactor, name) for name in PRESETS} | dict(COMPACTORS)


def check(preset: str) -> str:
    """The kit's own report of a preset, from its command line."""
    spec = f"harness_nb.lab.adapters.kit:{preset.replace('-', '_')}"
    budgets = ",".join(f"{budget:.0%}" for budget in BUDGETS)
    command = [sys.executable, "-m", "compaction_kit.cli", "check", spec, "--budgets", budgets]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode not in (0, 1):  # 1 is a type that was flagged
        raise SystemExit(done.stderr)
    return done.stdout


def survival(compactors: Makers) -> str:
    """The kit's report without a budget: what survives by type at the first and at the last round."""
    rows = []
    for name, make in compactors.items():
        report = build_report(run_conformance(build_seeded_session(), make(), rounds=ROUNDS))
        found = {one.canary_type: f"{one.round1_survival:.0%} → {one.final_survival:.0%}" for one in report.findings}
        rows.append([name, *(found[kind.value] for kind in CanaryType)])
    return table(["Compactor", *(_words(kind.value) for kind in CanaryType)], rows)


def by_type(entries: Sequence[Mapping[str, Any]]) -> str:
    """Final survival by type under each budget, and the kit's compactors that do better there than `harness`."""
    rows = []
    for budget in BUDGETS:
        group = {one["compactor"]: figures(one) for one in entries if one["budget_fraction"] == budget}
        for kind, own in group["harness"].items():
            better = {name: group[name][kind] for name in COMPACTORS if group[name][kind] > own}
            others = [f"{group[name][kind]:.0%}" for name in PRESETS[1:]]
            listed = ", ".join(f"{name} {value:.0%}" for name, value in sorted(better.items(), key=lambda one: -one[1]))
            rows.append([f"{budget:.0%}", _words(kind), f"{own:.0%}", *others, listed or "none"])
    return table(["Budget", "Type", *PRESETS, "The kit's that do better"], rows)


def figures(entry: Mapping[str, Any]) -> dict[str, float]:
    """What an entry of the kit's benchmark says, each figure a share of which more is better."""
    conflicts = entry["semantic"]["conflicts"]
    return {
        **{kind.value: entry["randomized"]["final_median_by_type"].get(kind.value, 0.0) for kind in CanaryType},
        "updates_resolved": entry["semantic"]["resolved_rate"],
        "no_stale_value": 1 - conflicts["stale"] / conflicts["n"],
        "distinct_pairs": entry["semantic"]["distinct_pair_rate"],
    }


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _words(name: str) -> str:
    return name.replace("_", " ")


def tables() -> str:
    """All tables of the page."""
    compactors = makers()
    payload = run_budget_benchmark(compactors, budgets=BUDGETS, seeds=SEEDS, rounds=ROUNDS)
    ranked = budget_benchmark_to_markdown(payload).replace("# Budget", "## Budget").replace("### Budget", "### Budget")
    made = (
        f"Made on {datetime.now(UTC):%Y-%m-%d} with compaction-conformance-kit {version('compaction-conformance-kit')} and "
        f"harness_nb {version('harness_nb')}; seeds {', '.join(map(str, SEEDS))}, {ROUNDS} rounds, offline model."
    )
    return "\n\n".join(
        (
            made,
            "## Without a budget, first and last round",
            survival(compactors),
            "## By type under a budget",
            by_type(payload["entries"]),
            ranked.strip(),
        )
    )


def save(text: str) -> None:
    """Puts the tables into the page, in the place of those that are there."""
    page = PAGE.read_text("utf-8")
    before, after = page.split(BEGIN)[0], page.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", "utf-8")


def main() -> None:
    """Prints everything; saves the tables where asked to."""
    for preset in PRESETS:
        print(check(preset))
    text = tables()
    print(text)
    if "--save" in sys.argv[1:]:
        save(text)


if __name__ == "__main__":
    main()
