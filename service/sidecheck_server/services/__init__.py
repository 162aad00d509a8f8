"""What lasts between calls, and the work of a call that needs it."""
