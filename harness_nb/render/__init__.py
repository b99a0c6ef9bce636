"""View models and pure renderers to HTML, SVG and text; standard library only, no I/O, nothing raises.

A result becomes a `Card` (a title, the state in words, blocks below), and one function each makes HTML and text of it.
"""
