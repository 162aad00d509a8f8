"""From faults to violations: what was expected, what was found, and what may be meant."""
