"""Colours and the one style block: the front-end's variables, literal colours where there are none, known dark modes."""

from __future__ import annotations

from functools import cache

ROLE_COLOURS = {
    "system": "#5b6b7b",
    "memory": "#cc79a7",
    "tool schemas": "#009e73",
    "summaries and notes": "#f0e442",
    "user": "#0072b2",
    "assistant": "#56b4e9",
    "tool results": "#e69f00",
    "model input": "#56b4e9",
}
"""Okabe-Ito colours, which readers with a colour-vision deficiency can tell apart; each stands beside its name."""

DANGER = "#d55e00"
NEUTRAL = "#808a94"
"""A grey that is seen on white and on black."""

_DARK_PLACES = (
    'body[data-jp-theme-light="false"] .hnb',
    'html[theme="dark"] .hnb',
    'html[data-theme="dark"] .hnb',
    'body[data-theme="dark"] .hnb',
    "body.vscode-dark .hnb",
)

_LIGHT = {
    "text": "var(--jp-content-font-color1, rgba(0, 0, 0, 0.87))",
    "muted": "#5a6572",
    "line": "var(--jp-border-color2, #d8dde3)",
    "fill": "#f4f6f8",
    "accent": "#1f66c1",
    "plus": "#e3f5e5",
    "minus": "#fde6e6",
}
_DARK = {
    "text": "var(--jp-content-font-color1, rgba(255, 255, 255, 0.87))",
    "muted": "#a3adb8",
    "line": "var(--jp-border-color2, #39424d)",
    "fill": "#242b33",
    "accent": "#7fb2f5",
    "plus": "#16351c",
    "minus": "#451d1f",
}

_RULES = """
.hnb{color:var(--hnb-text);font-size:13px;line-height:1.5;max-width:900px;container-type:inline-size;
font-variant-numeric:tabular-nums;padding:2px 0}
.hnb .hnb-title{font-size:14px}
.hnb .hnb-line,.hnb .hnb-note,.hnb .hnb-caption,.hnb .hnb-muted{color:var(--hnb-muted)}
.hnb .hnb-line{margin-bottom:6px}
.hnb .hnb-caption,.hnb .hnb-note{margin-top:6px}
.hnb .hnb-wide{overflow-x:auto}
.hnb.hnb table{border-collapse:collapse;margin:4px 0;font-size:13px;border:0;color:inherit}
.hnb.hnb table th,.hnb.hnb table td{text-align:left;padding:3px 14px 3px 0;border:0;vertical-align:top;background:none;
max-width:60ch;white-space:normal}
.hnb.hnb table th{font-weight:normal;color:var(--hnb-muted);border-bottom:1px solid var(--hnb-line)}
.hnb.hnb table tbody tr:nth-child(n){background:none}
.hnb.hnb table tbody tr+tr td{border-top:1px solid var(--hnb-line)}
.hnb.hnb table tr{padding:0}
.hnb.hnb table .hnb-num{text-align:right;white-space:nowrap}
.hnb.hnb table .hnb-short{white-space:nowrap}
.hnb.hnb pre{background:var(--hnb-fill);color:inherit;padding:6px 8px;margin:4px 0;border-radius:4px;font-size:12px;
line-height:1.45;white-space:pre-wrap;overflow-wrap:anywhere;max-height:320px;overflow:auto}
.hnb.hnb code{background:none;color:inherit;padding:0;font-size:12px}
.hnb summary{cursor:pointer;color:var(--hnb-muted);margin-top:4px}
.hnb summary:focus-visible{outline:2px solid var(--hnb-accent)}
.hnb .hnb-problem{border-left:3px solid #d55e00;padding:2px 8px;white-space:pre-wrap}
.hnb mark{background:none;color:inherit;font-weight:bold;text-decoration:underline;text-decoration-color:#e69f00;
text-decoration-thickness:2px}
"""


def _variables(colours: dict[str, str]) -> str:
    return "".join(f"--hnb-{name}:{value};" for name, value in colours.items())


def dark_variables() -> str:
    """The colours of dark places, for a page that follows the reader's own setting."""
    return _variables(_DARK)


@cache
def style_block(*more: str) -> str:
    """The `<style>` element that goes with a card.

    Args:
        *more: Further rules, each of them scoped below `.hnb`.
    """
    dark = ",".join(_DARK_PLACES)
    rules = f".hnb{{{_variables(_LIGHT)}}}{dark}{{{_variables(_DARK)}}}{_RULES}{''.join(more)}"
    return f"<style>{rules.replace(chr(10), '')}</style>"
