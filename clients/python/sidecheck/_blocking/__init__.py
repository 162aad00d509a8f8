"""The asynchronous client, and the source of the blocking one.

``clients/python/generate_blocking.py`` generates `sidecheck._blocking` from `sidecheck._async`.
"""

__all__: list[str] = []
