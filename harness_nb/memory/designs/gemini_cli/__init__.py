"""Gemini CLI's durable memory: context files in tiers, written by tools, and an inbox of changes mined from sessions."""
