"""Systems beside each other."""

from __future__ import annotations

import re
from dataclasses import fields

import pytest

from harness_nb import presets
from harness_nb.core.plan import Plan
from harness_nb.core.view import View
from harness_nb.errors import ConfigError
from harness_nb.presets.facts import Facts, facts_of
from harness_nb.render.results import MAX_BYTES

BUILT_IN = [(name, variant) for name in presets.names() for variant in presets.get(name).variants or ("",)]


def preset(name: str, variant: str) -> presets.Preset:
    return presets.get(name, **({"variant": variant} if variant else {}))


@pytest.mark.parametrize(("name", "variant"), BUILT_IN)
def test_every_system_and_variant_has_all_facts_and_names_settings_that_it_has(name: str, variant: str) -> None:
    made = preset(name, variant)
    facts = facts_of(made)
    assert all(getattr(facts, one.name) for one in fields(Facts))
    assert set(facts.defaults) <= set(made.settings)


@pytest.mark.parametrize("name", [name for name in presets.names() if presets.get(name).variants])
def test_variants_differ_in_their_facts(name: str) -> None:
    found = [facts_of(preset(name, variant)) for variant in presets.get(name).variants]
    assert len(set(found)) == len(found)


def test_the_frame_has_a_row_for_each_variant_with_the_defaults_in_force() -> None:
    frame = presets.compare().df
    assert list(zip(frame["system"], frame["variant"], strict=True)) == BUILT_IN
    row = frame.set_index("system").loc["eney"]
    assert "thresholds=(75, 90, 95)" in row["defaults"] and row["model_calls"] == "none"
    assert frame.set_index(["system", "variant"]).loc[("hermes", "report"), "trigger"].startswith("half of the window")


def test_some_systems_can_be_picked_and_an_unknown_one_is_refused() -> None:
    some = presets.compare("openclaw", "eney")
    assert repr(some) == "Comparison(openclaw, eney)"
    with pytest.raises(ConfigError, match="no preset 'opencla'"):
        presets.compare("opencla")


def test_it_shows_itself_whole_in_text_and_in_tables_of_html() -> None:
    found = presets.compare()
    shown = found._repr_mimebundle_()["text/html"]
    for words in ("when it compacts", "what memory holds", "openclaw", "picoclaw seahorse", "known fault", "as above"):
        assert words in shown and words in str(found)
    for text in (shown, str(found)):
        assert "…" not in text and not re.search(r"\bmore (systems?|faults?)\b", text)
    assert shown.count("<table") == 4 and len(shown.encode()) < 2 * MAX_BYTES


def test_a_registered_policy_stands_among_the_systems_by_what_it_says_of_itself() -> None:
    @presets.register("gemini_cli")
    def mine(view: View, keep: int = 4) -> Plan:
        """Never acts."""
        return view.unchanged("never")

    try:
        (record,) = presets.compare("gemini_cli").records
        assert (record["trigger"], record["defaults"]) == ("Never acts.", ("keep=4",))
        assert "gemini_cli" in str(presets.compare())
    finally:
        presets.unregister("gemini_cli")
