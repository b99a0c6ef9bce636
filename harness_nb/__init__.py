"""A laboratory for LLM-agent memory, inside Jupyter."""
