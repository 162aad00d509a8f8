"""What is done to a payload for a caller who asks for repairs, and a report of each change."""
