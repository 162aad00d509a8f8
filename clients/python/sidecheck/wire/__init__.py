"""The wire: translation between values and messages, both ways, without any I/O.

The modules of this package are the only ones that import generated messages.
"""

__all__: list[str] = []
