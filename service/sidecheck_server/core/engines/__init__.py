"""The engines: one says yes or no and is fast, the other is complete and explains."""
