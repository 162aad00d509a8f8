"""Translation between the values of the client and the messages of the API, without I/O.

Only modules of this package import generated messages. ``encode_*`` functions return
messages, ``decode_*`` functions return values.
"""

__all__: list[str] = []
