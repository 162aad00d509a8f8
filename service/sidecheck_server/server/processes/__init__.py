"""Several processes that serve one address.

The first process has the registry and the workers, and restarts serving processes that end. A
serving process has a copy of the registry, which it updates by the changes that the first process
sends, and forwards writes and tasks to the first process.
"""
