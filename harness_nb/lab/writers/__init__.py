"""Writers of conversations, one format a file.

A writer is a function `written(transcript, losses)` that yields the text of a file piece by piece and says in `losses` what
the format has no place for. None of them opens a file.
"""
