"""Translation between values of the client and messages of the API.

Only modules of this package import generated messages. ``encode_*`` functions return
messages, ``decode_*`` functions return values.
"""

__all__: list[str] = []
