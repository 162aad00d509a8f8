"""Readers of logs that have the messages of sessions, one module per form."""
