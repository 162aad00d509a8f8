"""The keywords that a converted schema can have, before an API says which it takes."""

from sidecheck_server.core.schemas.keywords import KEYWORDS
from sidecheck_server.core.types import Draft

__all__ = ["ANNOTATIONS", "EVERYTHING"]

ANNOTATIONS = frozenset(
    {
        "$comment",
        "contentEncoding",
        "contentMediaType",
        "default",
        "deprecated",
        "description",
        "examples",
        "readOnly",
        "title",
        "writeOnly",
    }
)
"""Keywords that say nothing of validity (2020-12 validation, sections 8 and 9)."""

# References and definitions have facts of their own.
_REFERENCES = frozenset({"$defs", "$dynamicRef", "$ref", "definitions"})
# Kept readable by 2020-12, and none of its keywords (2020-12 core, appendix C).
_OLDER = frozenset({"dependencies"})

EVERYTHING = (frozenset(KEYWORDS[Draft.DRAFT_2020_12]) | ANNOTATIONS) - _REFERENCES - _OLDER
"""The assertions, applicators and annotations of 2020-12."""
