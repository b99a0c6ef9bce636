"""One module a recorded system: it turns a case into a conversation and settings, and what came of it into the recording's words."""
