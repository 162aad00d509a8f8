"""Base64, data: URIs, media types and moments in time."""

import base64
from random import Random

import pytest
from sidecheck_server.core.mcp.text_encodings import (
    DataUri,
    base64_fault,
    is_iso_8601,
    is_media_type,
    read_data_uri,
)

FAULTS = {
    "": "",
    "QQ==": "",
    "QUI=": "",
    "QUJD": "",
    "+/+/": "",
    # Unused bits: encoders set them to 0, decoders may ignore them.
    "QR==": "",
    "Q": "its length, 1, is not a multiple of 4: padding is missing",
    "QUI": "its length, 3, is not a multiple of 4: padding is missing",
    "QUJD=": "its length with the padding, 5, is not a multiple of 4",
    "=": "its length with the padding, 1, is not a multiple of 4",
    "QQ=": "its length with the padding, 3, is not a multiple of 4",
    "QQ==QQ==": "the padding at position 2 is not at the end",
    "QUI=QUI=": "the padding at position 3 is not at the end",
    "QUJD====": "the padding at position 4 is not at the end",
    "====": "the padding at position 0 is not at the end",
    "QQ===": "the padding at position 2 is not at the end",
    "QU-_": "position 2 has a character of base64url, which is another encoding",
    "QUJD\n": "position 4 is white space",
    "QU JD": "position 2 is white space",
    "QUJ\u0414": "position 3 has a character that is not in the alphabet",
    "Q\x00==": "position 1 has a character that is not in the alphabet",
    "data:image/png;base64,QUJD": "it is a data: URI, not the data alone",
}


@pytest.mark.parametrize(("text", "fault"), FAULTS.items(), ids=ascii)
def test_base64_faults(text: str, fault: str) -> None:
    assert fault == base64_fault(text, [1000])


def test_encoded_bytes_are_valid_base64() -> None:
    random = Random(4)
    texts = [base64.b64encode(random.randbytes(size)).decode() for size in range(200)]
    assert [""] * len(texts) == [base64_fault(text, [1000]) for text in texts]


URIS = {
    "data:,": DataUri("", base64=False, data=""),
    "DATA:image/PNG;BASE64,QQ==": DataUri("image/png", base64=True, data="QQ=="),
    "data:text/plain;charset=utf-8,a%20b,c": DataUri("text/plain", base64=False, data="a b,c"),
    "data:image/png;base64,QQ%3D%3d": DataUri("image/png", base64=True, data="QQ=="),
    "data:base64,QQ==": DataUri("base64", base64=False, data="QQ=="),
    "data:image/png;base64": None,
    "http://a/,": None,
    "": None,
}


@pytest.mark.parametrize(("uri", "read"), URIS.items())
def test_parse_data_uri(uri: str, read: DataUri | None) -> None:
    assert read == read_data_uri(uri, [10_000])


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("image/png", True),
        ("image/svg+xml", True),
        ("application/vnd.api+json; charset=utf-8", True),
        ('audio/ogg; codecs="a, b"', True),
        ("x/y", True),
        ("image", False),
        ("image/", False),
        ("/png", False),
        ("image/*", False),
        ("image/png;", False),
        ("image/png; charset", False),
        ("image / png", False),
        ("image/png\n", False),
        ("ima\u0434e/png", False),
        ("image/" + "a" * 127, True),
        ("image/" + "a" * 128, False),
        ("a/b" + ";c=d" * 10_000, False),
        ("", False),
    ],
)
def test_media_types(text: str, is_one: bool) -> None:
    assert is_one is is_media_type(text)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("2025-01-12T15:00:58Z", True),
        ("2025-01-12T15:00:58.123456789Z", True),
        ("2025-01-12T15:00:58+02:00", True),
        ("2025-01-12T15:00", True),
        ("2025-01-12", True),
        ("20250112", True),
        ("20250112T150058Z", True),
        ("2025-W03-1", True),
        ("2016-12-31T23:59:60Z", True),
        ("2025-01-12 15:00:58", False),
        ("2025-01-12X15:00:58", False),
        ("2025-02-30", False),
        ("2025-01-12T25:00:00Z", False),
        ("1736694058", False),
        ("Sun, 12 Jan 2025 15:00:58 GMT", False),
        (" 2025-01-12", False),
        ("\u0662\u0660\u0662\u0665-01-12", False),
        ("P1D", False),
        ("", False),
    ],
)
def test_moments_of_iso_8601(text: str, is_one: bool) -> None:
    assert is_one is is_iso_8601(text)
