"""Content codings of bodies: each is decoded in pieces of any size, and within bounds."""

import gzip
import zlib
from importlib.util import find_spec
from typing import Any

import pytest
from sidecheck_server.proxy.http.encodings import BodyDecoder, EncodingError
from sidecheck_server.proxy.http.upstream import BodyTooLargeError, decode_body

TEXT = b'{"jsonrpc":"2.0"}' * 1000


def raw_deflate(data: bytes) -> bytes:
    """Return *data* without the header of zlib, as some servers send it."""
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressor.compress(data) + compressor.flush()


ENCODED = {
    "gzip": gzip.compress(TEXT),
    "X-Gzip": gzip.compress(TEXT[:7]) + gzip.compress(TEXT[7:]),
    "deflate": zlib.compress(TEXT),
    "identity, deflate": raw_deflate(TEXT),
    "gzip, deflate": zlib.compress(gzip.compress(TEXT)),
}
if find_spec("brotli"):
    brotli: Any = __import__("brotli")
    ENCODED["br"] = brotli.compress(TEXT)
if find_spec("backports") and find_spec("backports.zstd"):
    zstd: Any = __import__("backports.zstd", fromlist=["zstd"])
    ENCODED["zstd"] = zstd.compress(TEXT[:7]) + zstd.compress(TEXT[7:])


@pytest.mark.parametrize("size", [1, 2, 1000, 100_000])
@pytest.mark.parametrize("encoding", ENCODED)
def test_chunks_make_no_difference(encoding: str, size: int) -> None:
    """The pieces are those of the whole text."""
    body, decoder, pieces = ENCODED[encoding], BodyDecoder(encoding), list[bytes]()
    for start in range(0, len(body), size):
        pieces += decoder.decode(body[start : start + size])
    decoder.finish()

    assert TEXT == b"".join(pieces)


@pytest.mark.parametrize(
    ("encoding", "body", "fault"),
    [
        ("gzip", TEXT, 'the body is not in its content encoding, "gzip"'),
        ("deflate", b"\xff" * 9, 'the body is not in its content encoding, "deflate"'),
        ("gzip", ENCODED["gzip"][:-1], 'the body in the content encoding "gzip" is incomplete'),
        ("rot13", TEXT, 'the content encoding "rot13" cannot be decoded'),
        ("gzip, x", TEXT, 'the content encoding "gzip, x" cannot be decoded'),
        ("a\x00", TEXT, "the content encoding with an unusual name cannot be decoded"),
        (", ".join(["gzip"] * 4), TEXT, "cannot be decoded"),
        ("gzip", gzip.compress(b"") * 1_001, "is not in its content encoding"),
    ],
)
def test_a_body_that_cannot_be_decoded(encoding: str, body: bytes, fault: str) -> None:
    """The message names the encoding."""
    with pytest.raises(EncodingError) as error:
        decode_body(body, encoding, 1_000_000)

    assert fault in str(error.value)


@pytest.mark.parametrize("encoding", ENCODED)
def test_the_decoded_size_is_bounded(encoding: str) -> None:
    """A short body may have a very long text."""
    with pytest.raises(BodyTooLargeError):
        decode_body(ENCODED[encoding], encoding, len(TEXT) - 1)


def test_pieces_of_a_long_text_are_small() -> None:
    """They are decoded one at a time."""
    pieces = BodyDecoder("gzip").decode(gzip.compress(bytes(10_000_000)))

    assert {256 << 10} == {len(next(pieces)) for _ in range(30)}
