"""Who may call what: tokens, the roles of methods, and the namespaces of callers."""
