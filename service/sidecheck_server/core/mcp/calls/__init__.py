"""Calls of tools and their results, and the replies to those that are invalid."""
