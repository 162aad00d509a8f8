"""Transport of the client: gRPC channels, calls and streams, for tasks and for threads.

`tasks` and `threads` have the same interface, so that the blocking client can be generated
from the asynchronous client.
"""

__all__: list[str] = []
