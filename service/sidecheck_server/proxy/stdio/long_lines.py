"""Ids of messages that are too long to be read."""

import asyncio
import re

__all__ = ["LongMessage"]

_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[][{}]|[^]"[{}]++', re.DOTALL)
"""A string, also one without an end; a bracket; or the text between them."""

_MAX_STRING_BYTES = 1 << 10
_MAX_MEMBER_BYTES = 64 << 10
_LARGE_PIECE = 1 << 20
_ID = re.compile(rb'"id"\s*+:\s*+("[^"]*+"|-?\d[\d.eE+-]*+)\s*+[,}]')
_METHOD = re.compile(rb'"method"\s*+:')
_ANSWER = re.compile(rb'"(?:result|error)"\s*+:')


class LongMessage:
    """Reads the id of a message that arrives in pieces, in bounded memory.

    Servers and clients write the id first or last, so all pieces are read.
    """

    def __init__(self) -> None:
        self._depth = 0
        #: Unfinished string at the end of the last piece.
        self._rest = b""
        #: Text of the outermost object, without its nested values.
        self._members = bytearray()
        self.size = 0

    async def add(self, piece: bytes) -> None:
        """Read *piece*."""
        self.size += len(piece)
        if len(piece) > _LARGE_PIECE:
            await asyncio.to_thread(self._scan, piece)
        else:
            self._scan(piece)

    @property
    def id_text(self) -> bytes | None:
        """JSON text of the id; None if it has not been seen."""
        match = _ID.search(self._members)
        return None if match is None else bytes(match[1])

    @property
    def has_method(self) -> bool:
        """Whether it is a request or a notification."""
        return _METHOD.search(self._members) is not None

    @property
    def has_answer(self) -> bool:
        """Whether it has a result or an error."""
        return _ANSWER.search(self._members) is not None

    @property
    def is_structured(self) -> bool:
        """Whether it begins like an object or an array."""
        return bool(self._members)

    def _scan(self, piece: bytes) -> None:
        text, self._rest = self._rest + piece, b""
        for match in _TOKEN.finditer(text):
            token = match[0]
            if token in {b"{", b"["}:
                self._depth += 1
                self._keep(token, at_most=2)
            elif token in {b"}", b"]"}:
                self._keep(token, at_most=2)
                self._depth -= 1
            elif match.end() == len(text) and not _is_terminated(token):
                self._rest = _shorten(token)
            else:
                self._keep(token if len(token) <= _MAX_STRING_BYTES else b'""', at_most=1)

    def _keep(self, token: bytes, *, at_most: int) -> None:
        if 0 < self._depth <= at_most and len(self._members) < _MAX_MEMBER_BYTES:
            self._members += token


def _is_terminated(token: bytes) -> bool:
    return not token.startswith(b'"') or _TERMINATED.fullmatch(token) is not None


_TERMINATED = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)


def _shorten(token: bytes) -> bytes:
    """Return the unfinished string *token*, or a long one that ends in the same state."""
    if len(token) <= _MAX_STRING_BYTES:
        return token
    backslashes = len(token) - len(token.rstrip(b"\\"))
    return b'"' + b"x" * _MAX_STRING_BYTES + b"\\" * (backslashes % 2)
