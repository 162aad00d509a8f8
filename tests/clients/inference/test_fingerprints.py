"""Definitions are immutable, and their fingerprints are the digests of the service."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sidecheck.inference import get_script_config, tool, tool_config, tool_definition
from sidecheck.inference.fingerprints import fingerprint_of
from sidecheck_server.core.json_values import digest_of


def test_a_definition_cannot_be_modified() -> None:
    """Only copies are returned, and the fingerprint is the digest of the service."""

    @tool(cache_ttl=2.5, category="sums", read_only=False)
    def add(a: int, b: float = 1e-7) -> int:
        return a

    first, config = tool_definition(add), get_script_config(add)
    tool_definition(add)["inputSchema"].clear()
    config["input_schema"].clear()
    tool_config(add).annotations.clear()
    assert first == tool_definition(add)
    assert digest_of(first) == tool_config(add).fingerprint
    assert ("sums", {"readOnlyHint": False}, 2.5) == (
        config["category"],
        config["annotations"],
        config["cache_ttl"],
    )


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(VALUES)
def test_fingerprints_are_the_digests_of_the_service(value: Any) -> None:
    try:
        expected = digest_of(value)
    except UnicodeEncodeError:
        with pytest.raises(UnicodeEncodeError):
            fingerprint_of(value)
        return
    assert expected == fingerprint_of(value)
