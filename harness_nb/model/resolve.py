"""A model by its name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from harness_nb.errors import ConfigError
from harness_nb.model.base import Model


def resolve(model: str | Model, **options: Any) -> Model:
    """The model that a name means.

    Args:
        model: `offline`, `local`, `local:` with the path of a GGUF file, or any name of litellm; a model comes back as
            it is.
        **options: Settings of that kind of model: `window` for all, more for those of litellm.

    Raises:
        ConfigError: The name or an option is unknown.
    """
    if not isinstance(model, str):
        return _as_it_is(model, options)
    name = model.strip()
    if name == "offline":
        from harness_nb.model.offline import OfflineModel

        return OfflineModel(**_checked(OfflineModel, name, options))
    if name == "scripted":
        raise ConfigError(
            "'scripted' needs a script.", "Give ScriptedModel([...]) itself instead of a name.", subject=name
        )
    if name == "local" or name.startswith("local:"):
        from harness_nb.model.local import LocalModel

        path = name.removeprefix("local").removeprefix(":") or None
        return LocalModel(path, **_checked(LocalModel, name, options))
    if not name:
        raise ConfigError(
            "The name of the model is empty.", "Give 'offline', 'local' or 'provider/model'.", subject=model
        )
    from harness_nb.model.litellm_model import LiteLLMModel

    return LiteLLMModel(name, **options)


def _as_it_is(model: Model, options: dict[str, Any]) -> Model:
    if options:
        raise ConfigError(
            f"{', '.join(options)} can't be set on a model that is made already.",
            "Give it when making the model.",
            subject=model,
        )
    if not hasattr(model, "stream") or not hasattr(model, "limits"):
        raise ConfigError(
            f"{model!r} is no model.", "Give a name, or an object with `limits` and `stream`.", subject=model
        )
    return model


def _checked(kind: Callable[..., Model], name: str, options: dict[str, Any]) -> dict[str, Any]:
    """The options, when that kind of model takes them."""
    known = [one for one in inspect.signature(kind).parameters if one != "path"]
    for option in options:
        if option not in known:
            raise ConfigError(
                f"{option!r} is no option of the model {name!r}.", f"Known are: {', '.join(known)}.", subject=option
            )
    return options
