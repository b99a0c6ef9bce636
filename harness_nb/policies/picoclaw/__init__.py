"""PicoClaw's two context managers: whole turns into one summary, or leaves of messages that are condensed step by step."""
