# Generated from sidecheck/_async by generate_blocking.py. Do not edit.
"""The blocking client.

``clients/python/generate_blocking.py`` generates `sidecheck._blocking` from `sidecheck._async`.
"""

__all__: list[str] = []
