"""Page sizes and page tokens."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.rpc.mapping.fields import page_size, position_from_token, token_for_position

INVALID_TOKEN = RequestError(
    ErrorReason.INVALID_REQUEST,
    "page_token is not from this list; leave it empty to start from the first page",
    {"field": "page_token"},
)


def encoded(value: Any) -> str:
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(text).decode()


@pytest.mark.parametrize(
    ("requested", "size"),
    [(0, 100), (1, 1), (100, 100), (1000, 1000), (1001, 1000), (2**31 - 1, 1000)],
)
def test_a_page_size_is_limited(requested: int, size: int) -> None:
    """0 means the default (AIP-158)."""
    assert size == page_size(requested)


@pytest.mark.parametrize("requested", [-1, -(2**31)])
def test_a_negative_size_is_rejected(requested: int) -> None:
    """The error names the field."""
    with pytest.raises(RequestError) as raised:
        page_size(requested)

    assert (
        RequestError(
            ErrorReason.INVALID_REQUEST, "page_size must not be negative", {"field": "page_size"}
        )
        == raised.value
    )


def test_an_empty_token_is_the_first_page() -> None:
    """An empty token is valid for every list."""
    assert [None, None] == [position_from_token("", ""), position_from_token("", "s")]


@given(st.text(), st.text(), st.text())
def test_tokens_round_trip(list_key: str, server: str, name: str) -> None:
    """Names may have any characters; the token is URL-safe."""
    token = token_for_position(list_key, server, name)

    assert (server, name) == position_from_token(token, list_key)
    assert token.isascii()
    assert token.replace("-", "").replace("_", "").rstrip("=").isalnum()


@given(st.text(), st.text(), st.text(), st.text())
def test_a_token_of_another_list_is_rejected(
    list_key: str, other_key: str, server: str, name: str
) -> None:
    """The parameters of a list must not change between pages (AIP-158)."""
    if list_key == other_key:
        assert (server, name) == position_from_token(
            token_for_position(list_key, server, name), other_key
        )
        return
    with pytest.raises(RequestError) as raised:
        position_from_token(token_for_position(list_key, server, name), other_key)

    assert INVALID_TOKEN == raised.value


@given(st.text(st.characters(codec=None)), st.text(max_size=3))
def test_any_other_text_is_rejected(token: str, list_key: str) -> None:
    """No other exception is raised."""
    _assert_error_or_position(token, list_key)


@given(st.binary(), st.text(max_size=3))
def test_any_other_bytes_are_rejected(content: bytes, list_key: str) -> None:
    """No other exception is raised."""
    _assert_error_or_position(encoded(content), list_key)


@given(st.text(), st.text(), st.integers(0), st.characters())
def test_a_modified_token_is_rejected_or_harmless(
    server: str, name: str, position: int, character: str
) -> None:
    """A modified token may also encode another position of the same list, which is harmless."""
    token = token_for_position("s", server, name)
    position %= len(token)
    _assert_error_or_position(token[:position] + character + token[position + 1 :], "s")
    _assert_error_or_position(token[:position], "s")


def _assert_error_or_position(token: str, list_key: str) -> None:
    try:
        position = position_from_token(token, list_key)
    except RequestError as error:
        request_error: RequestError | None = error
    else:
        request_error = None
        assert (position is None) is (token == "")
        assert position is None or (str, str) == (type(position[0]), type(position[1]))

    assert request_error in (None, INVALID_TOKEN)


@pytest.mark.parametrize(
    "token",
    [
        pytest.param("x", id="not base64"),
        pytest.param("====", id="padding"),
        pytest.param("é", id="not ASCII"),
        pytest.param("\ud800", id="not UTF-8"),
        pytest.param(encoded(b" "), id="blank"),
        pytest.param(encoded(b"\xff\xfe"), id="not UTF-8 JSON"),
        pytest.param(encoded(b"[" * 100_000), id="deep"),
        pytest.param(encoded(b"9" * 10_000), id="a long number"),
        pytest.param(encoded({"s": 1}), id="an object"),
        pytest.param(encoded("abc"), id="a text"),
        pytest.param(encoded(["s", "a"]), id="too short"),
        pytest.param(encoded(["s", "a", "b", "c"]), id="too long"),
        pytest.param(encoded(["s", "a", 1]), id="a number for a name"),
        pytest.param(encoded(["s", None, "b"]), id="null server"),
        pytest.param(encoded([["s"], "a", "b"]), id="an array for a list"),
    ],
)
def test_a_forged_token_is_rejected(token: str) -> None:
    """The message suggests starting from the first page."""
    with pytest.raises(RequestError) as raised:
        position_from_token(token, "s")

    assert INVALID_TOKEN == raised.value
