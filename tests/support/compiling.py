"""Schemas as Python values, compiled, for tests of what happens on the way."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from sidecheck_server.core.compiler.compilation import compile_source
from sidecheck_server.core.compiler.compiled_schema import CompiledSchema
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.schemas.dialects import DEFAULT_DIALECT, DIALECTS, Dialect, dialect_of
from sidecheck_server.core.schemas.references import Survey, survey
from sidecheck_server.core.schemas.resources import Resources
from sidecheck_server.core.schemas.source import SchemaSource
from sidecheck_server.core.types import Document

__all__ = [
    "D04",
    "D06",
    "D07",
    "D2019",
    "D2020",
    "LIMITS",
    "compiled",
    "dialect",
    "judges",
    "refused",
    "source_of",
    "survey_of",
]

D2020, D2019, D07, D06, D04 = DIALECTS
LIMITS = Limits()


def dialect(name: str) -> Dialect:
    """Return the supported dialect of that short name."""
    return next(one for one in DIALECTS.values() if one.name == name)


def source_of(schema: Any, documents: Mapping[str, Any] | None = None, **more: Any) -> SchemaSource:
    """Return the source of *schema* with its *documents*, each a value or a text."""
    sent = tuple(Document(uri, _text(value)) for uri, value in (documents or {}).items())
    return SchemaSource(_text(schema), sent, **more)


def compiled(
    schema: Any,
    documents: Mapping[str, Any] | None = None,
    *,
    limits: Limits = LIMITS,
    **more: Any,
) -> CompiledSchema:
    """Return *schema*, compiled."""
    source = source_of(schema, documents, **more)
    return CompiledSchema(source, compile_source(source, limits), limits)


def refused(schema: Any, documents: Mapping[str, Any] | None = None, **more: Any) -> RequestError:
    """Return the refusal of *schema*; fail if there is none."""
    with pytest.raises(RequestError) as refusal:
        compiled(schema, documents, **more)
    return refusal.value


def judges(
    schema: Any, payloads: list[Any], documents: Mapping[str, Any] | None = None, **more: Any
) -> list[bool]:
    """Return whether each payload is valid, after both engines agreed on it."""
    ready = compiled(schema, documents, **more)
    said = [ready.complete.is_valid(payload) for payload in payloads]
    if ready.fast is not None:
        assert said == [ready.fast.is_valid(payload) for payload in payloads]
    return said


def survey_of(schema: Any, documents: Mapping[str, Any] | None = None) -> Survey:
    """Return the survey of *schema*, unchecked against any meta-schema."""
    sent = documents or {}

    def find(found: Any, around: Dialect) -> Dialect:
        return dialect_of(found, around, sent.get)

    resources = Resources(schema, find(schema, DEFAULT_DIALECT), sent, find)
    return survey(resources, lambda _found: None, LIMITS)


def _text(value: Any) -> bytes:
    return value if isinstance(value, bytes) else json.dumps(value).encode()
