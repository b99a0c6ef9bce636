"""Results of the lab that show themselves as a card."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness_nb.render.card import Card


class Carded(ABC):
    """Something that a notebook shows as a card in HTML, and everything else as the same in text."""

    __slots__ = ()

    def __str__(self) -> str:
        from harness_nb.render.card import card_text

        return card_text(self._card())

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        from harness_nb.render.results import card_bundle

        return card_bundle(self._card())

    @abstractmethod
    def _card(self) -> Card:
        """What is shown."""
