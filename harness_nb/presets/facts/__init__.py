"""What is known of each system, as plain records: how it compacts, what it remembers, its faults, and where that is from."""

from harness_nb.presets.facts.record import Facts, facts_of

__all__ = ["Facts", "facts_of"]
