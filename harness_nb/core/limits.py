"""What a model takes and gives: its context window and where that figure comes from."""

from __future__ import annotations

from dataclasses import dataclass

from harness_nb.errors import ConfigError

DEFAULT_WINDOW = 128_000
"""Context window in tokens assumed for a model that nothing is known of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLimits:
    """Limits of one model.

    Attributes:
        name: Name of the model as the user gave it.
        window: Context window in tokens.
        max_output: Largest reply in tokens, or None when it is not known.
        window_source: Where `window` comes from: `user`, `model`, `litellm`, `server` or `default`.
        takes_images: Whether pictures may be sent.
        takes_tools: Whether tools may be offered.
        alternates: Whether the roles of user and assistant must alternate in what is sent.
    """

    name: str
    window: int = DEFAULT_WINDOW
    max_output: int | None = None
    window_source: str = "default"
    takes_images: bool = True
    takes_tools: bool = True
    alternates: bool = False

    def __post_init__(self) -> None:
        for name in ("window", "max_output"):
            value = getattr(self, name)
            if value is None and name == "max_output":
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ConfigError(
                    f"{name}={value!r} is no number of tokens.", "Give a whole number above 0.", subject=name
                )
