"""The published meta-schemas: the documents that every reference can lead to."""

from collections.abc import Mapping
from types import MappingProxyType

from jsonschema_specifications import REGISTRY

from sidecheck_server.core.types import JsonValue

__all__ = ["PUBLISHED"]

PUBLISHED: Mapping[str, JsonValue] = MappingProxyType(
    {uri: REGISTRY.contents(uri) for uri in REGISTRY}
)
"""The meta-schemas of all drafts and vocabularies by URI, without an empty fragment."""
