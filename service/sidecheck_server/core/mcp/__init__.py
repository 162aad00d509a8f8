"""Model Context Protocol: types, rules, messages, sessions, tool results and wrapping."""
