"""Durable memory over the store and a model: facts are flushed to the daily log, searched, read and injected."""
