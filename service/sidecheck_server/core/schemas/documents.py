"""The documents that references may lead to: those given along, and nothing else."""

from collections.abc import Mapping
from typing import Any

from jsonschema_specifications import REGISTRY as PUBLISHED
from referencing import Registry, Resource

from sidecheck_server.core.schemas.dialects import Dialect
from sidecheck_server.core.words import JsonValue

__all__ = ["SchemaRegistry", "registry_of"]

SchemaRegistry = Registry[Any]


def registry_of(documents: Mapping[str, JsonValue], dialect: Dialect) -> SchemaRegistry:
    """Return a registry of *documents* and the published meta-schemas.

    It retrieves nothing: a reference to anything else fails. A document that does
    not declare a dialect is read in *dialect*, that of the schema it came with.
    """
    registry: SchemaRegistry = PUBLISHED
    return registry.with_resources(
        (uri.removesuffix("#"), Resource.from_contents(contents, dialect.specification))
        for uri, contents in documents.items()
    )
