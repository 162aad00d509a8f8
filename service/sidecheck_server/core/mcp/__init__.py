"""Model Context Protocol: types, rules, messages, sessions, results, wrapping."""
