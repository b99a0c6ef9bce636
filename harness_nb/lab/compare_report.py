"""A comparison as a report that an appendix could use: one HTML page, or a notebook with the code that makes it again."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness_nb.core.policy import CompactionPolicy
from harness_nb.errors import ConfigError
from harness_nb.presets import Preset, get
from harness_nb.render import comparison_cards as cards
from harness_nb.render.card import Card
from harness_nb.render.page import page
from harness_nb.render.text import money
from harness_nb.store.files import write_atomic

if TYPE_CHECKING:
    from harness_nb.lab.compare import Comparison, Given

_PACKAGES = ("harness_nb", "tiktoken", "litellm")
_LANE_COLUMNS, _LANE_HEIGHT = 500, 56
_LEAD = (
    "Each policy was given the same recorded conversation, message by message, and acted where the live loop would call it. "
    "The recorded answers stand: the figures say what a policy sends, keeps and costs, not how an agent would have gone on."
)
_LIMITS = (
    "That a text stands in the context is an upper bound of what a model would recall: absence proves loss, presence does "
    "not prove use. Sizes are estimates by the counter named above. Costs are those of the price list named above."
)


def write_report(comparison: Comparison, path: Path, *, source: str | Path | None) -> Path:
    """Writes a report; see `Comparison.write`."""
    if path.suffix == ".html":
        write_atomic(path, html_report(comparison))
    elif path.suffix == ".ipynb":
        write_atomic(path, notebook_report(comparison, source=source))
    else:
        raise ConfigError(f"{str(path)!r} is no name for a report.", "End it in .html or .ipynb.", subject=path)
    return path


def html_report(comparison: Comparison) -> str:
    """The report as one HTML page."""
    return page(_title(comparison), _sections(comparison), lead=(_LEAD,), footer=_LIMITS)


def notebook_report(comparison: Comparison, *, source: str | Path | None = None) -> str:
    """The report as a notebook: the code that makes the comparison, with what it shows.

    Args:
        comparison: What to report.
        source: File of the transcript.
    """
    import nbformat

    v4: Any = nbformat.v4  # its functions carry no types
    shown: list[tuple[str, str, object]] = [
        ("", _code(comparison, source), None),
        ("## Setup", "comparison.setup()", comparison.setup()),
        ("## Sizes, scores and the first difference", "comparison", comparison),
        ("## Timeline", "comparison.timeline()", comparison.timeline()),
    ]
    cells = [v4.new_markdown_cell(f"# {_title(comparison)}\n\n{_LEAD}")]
    for number, (heading, code, value) in enumerate(shown, start=1):
        if heading:
            cells.append(v4.new_markdown_cell(heading))
        outputs = [v4.new_output("execute_result", _bundle(value), execution_count=number)] if value is not None else []
        cells.append(v4.new_code_cell(code, execution_count=number, outputs=outputs))
    cells.append(v4.new_markdown_cell(_LIMITS))
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"  # equal for equal reports
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return str(v4.writes(v4.new_notebook(cells=cells, metadata=kernel))) + "\n"


def _bundle(value: Any) -> dict[str, Any]:
    """What a notebook would show of a result or a frame."""
    if hasattr(value, "_repr_mimebundle_"):
        return dict(value._repr_mimebundle_())
    return {"text/plain": repr(value), "text/html": value._repr_html_()}


def provenance(comparison: Comparison) -> dict[str, str]:
    """What the figures rest on, by name, in words."""
    first, scores = comparison.runs[0], comparison.scores
    packages = [f"{name} {_version(name)}" for name in _PACKAGES]
    data = scores.scores[0].data
    windows = ", ".join(dict.fromkeys(f"{run.window:,}" for run in comparison.runs))
    return {
        "software": ", ".join((*packages, f"Python {platform.python_version()}")),
        "conversation": f"{comparison.title or 'unnamed'}, {len(first.transcript):,} messages",
        "SHA-256 of its model and messages": data,
        "recorded model": first.transcript.model or "not known",
        "remarks on reading it": f"{len(first.transcript.report):,}",
        "window in tokens": windows,
        "tokens counted by": first.final.measure.name,
        "policies' requests answered by": "nobody: replies are assumed" if _is_assumed(first) else first.answered_by,
        "guards": "on" if first.guarded else "off: systems as shipped, faults included",
        "seed": str(comparison.seed),
        **_terms(scores.terms),
    }


def _is_assumed(run: Any) -> bool:
    return bool(run.answered_by == "assumed")


def _terms(terms: Any) -> dict[str, str]:
    """Prices and cache rules in words."""
    said = {
        f"prices of {name}, US dollars a million tokens": ", ".join(
            f"{kind} {money(one[kind] * 1_000_000)}" for kind in ("input", "cached", "write", "output")
        )
        for name, one in terms.get("prices", {}).items()
    }
    rules = {f"cache rules for {name or 'an unknown model'}": _rules(one) for name, one in terms["cache_rules"].items()}
    return (said or {"prices": "not known, so no costs"}) | rules


def _rules(rules: Any) -> str:
    lifetime = rules["lifetime_seconds"]
    kept = f"kept {lifetime:g} s after the last use" if lifetime is not None else "kept for ever"
    least = f", at least {rules['least_tokens']:,} tokens" if rules["least_tokens"] else ""
    return f"{rules['name']}, {kept}{least}"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _title(comparison: Comparison) -> str:
    return f"Compaction policies over {comparison.title or 'a conversation'}"


def _sections(comparison: Comparison) -> list[Card]:
    return [
        cards.setup(provenance(comparison)),
        cards.sizes(comparison, columns=_LANE_COLUMNS, height=_LANE_HEIGHT),
        cards.scores(comparison, is_whole=True),
        cards.difference(comparison),
        cards.timeline(comparison, most=len(comparison.moments), caption=""),
        cards.settings(comparison),
    ]


def _code(comparison: Comparison, source: str | Path | None) -> str:
    """Code that makes the comparison again; what can't be written as code is said in a comment."""
    run = comparison.runs[0]
    named = [_policy_code(one) for one in comparison.given] or [repr(one.policy) for one in comparison.runs]
    path = str(source) if source is not None else f"path of {comparison.title or 'the conversation'}"
    model = "None" if _is_assumed(run) else repr(run.answered_by)
    return "\n".join(
        [
            "from harness_nb import compare, presets, read_transcript",
            "",
            f"transcript = read_transcript({path!r})",
            f"policies = [{', '.join(named)}]",
            f"comparison = compare(transcript, policies, window={run.window}, model={model}, seed={comparison.seed})",
        ]
    )


def _policy_code(given: Given) -> str:
    if isinstance(given, str):
        return repr(given)
    if isinstance(given, CompactionPolicy):
        return repr(given.name)
    return _preset_code(given)


def _preset_code(preset: Preset) -> str:
    """A call that makes a preset: its name, its variant, and the settings that are not its own."""
    variant: dict[str, Any] = {"variant": preset.variant} if preset.variants else {}
    plain = get(preset.name, **variant).settings
    changed = {name: value for name, value in preset.settings.items() if value != plain.get(name)}
    said = "".join(f", {name}={value!r}" for name, value in {**variant, **changed}.items())
    return f"presets.get({preset.name!r}{said})"
