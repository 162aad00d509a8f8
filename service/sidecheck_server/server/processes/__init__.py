"""Several processes that serve one address: the first keeps what they share, and the others serve.

The first process has the registry and the workers, and starts the serving processes again that
end. A serving process has a copy of the registry, which follows the first by revision, and gives
writes and tasks to it.
"""
