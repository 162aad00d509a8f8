"""Session rules: what must hold between the messages of one connection."""
