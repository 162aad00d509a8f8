"""Sizes and tokens of pages."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.rpc.pages import page_size, place_of, token_of

NOT_OURS = RequestError(
    ErrorReason.INVALID_REQUEST,
    "page_token is not one that this list gave out; leave it empty to begin anew",
    {"field": "page_token"},
)


def encoded(value: Any) -> str:
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(text).decode()


@pytest.mark.parametrize(
    ("wanted", "size"),
    [(0, 100), (1, 1), (100, 100), (1000, 1000), (1001, 1000), (2**31 - 1, 1000)],
)
def test_a_page_has_the_size_wanted_or_the_largest(wanted: int, size: int) -> None:
    """0 means the default (AIP-158)."""
    assert size == page_size(wanted)


@pytest.mark.parametrize("wanted", [-1, -(2**31)])
def test_a_negative_size_is_refused(wanted: int) -> None:
    """With the name of the field."""
    with pytest.raises(RequestError) as caught:
        page_size(wanted)

    assert (
        RequestError(
            ErrorReason.INVALID_REQUEST, "page_size must not be negative", {"field": "page_size"}
        )
        == caught.value
    )


def test_no_token_is_the_beginning() -> None:
    """Of every list."""
    assert [None, None] == [place_of("", ""), place_of("", "s")]


@given(st.text(), st.text(), st.text())
def test_a_token_leads_back_to_its_place(listed: str, server: str, name: str) -> None:
    """Whatever the names hold; the token is fit for a URL."""
    token = token_of(listed, server, name)

    assert (server, name) == place_of(token, listed)
    assert token.isascii()
    assert token.replace("-", "").replace("_", "").rstrip("=").isalnum()


@given(st.text(), st.text(), st.text(), st.text())
def test_a_token_of_another_list_is_refused(
    listed: str, other: str, server: str, name: str
) -> None:
    """The parameters of a list must not change between pages (AIP-158)."""
    if listed == other:
        assert (server, name) == place_of(token_of(listed, server, name), other)
        return
    with pytest.raises(RequestError) as caught:
        place_of(token_of(listed, server, name), other)

    assert NOT_OURS == caught.value


@given(st.text(st.characters(codec=None)), st.text(max_size=3))
def test_any_other_text_is_refused(token: str, listed: str) -> None:
    """Never with another exception."""
    _is_refused_or_a_place(token, listed)


@given(st.binary(), st.text(max_size=3))
def test_any_other_bytes_are_refused(content: bytes, listed: str) -> None:
    """Never with another exception."""
    _is_refused_or_a_place(encoded(content), listed)


@given(st.text(), st.text(), st.integers(0), st.characters())
def test_a_token_that_was_tampered_with_is_refused(
    server: str, name: str, place: int, character: str
) -> None:
    """Or leads to another place of the same list, which harms nobody."""
    token = token_of("s", server, name)
    place %= len(token)
    _is_refused_or_a_place(token[:place] + character + token[place + 1 :], "s")
    _is_refused_or_a_place(token[:place], "s")


def _is_refused_or_a_place(token: str, listed: str) -> None:
    try:
        place = place_of(token, listed)
    except RequestError as refusal:
        refused: RequestError | None = refusal
    else:
        refused = None
        assert (place is None) is (token == "")
        assert place is None or (str, str) == (type(place[0]), type(place[1]))

    assert refused in (None, NOT_OURS)


@pytest.mark.parametrize(
    "token",
    [
        pytest.param("x", id="no base64"),
        pytest.param("====", id="padding"),
        pytest.param("é", id="not ASCII"),
        pytest.param("\ud800", id="not UTF-8"),
        pytest.param(encoded(b" "), id="nothing"),
        pytest.param(encoded(b"\xff\xfe"), id="no text"),
        pytest.param(encoded(b"[" * 100_000), id="deep"),
        pytest.param(encoded(b"9" * 10_000), id="a long number"),
        pytest.param(encoded({"s": 1}), id="an object"),
        pytest.param(encoded("abc"), id="a text"),
        pytest.param(encoded(["s", "a"]), id="too short"),
        pytest.param(encoded(["s", "a", "b", "c"]), id="too long"),
        pytest.param(encoded(["s", "a", 1]), id="a number for a name"),
        pytest.param(encoded(["s", None, "b"]), id="no server"),
        pytest.param(encoded([["s"], "a", "b"]), id="an array for a list"),
    ],
)
def test_a_token_that_nobody_gave_out_is_refused(token: str) -> None:
    """With the way to begin anew."""
    with pytest.raises(RequestError) as caught:
        place_of(token, "s")

    assert NOT_OURS == caught.value
