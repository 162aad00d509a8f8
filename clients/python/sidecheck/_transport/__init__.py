"""Transport of the client: channels, calls and streams of gRPC.

`tasks` and `threads` have the same interface, so that the blocking client can be generated
from the asynchronous client.
"""

__all__: list[str] = []
