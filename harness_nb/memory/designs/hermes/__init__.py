"""Hermes' durable memory: two bounded files of entries, frozen in the prompt, and search in past sessions."""
