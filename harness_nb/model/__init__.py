"""Models: the built-in offline one, a scripted one, any of litellm, and a local server.

The only layer that knows litellm, tiktoken and local engines; it imports them inside functions.
"""
