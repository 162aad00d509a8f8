"""Counting: how large a schema is, in the terms of the limits of APIs."""

from dataclasses import dataclass

from sidecheck_server.core.convert.apis.api import SchemaLimits
from sidecheck_server.core.convert.part import Part

__all__ = ["Counts", "beyond", "counts_of"]


@dataclass(frozen=True, slots=True)
class Counts:
    """How large a schema is."""

    properties: int
    depth: int
    text: int
    enum_values: int
    #: Of the largest enum of more than 250 strings.
    enum_text: int
    #: Members that are not required.
    optional: int
    #: Members whose type is a union.
    unions: int


def counts_of(root: Part) -> Counts:
    """Return the counts of the schema at *root*, which was fitted."""
    raise NotImplementedError


def beyond(counts: Counts, limits: SchemaLimits) -> str:
    """Return which limit *counts* are beyond, for a person, or ""."""
    raise NotImplementedError
