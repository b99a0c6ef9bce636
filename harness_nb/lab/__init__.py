"""The lab: recorded conversations, policies replayed over them, and what comes of it."""
