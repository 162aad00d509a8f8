"""The two engines: a fast one that decides, and a complete one that also explains."""
