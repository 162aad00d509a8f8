"""Tool definitions: single ones, lists of them, and their names."""
