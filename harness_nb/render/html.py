"""HTML that is escaped unless it was made here, so that no text of a model, a user or a file becomes markup."""

from __future__ import annotations

import base64
import html

from harness_nb.core.redact import redact


class Markup(str):
    """HTML made by this layer; every other text is escaped when it is put into a tag."""

    __slots__ = ()


Child = str | Markup | None

_VOID = frozenset({"br", "hr", "img", "col", "meta"})


def escape(text: object) -> Markup:
    """Any value as text of a page or value of an attribute; markup stays as it is. Characters that no page may hold are replaced."""
    if isinstance(text, Markup):
        return text
    return Markup(html.escape(str(text).translate(_FORBIDDEN).encode("utf-8", "replace").decode(), quote=True))


def exact(text: object) -> Markup:
    """A text as the content of an element, keys masked; markup stays as it is.

    Front-ends look for formulas in HTML, within one piece of text. So what begins a formula is a piece of its own.
    """
    if isinstance(text, Markup):
        return text
    return Markup(escape(redact(str(text))).translate(_FORMULA))


_FORMULA = {ord(sign): f"<span>{sign}</span>" for sign in "$\\"}
_FORBIDDEN = {code: "�" for code in range(32) if code not in (9, 10, 13)}


def tag(name: str, /, *children: Child, **attributes: object) -> Markup:
    """One element.

    Args:
        name: Name of the element.
        *children: Its content, in order; None is left out.
        **attributes: Its attributes. `class_` is `class`, other underscores are dashes; None and False are left out, True
            stands without a value.
    """
    opening = "".join((name, *(_attribute(key, value) for key, value in attributes.items())))
    if name in _VOID:
        return Markup(f"<{opening}>")
    inner = "".join(exact(child) for child in children if child is not None)
    return Markup(f"<{opening}>{inner}</{name}>")


def _attribute(key: str, value: object) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(value)}"'


def join(*pieces: Child) -> Markup:
    """Pieces in a row; None is left out."""
    return Markup("".join(exact(piece) for piece in pieces if piece is not None))


def picture(svg: str, alt: str, *, width: int, height: int) -> Markup:
    """A drawing that survives sanitising: SVG in an image, as wide as the cell.

    Args:
        svg: The drawing; its size is that of the image, so it draws in percent of it.
        alt: The same in words.
        width: Width in pixels where styles are taken away.
        height: Height in pixels.
    """
    coded = base64.b64encode(svg.encode("utf-8")).decode("ascii")
    return tag(
        "img",
        src=f"data:image/svg+xml;base64,{coded}",
        alt=alt,
        width=width,
        height=height,
        style=f"display:block;width:100%;height:{height}px",
    )
