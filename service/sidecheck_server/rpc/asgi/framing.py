"""Wire format of gRPC over HTTP: messages, time limits, metadata and statuses.

The source is "gRPC over HTTP2" (PROTOCOL-HTTP2.md of gRPC), whose terms stand in the comments.
"""

import base64
import binascii
import re
import zlib
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

import grpc

__all__ = [
    "ACCEPTED_ENCODINGS",
    "PREFIX_BYTES",
    "Headers",
    "InvalidFrameError",
    "decode_metadata",
    "decompress",
    "encode_message",
    "encode_status",
    "is_grpc",
    "read_prefix",
    "timeout_seconds",
]

Headers: TypeAlias = Iterable[tuple[bytes, bytes]]
"""Names in lower case, and values."""

PREFIX_BYTES: Final = 5
"""Bytes before each message: Compressed-Flag and Message-Length."""

ACCEPTED_ENCODINGS: Final = b"identity,deflate,gzip"
"""Message-Accept-Encoding of responses."""


class InvalidFrameError(Exception):
    """A request violates the wire format, so that its call ends with *code*."""

    def __init__(self, code: grpc.StatusCode, message: str) -> None:
        super().__init__(message)
        self.code = code


def is_grpc(content_type: bytes) -> bool:
    """Return whether *content_type* is "application/grpc", with or without a subtype."""
    return content_type == b"application/grpc" or content_type.startswith(
        (b"application/grpc+", b"application/grpc;")
    )


def encode_message(message: bytes) -> bytes:
    """Return *message* as Length-Prefixed-Message, uncompressed."""
    return b"\0" + len(message).to_bytes(4) + message


def read_prefix(data: bytes | bytearray, max_bytes: int) -> tuple[bool, int]:
    """Return whether the message that begins *data* is compressed, and its length.

    Raises:
        InvalidFrameError: the message has more than *max_bytes*, or the flag is unknown.
    """
    flag, size = data[0], int.from_bytes(data[1:PREFIX_BYTES])
    if flag > 1:
        raise InvalidFrameError(
            grpc.StatusCode.INTERNAL, f"the compressed flag of a message is {flag}, not 0 or 1"
        )
    if size > max_bytes:
        raise _too_large(size, max_bytes)
    return flag == 1, size


def decompress(message: bytes, encoding: bytes, max_bytes: int) -> bytes:
    """Return *message*, which *encoding* compresses, within *max_bytes*.

    Raises:
        InvalidFrameError: the encoding is unknown, or the message is damaged or too large.
    """
    window = _WINDOWS.get(encoding)
    if window is None:
        if encoding == b"identity":
            raise InvalidFrameError(
                grpc.StatusCode.INTERNAL, "a message is compressed, but grpc-encoding is identity"
            )
        raise InvalidFrameError(
            grpc.StatusCode.UNIMPLEMENTED,
            f"the grpc-encoding is not supported; use one of {ACCEPTED_ENCODINGS.decode()}",
        )
    decompressor = zlib.decompressobj(window)
    try:
        plain = decompressor.decompress(message, max_bytes + 1)
    except zlib.error:
        plain = None
    if plain is not None and len(plain) > max_bytes:
        raise _too_large(len(plain), max_bytes)
    if plain is None or not decompressor.eof:
        raise InvalidFrameError(
            grpc.StatusCode.INTERNAL, f"a message is not complete {encoding.decode()} data"
        )
    return plain


# The names are those of gRPC; its "deflate" is the format of zlib (RFC 1950).
_WINDOWS: Final[Mapping[bytes, int]] = MappingProxyType(
    {b"gzip": zlib.MAX_WBITS | 16, b"deflate": zlib.MAX_WBITS}
)


def _too_large(size: int, max_bytes: int) -> InvalidFrameError:
    # The text of gRPC, so that both transports answer alike.
    return InvalidFrameError(
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        f"SERVER: Received message larger than max ({size} vs. {max_bytes})",
    )


_UNIT_SECONDS: Final[Mapping[bytes, float]] = MappingProxyType(
    {b"H": 3600.0, b"M": 60.0, b"S": 1.0, b"m": 1e-3, b"u": 1e-6, b"n": 1e-9}
)

_TIMEOUT: Final = re.compile(rb"([0-9]{1,8})([HMSmun])")


def timeout_seconds(text: bytes) -> float:
    """Return the seconds in *text*, a value of grpc-timeout.

    Raises:
        InvalidFrameError: it is not a Timeout.
    """
    match = _TIMEOUT.fullmatch(text)
    if match is None:
        raise InvalidFrameError(
            grpc.StatusCode.INTERNAL,
            "grpc-timeout is malformed; expected up to 8 digits and one of H, M, S, m, u, n",
        )
    return int(match[1]) * _UNIT_SECONDS[match[2]]


def decode_metadata(headers: Headers) -> list[tuple[str, str | bytes]]:
    """Return *headers* as metadata; values of names that end with "-bin" are bytes."""
    metadata: list[tuple[str, str | bytes]] = []
    for name, value in headers:
        text = name.decode("latin-1")
        if not text.endswith("-bin"):
            metadata.append((text, value.decode("latin-1")))
            continue
        # Several values may be joined with commas, and padding is optional (Binary-Header).
        for item in value.split(b","):
            try:
                decoded = base64.b64decode(item.strip() + b"==", validate=False)
            except binascii.Error:
                continue
            metadata.append((text, decoded))
    return metadata


def encode_status(
    code: int, message: str, metadata: Iterable[tuple[str, str | bytes]] = ()
) -> list[tuple[bytes, bytes]]:
    """Return the trailers of a call that ends with *code*."""
    trailers = [(b"grpc-status", str(code).encode())]
    if message:
        trailers.append((b"grpc-message", _percent_encode(message)))
    for name, value in metadata:
        encoded = base64.b64encode(value) if isinstance(value, bytes) else value.encode()
        trailers.append((name.encode(), encoded))
    return trailers


_ESCAPED: Final = re.compile(rb"[^\x20-\x24\x26-\x7e]")


def _percent_encode(text: str) -> bytes:
    """Return *text* with bytes that are not printable ASCII, and "%", as Percent-Encoded."""
    return _ESCAPED.sub(lambda match: b"%%%02X" % match[0][0], text.encode())
