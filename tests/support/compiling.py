"""Compilation and evaluation of schemas from Python values."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from sidecheck_server.core.compiler.compilation import CompiledSchema, compile_schema
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.schemas.dialects import (
    DEFAULT_DIALECT,
    DIALECTS,
    Dialect,
    SchemaSource,
    dialect_of,
)
from sidecheck_server.core.schemas.references import Survey, survey_schema
from sidecheck_server.core.schemas.resources import Resources
from sidecheck_server.core.types import Document

__all__ = [
    "D04",
    "D06",
    "D07",
    "D2019",
    "D2020",
    "LIMITS",
    "compile_value",
    "dialect",
    "evaluate_all",
    "schema_error",
    "source_of",
    "survey_of",
]

D2020, D2019, D07, D06, D04 = DIALECTS
LIMITS = Limits()


def dialect(name: str) -> Dialect:
    """Return the supported dialect with that short name."""
    return next(dialect for dialect in DIALECTS.values() if dialect.name == name)


def source_of(
    schema: Any, documents: Mapping[str, Any] | None = None, **options: Any
) -> SchemaSource:
    """Return the source of *schema* with its *documents*, each a value or a text."""
    sent_documents = tuple(Document(uri, _text(value)) for uri, value in (documents or {}).items())
    return SchemaSource(_text(schema), sent_documents, **options)


def compile_value(
    schema: Any,
    documents: Mapping[str, Any] | None = None,
    *,
    limits: Limits = LIMITS,
    **options: Any,
) -> CompiledSchema:
    """Return the compiled *schema*."""
    source = source_of(schema, documents, **options)
    return CompiledSchema(source, compile_schema(source, limits), limits)


def schema_error(
    schema: Any, documents: Mapping[str, Any] | None = None, **options: Any
) -> RequestError:
    """Return the error that compiling *schema* raises; fail if it raises none."""
    with pytest.raises(RequestError) as error:
        compile_value(schema, documents, **options)
    return error.value


def evaluate_all(
    schema: Any, payloads: list[Any], documents: Mapping[str, Any] | None = None, **options: Any
) -> list[bool]:
    """Return whether each payload is valid, after both engines agreed on it."""
    compiled = compile_value(schema, documents, **options)
    message = [compiled.complete.is_valid(payload) for payload in payloads]
    if compiled.fast is not None:
        assert message == [compiled.fast.is_valid(payload) for payload in payloads]
    return message


def survey_of(schema: Any, documents: Mapping[str, Any] | None = None) -> Survey:
    """Return the survey of *schema*, unchecked against any meta-schema."""
    sent_documents = documents or {}

    def find(resource: Any, outer_dialect: Dialect) -> Dialect:
        return dialect_of(resource, outer_dialect, sent_documents.get)

    resources = Resources(schema, find(schema, DEFAULT_DIALECT), sent_documents, find)
    return survey_schema(resources, lambda _resource: None, LIMITS)


def _text(value: Any) -> bytes:
    return value if isinstance(value, bytes) else json.dumps(value).encode()
