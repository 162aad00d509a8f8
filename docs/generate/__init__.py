"""Generators of the pages under docs/reference: pure functions from the code to Markdown."""
