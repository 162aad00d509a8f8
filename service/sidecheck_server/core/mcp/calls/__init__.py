"""Tool calls: their ``params``, and responses to invalid calls and results."""
