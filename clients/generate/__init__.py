"""Generator of the values of the clients."""
