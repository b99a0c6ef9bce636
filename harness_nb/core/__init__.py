"""Pure decisions about conversations: messages, rounds, tokens, views and plans.

This layer imports the standard library only and does no input or output.
"""
