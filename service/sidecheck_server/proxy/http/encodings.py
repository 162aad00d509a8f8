"""Content codings of HTTP bodies (RFC 9110, section 8.4.1), decoded piece by piece.

Brotli (RFC 7932) and Zstandard (RFC 9659) are decoded where their libraries are installed.
"""

import re
import zlib
from collections.abc import Iterator, Mapping
from importlib import import_module
from types import MappingProxyType, ModuleType
from typing import Any, Final, Protocol

__all__ = ["BodyDecoder", "EncodingError", "content_encoding", "encoding_name"]

_PIECE_BYTES: Final = 1 << 18
"""Size of a decoded piece; Brotli and Zstandard exceed it by at most a factor of two."""

_WINDOW_BYTES: Final = 1 << 13
"""Bytes to decode at a time: a gzip member or zstd frame copies the bytes that follow it."""

_MAX_PARTS: Final = 1_000
"""Maximum number of gzip members or zstd frames in a body; each starts a decoder."""

_MAX_CODINGS: Final = 3
"""Maximum number of codings that were applied to one body."""

_WINDOW_LOG: Final = 23
"""Binary logarithm of the memory of a zstd decoder: 8 MB (RFC 9659, section 3)."""

_GZIP_START: Final = b"\x1f\x8b"
_ZLIB_METHOD: Final = 8
_ZLIB_CHECK: Final = 31

_NAME: Final = re.compile(r"[a-z0-9, _.+-]{1,40}")


class EncodingError(Exception):
    """A body cannot be decoded; the message names its encoding."""


class _Decoder(Protocol):
    """Decoder of one coding."""

    def decode(self, data: bytes) -> Iterator[bytes]:
        """Yield the decoded *data* in bounded pieces; raise `_BrokenError`."""
        ...

    @property
    def is_complete(self) -> bool:
        """Whether the encoded data has come to its end."""
        ...


class _BrokenError(Exception):
    """The encoded data is malformed."""


class BodyDecoder:
    """Decodes a body with the header *encoding*.

    Raises:
        EncodingError: a coding is unknown, or its library is not installed.
    """

    def __init__(self, encoding: str) -> None:
        self._name = encoding_name(encoding)
        codings = _codings(encoding)
        factories = [_find_factory(coding) for coding in codings]
        if len(factories) > _MAX_CODINGS or None in factories:
            raise EncodingError(f"the content encoding {self._name} cannot be decoded")
        # The last coding was applied last (RFC 9110, section 8.4).
        self._decoders: list[_Decoder] = [make() for make in reversed(factories) if make]

    def decode(self, data: bytes) -> Iterator[bytes]:
        """Yield the decoded *data*, in bounded pieces.

        Raises:
            EncodingError: the data is malformed.
        """
        try:
            yield from _decode(self._decoders, data)
        except _BrokenError:
            raise EncodingError(f"the body is not in its content encoding, {self._name}") from None

    def finish(self) -> None:
        """Check that the body is complete.

        Raises:
            EncodingError: it is not.
        """
        if not all(decoder.is_complete for decoder in self._decoders):
            raise EncodingError(f"the body in the content encoding {self._name} is incomplete")


def content_encoding(headers: Mapping[str, str]) -> str:
    """Return the content encoding in *headers*, "" for the identity."""
    return ", ".join(_codings(headers.get("content-encoding", "")))


def encoding_name(encoding: str) -> str:
    """Return the header value *encoding* in quotes, or a text in place of an unusual value."""
    name = encoding.strip().lower()
    return f'"{name}"' if _NAME.fullmatch(name) else "with an unusual name"


def _codings(encoding: str) -> list[str]:
    names = [name.strip().lower() for name in encoding.split(",")]
    return [name for name in names if name not in {"", "identity"}]


def _decode(decoders: list[_Decoder], data: bytes) -> Iterator[bytes]:
    if not decoders:
        yield data
        return
    first, *others = decoders
    for start in range(0, len(data), _WINDOW_BYTES):
        for piece in first.decode(data[start : start + _WINDOW_BYTES]):
            yield from _decode(others, piece)


class _Gzip:
    """Decoder of gzip (RFC 1952), whose members are decoded one after the other."""

    def __init__(self) -> None:
        self._parts = 1
        self._inflater = zlib.decompressobj(zlib.MAX_WBITS | 16)
        self._has_begun = False

    @property
    def is_complete(self) -> bool:
        return self._inflater.eof or not self._has_begun

    def decode(self, data: bytes) -> Iterator[bytes]:
        self._has_begun = self._has_begun or bool(data)
        while data:
            if self._inflater.eof:
                if not _GZIP_START.startswith(data[:2]):
                    # Readers ignore what follows the last member, such as padding.
                    return
                self._begin_member()
            yield from _inflate(self._inflater, data)
            data = self._inflater.unused_data

    def _begin_member(self) -> None:
        self._parts += 1
        if self._parts > _MAX_PARTS:
            raise _BrokenError
        self._inflater = zlib.decompressobj(zlib.MAX_WBITS | 16)


