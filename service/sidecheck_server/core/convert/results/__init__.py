"""Results: what tools gave, as the message of each API that tells the model."""

from sidecheck_server.core.convert.results.result import result_message

__all__ = ["result_message"]
