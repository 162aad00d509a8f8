"""Wire format of gRPC over HTTP ("gRPC over HTTP2")."""

import gzip
import zlib
from typing import Any

import grpc
import pytest
from sidecheck_server.rpc.asgi.framing import (
    InvalidFrameError,
    decode_metadata,
    decompress,
    encode_message,
    encode_status,
    is_grpc,
    read_prefix,
    timeout_seconds,
)


@pytest.mark.parametrize(
    ("content_type", "expected"),
    [
        (b"application/grpc", True),
        (b"application/grpc+proto", True),
        (b"application/grpc;charset=utf-8", True),
        (b"application/grpc-web", False),
        (b"application/grpcx", False),
        (b"application/json", False),
        (b"", False),
    ],
)
def test_content_types(content_type: bytes, expected: bool) -> None:
    assert is_grpc(content_type) is expected


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (b"1H", 3600.0),
        (b"2M", 120.0),
        (b"3S", 3.0),
        (b"250m", 0.25),
        (b"100u", 1e-4),
        (b"99999999n", 99_999_999e-9),
        (b"0m", 0.0),
    ],
)
def test_time_limits(text: bytes, seconds: float) -> None:
    assert timeout_seconds(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", [b"", b"1", b"S", b"123456789S", b"-1S", b"1.5S", b"1s", b"1S "])
def test_malformed_time_limits(text: bytes) -> None:
    with pytest.raises(InvalidFrameError) as raised:
        timeout_seconds(text)
    assert (raised.value.code, str(raised.value)) == (
        grpc.StatusCode.INTERNAL,
        "grpc-timeout is malformed; expected up to 8 digits and one of H, M, S, m, u, n",
    )


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (encode_message(b""), (False, 0)),
        (encode_message(b"abc"), (False, 3)),
        (b"\1\0\0\0\x0a", (True, 10)),
    ],
)
def test_prefixes(data: bytes, expected: tuple[bool, int]) -> None:
    assert read_prefix(data, 10) == expected


@pytest.mark.parametrize(
    ("data", "code", "message"),
    [
        (
            b"\2\0\0\0\1",
            grpc.StatusCode.INTERNAL,
            "the compressed flag of a message is 2, not 0 or 1",
        ),
        (
            b"\0\0\0\0\x0b",
            grpc.StatusCode.RESOURCE_EXHAUSTED,
            "SERVER: Received message larger than max (11 vs. 10)",
        ),
    ],
)
def test_invalid_prefixes(data: bytes, code: grpc.StatusCode, message: str) -> None:
    with pytest.raises(InvalidFrameError) as raised:
        read_prefix(data, 10)
    assert (raised.value.code, str(raised.value)) == (code, message)


@pytest.mark.parametrize(
    ("data", "encoding"),
    [(gzip.compress(b"abc"), b"gzip"), (zlib.compress(b"abc"), b"deflate")],
    ids=["gzip", "deflate"],
)
def test_compressed_messages(data: bytes, encoding: bytes) -> None:
    assert decompress(data, encoding, 3) == b"abc"


_BOMB = gzip.compress(b"0" * 1_000_000)


@pytest.mark.parametrize(
    ("data", "encoding", "code", "message"),
    [
        (
            _BOMB,
            b"gzip",
            grpc.StatusCode.RESOURCE_EXHAUSTED,
            "SERVER: Received message larger than max (1001 vs. 1000)",
        ),
        (
            b"not gzip",
            b"gzip",
            grpc.StatusCode.INTERNAL,
            "a message is not complete gzip data",
        ),
        (
            gzip.compress(b"abc")[:-4],
            b"gzip",
            grpc.StatusCode.INTERNAL,
            "a message is not complete gzip data",
        ),
        (
            b"abc",
            b"identity",
            grpc.StatusCode.INTERNAL,
            "a message is compressed, but grpc-encoding is identity",
        ),
        (
            b"abc",
            b"snappy",
            grpc.StatusCode.UNIMPLEMENTED,
            "the grpc-encoding is not supported; use one of identity,deflate,gzip",
        ),
    ],
    ids=["too large", "damaged", "incomplete", "without encoding", "unknown"],
)
def test_damaged_compression(
    data: bytes, encoding: bytes, code: grpc.StatusCode, message: str
) -> None:
    with pytest.raises(InvalidFrameError) as raised:
        decompress(data, encoding, 1000)
    assert (raised.value.code, str(raised.value)) == (code, message)


@pytest.mark.parametrize(
    ("code", "message", "metadata", "trailers"),
    [
        (0, "", [], [(b"grpc-status", b"0")]),
        (
            3,
            "100 % of “x”\n",
            [],
            [
                (b"grpc-status", b"3"),
                (b"grpc-message", b"100 %25 of %E2%80%9Cx%E2%80%9D%0A"),
            ],
        ),
        (
            14,
            "down",
            [("grpc-status-details-bin", b"\x08\x0e"), ("grpc-retry-pushback-ms", "-1")],
            [
                (b"grpc-status", b"14"),
                (b"grpc-message", b"down"),
                (b"grpc-status-details-bin", b"CA4="),
                (b"grpc-retry-pushback-ms", b"-1"),
            ],
        ),
    ],
)
def test_statuses(
    code: int, message: str, metadata: Any, trailers: list[tuple[bytes, bytes]]
) -> None:
    assert encode_status(code, message, metadata) == trailers


def test_metadata() -> None:
    headers = [
        (b"authorization", b"Bearer x"),
        (b"trace-bin", b"AAE"),
        (b"more-bin", b"AAE=,Ag"),
        (b"damaged-bin", b"A"),
    ]
    assert decode_metadata(headers) == [
        ("authorization", "Bearer x"),
        ("trace-bin", b"\x00\x01"),
        ("more-bin", b"\x00\x01"),
        ("more-bin", b"\x02"),
    ]
