"""Log, metrics and tracing."""
