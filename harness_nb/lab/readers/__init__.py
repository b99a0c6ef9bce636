"""Readers of recorded conversations, one format a file.

A reader has a `NAME`, `claims(value)`, which says whether one line of a file is of its format, and `read(lines)`,
which yields what the lines hold as entries. None of them opens a file or repairs anything.
"""
