"""The documents that references may lead to: those given along, and nothing else."""

from collections.abc import Callable, Mapping
from typing import Any

from jsonschema_specifications import REGISTRY as PUBLISHED
from referencing import Registry, Specification

from sidecheck_server.core.words import JsonValue

__all__ = ["SchemaRegistry", "registry_of"]

SchemaRegistry = Registry[Any]


def registry_of(
    documents: Mapping[str, JsonValue], specification_of: Callable[[JsonValue], Specification[Any]]
) -> SchemaRegistry:
    """Return a registry of *documents* and the published meta-schemas.

    It retrieves nothing: a reference to anything else fails. *specification_of*
    says how a document is to be read; one that is no schema is opaque, so that
    references can lead into it by JSON Pointer, and its content is not looked at
    for identifiers.
    """
    registry: SchemaRegistry = PUBLISHED
    return registry.with_resources(
        (uri, specification_of(contents).create_resource(contents))
        for uri, contents in documents.items()
    )
