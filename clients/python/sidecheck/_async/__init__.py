"""The asynchronous client, and the source of the blocking one.

``clients/python/generate_blocking.py`` generates `sidecheck._blocking` from this package.
"""

__all__: list[str] = []
