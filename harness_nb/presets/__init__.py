"""Presets: a policy, a memory design and settings that imitate one system, or are our default.

The only layer that imports policies.
"""
