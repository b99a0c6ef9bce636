"""Files and SQLite: the workspace, daily logs, curated memory, sessions and the search index."""
