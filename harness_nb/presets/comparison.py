"""Systems beside each other: what each does, remembers and gets wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from harness_nb.presets.facts import Facts, facts_of
from harness_nb.presets.preset import Preset

if TYPE_CHECKING:
    from pandas import DataFrame

    from harness_nb.render.card import Card

_PARTS = {
    "How it compacts": (
        ("trigger", "when it compacts"),
        ("cut", "where it cuts"),
        ("kept", "what stays"),
        ("model_calls", "model calls"),
    ),
    "What it remembers": (
        ("holds", "what memory holds"),
        ("injected", "what is injected"),
        ("review", "review"),
        ("search", "search"),
    ),
    "Settings and sources": (("defaults", "defaults"), ("source", "source"), ("version", "version")),
}
_SAME = "as above"
_NOTE = "What they do to a conversation: compare(conversation, [NAME, NAME]), or %policy compare --on VARIABLE."


@dataclass(frozen=True, repr=False)
class Comparison:
    """Presets with the facts of their systems, each variant by itself.

    Attributes:
        presets: The presets, in order.
    """

    presets: tuple[Preset, ...]

    def __repr__(self) -> str:
        return f"Comparison({', '.join(map(_label, self.presets))})"

    def __str__(self) -> str:
        from harness_nb.render.card import card_text

        return card_text(self.card())

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        from harness_nb.render.card import card_html
        from harness_nb.render.results import card_bundle

        card = self.card()
        return card_bundle(card) | {"text/html": card_html(card)}  # whole: its length is that of the facts

    @property
    def records(self) -> list[dict[str, Any]]:
        """A mapping for each: system, variant, and the fields of `Facts`; `defaults` with the values in force."""
        found = []
        for preset in self.presets:
            facts = facts_of(preset)
            values = asdict(facts) | {"defaults": _defaults(preset, facts)}
            found.append({"system": preset.name, "variant": preset.variant, "about": preset.about, **values})
        return found

    @property
    def df(self) -> DataFrame:
        """One row for each; columns `frames.columns.SYSTEMS`."""
        from harness_nb.frames import systems_frame

        return systems_frame(self.records)

    def card(self) -> Card:
        """What it shows: a table of how each compacts, one of what each remembers, and one of faults and sources."""
        from harness_nb.render.card import Card, Table
        from harness_nb.render.text import count

        rows = self._shown
        tables = [
            Table.of(
                ("system", *(title for _, title in columns)),
                [(label, *(row[key] for key, _ in columns)) for label, row in rows],
                most=len(rows),
                noun="system",
                caption=caption,
            )
            for caption, columns in _PARTS.items()
        ]
        faults = [
            (label if first else "", fault) for label, row in rows for first, fault in _marked(row["known_faults"])
        ]
        head = ("system", "known fault of the system as it is")
        tables.append(Table.of(head, faults, most=len(faults), noun="fault", caption="What goes wrong"))
        line = count(len(rows), "system or variant", "systems and variants")
        return Card("Systems compared", line, tuple(tables), (_NOTE,))

    @property
    def _shown(self) -> list[tuple[str, dict[str, Any]]]:
        """Label and cells of each; where a variant is as the one above it, a mark says so."""
        found: list[tuple[str, dict[str, Any]]] = []
        above: dict[str, Any] = {}
        for preset, record in zip(self.presets, self.records, strict=True):
            same = above if above.get("system") == record["system"] else {}
            cells: dict[str, Any] = {
                key: _SAME if value == same.get(key) else _cell(value) for key, value in record.items()
            }
            known = same.get("known_faults", ())
            cells["known_faults"] = tuple(fault for fault in record["known_faults"] if fault not in known)
            found.append((_label(preset), cells))
            above = record
        return found


def _marked(faults: Sequence[str]) -> list[tuple[bool, str]]:
    """Faults, the first one marked."""
    return [(at == 0, fault) for at, fault in enumerate(faults)]


def _label(preset: Preset) -> str:
    return f"{preset.name} {preset.variant}".strip()


def _defaults(preset: Preset, facts: Facts) -> tuple[str, ...]:
    return tuple(f"{name}={_written(preset.settings[name])}" for name in facts.defaults)


def _written(value: object) -> str:
    return "unset" if value is None else f"{value:,}" if type(value) is int else str(value)


def _cell(value: str | Sequence[str]) -> str:
    return value if isinstance(value, str) else ", ".join(value)