class _Deflate:
    """Decoder of the zlib format (RFC 1950), or of its data alone (RFC 1951)."""

    def __init__(self) -> None:
        self._start = b""
        self._inflater: Any = None

    @property
    def is_complete(self) -> bool:
        return not self._start if self._inflater is None else bool(self._inflater.eof)

    def decode(self, data: bytes) -> Iterator[bytes]:
        if self._inflater is None:
            data, self._start = self._start + data, b""
            if len(data) < 2:
                self._start = data
                return
            method, check = data[0] & 0xF, int.from_bytes(data[:2])
            is_zlib = method == _ZLIB_METHOD and check % _ZLIB_CHECK == 0
            self._inflater = zlib.decompressobj(zlib.MAX_WBITS if is_zlib else -zlib.MAX_WBITS)
        if not self._inflater.eof:
            yield from _inflate(self._inflater, data)


def _inflate(inflater: Any, data: bytes) -> Iterator[bytes]:
    """Yield what *inflater* makes of *data*."""
    while True:
        try:
            piece = inflater.decompress(data, _PIECE_BYTES)
        except zlib.error:
            raise _BrokenError from None
        if piece:
            yield piece
        data = inflater.unconsumed_tail
        if not data and len(piece) < _PIECE_BYTES:
            return


class _Brotli:
    """Decoder of Brotli, by *library*."""

    def __init__(self, library: ModuleType) -> None:
        self._error: type[Exception] = library.error
        self._decompressor = library.Decompressor()
        self._has_begun = False

    @property
    def is_complete(self) -> bool:
        return not self._has_begun or bool(self._decompressor.is_finished())

    def decode(self, data: bytes) -> Iterator[bytes]:
        self._has_begun = self._has_begun or bool(data)
        while not self._decompressor.is_finished():
            try:
                piece = self._decompressor.process(data, output_buffer_limit=_PIECE_BYTES)
            except self._error:
                raise _BrokenError from None
            # Input that is consumed may still have output.
            if not piece and self._decompressor.can_accept_more_data():
                return
            if piece:
                yield piece
            data = b""


class _Zstandard:
    """Decoder of Zstandard, by *library*; frames are decoded one after the other."""

    def __init__(self, library: ModuleType) -> None:
        self._library = library
        self._parts = 0
        self._has_begun = False
        self._begin_frame()

    @property
    def is_complete(self) -> bool:
        return not self._has_begun or bool(self._decompressor.eof)

    def decode(self, data: bytes) -> Iterator[bytes]:
        self._has_begun = self._has_begun or bool(data)
        while data or not (self._decompressor.eof or self._decompressor.needs_input):
            if self._decompressor.eof:
                self._begin_frame()
            try:
                piece = self._decompressor.decompress(data, _PIECE_BYTES)
            except self._library.ZstdError:
                raise _BrokenError from None
            if piece:
                yield piece
            data = self._decompressor.unused_data if self._decompressor.eof else b""

    def _begin_frame(self) -> None:
        self._parts += 1
        if self._parts > _MAX_PARTS:
            raise _BrokenError
        options = {self._library.DecompressionParameter.window_log_max: _WINDOW_LOG}
        self._decompressor = self._library.ZstdDecompressor(options=options)


class _Factory(Protocol):
    def __call__(self) -> _Decoder:
        """Return a decoder at the start of a body."""
        ...


_FACTORIES: Final[Mapping[str, _Factory]] = MappingProxyType(
    # `x-gzip` is an alias (RFC 9110, section 8.4.1.3).
    {"gzip": _Gzip, "x-gzip": _Gzip, "deflate": _Deflate}
)


def _find_factory(coding: str) -> _Factory | None:
    """Return the factory of the decoders of *coding*, None if it cannot be decoded."""
    match coding:
        case "br":
            library = _find_library("brotlicffi", "brotli")
            # Before 1.2, the size of the output has no bound.
            if library is None or not hasattr(library.Decompressor, "can_accept_more_data"):
                return None
            return lambda: _Brotli(library)
        case "zstd":
            library = _find_library("compression.zstd", "backports.zstd")
            return None if library is None else lambda: _Zstandard(library)
    return _FACTORIES.get(coding)


def _find_library(*names: str) -> ModuleType | None:
    """Return the first library of *names* that is installed."""
    for name in names:
        try:
            return import_module(name)
        except ImportError:
            continue
    return None
