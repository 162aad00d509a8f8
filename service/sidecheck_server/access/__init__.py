"""Access control: tokens, roles of methods, and namespaces of callers."""
