"""How a sweep is done: what is tried, where it runs, what is kept of it, and how settings are chosen."""
