"""Hermes: compaction of a session, bounded memory, and search in sessions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness_nb.lab.conformance.cases import Given


def run(given: Given) -> Mapping[str, Any]:
    """Lets Hermes act on a case."""
    match given.config.get("op"):
        case "memory":
            from harness_nb.lab.conformance.systems.hermes.memory import remembered

            return remembered(given)
        case "search":
            from harness_nb.lab.conformance.systems.hermes.search import searched

            return searched(given)
        case "session_search":
            from harness_nb.lab.conformance.systems.hermes.search import session_searched

            return session_searched(given)
    from harness_nb.lab.conformance.systems.hermes.compaction import compacted

    return compacted(given)
