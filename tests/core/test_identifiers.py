"""Identifiers: which texts may name a part of a schema."""

import pytest
from sidecheck_server.core.schemas.dialects import DEFAULT_DIALECT, STANDARD_DIALECTS
from sidecheck_server.core.schemas.resources import may_declare_identifiers
from sidecheck_server.core.types import Draft

DRAFT_04 = STANDARD_DIALECTS[Draft.DRAFT_04]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(b'{"$id":"urn:a"}', id="$id"),
        pytest.param(b'{"$defs":{"a":{"$anchor":"b"}}}', id="$anchor"),
        pytest.param(b'{"$dynamicAnchor":"b"}', id="$dynamicAnchor"),
        pytest.param(b'{"\\u0024id":"urn:a"}', id="$id, escaped"),
        pytest.param(b'{"$defs":{"a":{"$schema":"urn:d","id":"urn:a"}}}', id="id beside $schema"),
    ],
)
def test_a_text_that_may_declare_identifiers(text: bytes) -> None:
    assert may_declare_identifiers(text, DEFAULT_DIALECT)


def test_id_is_a_keyword_of_draft_4_only() -> None:
    """In other drafts a property with that name has no effect."""
    text = b'{"properties":{"id":{"type":"string"}}}'

    assert not may_declare_identifiers(text, DEFAULT_DIALECT)
    assert may_declare_identifiers(text, DRAFT_04)
