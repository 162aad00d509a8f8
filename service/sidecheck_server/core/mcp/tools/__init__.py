"""Tool definitions: read one by one or listed, their names, and what becomes of each."""
