"""The schemas of real tools compile, and nearly all of them for the fast engine."""

import pytest
from agreement.corpus import compiled_schemas, tool_schemas
from sidecheck_server.core.compiler.compilation import Artifact
from sidecheck_server.core.errors import ErrorReason, RequestError

LEAST_FAST = 0.995


def test_every_valid_schema_compiles() -> None:
    """No schema that is recorded as valid is rejected."""
    artifacts = compiled_schemas()
    valid = [schema.name for schema in tool_schemas() if schema.recorded_valid]

    assert len(valid) > 5000
    assert [] == [
        (name, str(artifacts[name])) for name in valid if isinstance(artifacts[name], RequestError)
    ]


def test_every_broken_schema_is_rejected_as_such() -> None:
    """A schema that is recorded as breaking its meta-schema is INVALID_SCHEMA."""
    artifacts = compiled_schemas()
    invalid = [schema.name for schema in tool_schemas() if not schema.recorded_valid]
    reasons = {name: getattr(artifacts[name], "reason", "compiled") for name in invalid}

    assert len(invalid) > 0
    assert dict.fromkeys(invalid, ErrorReason.INVALID_SCHEMA) == reasons


def test_the_oracle_agrees_on_which_schemas_are_valid() -> None:
    """jsonschema-rs finds the same schemas to keep their meta-schema."""
    artifacts = compiled_schemas()

    assert [] == [
        schema.name
        for schema in tool_schemas()
        if schema.question.edition.oracle_admits(schema.question.schema)
        != isinstance(artifacts[schema.name], Artifact)
    ]


def test_nearly_every_schema_runs_on_the_fast_engine(capsys: pytest.CaptureFixture[str]) -> None:
    """At least 99.5 % of the schemas that compile have code for the fast engine."""
    artifacts = [
        artifact for artifact in compiled_schemas().values() if isinstance(artifact, Artifact)
    ]
    fast = sum(artifact.fast is not None for artifact in artifacts)
    with capsys.disabled():
        print(f"\n{fast:,} of {len(artifacts):,} real schemas run on the fast engine")

    assert fast / len(artifacts) >= LEAST_FAST
