"""Rules on the schemas of tools.

Compiling a schema finds the faults; the only rule with a check defers the compilation. The code
of the violation is the reason of the compilation error, or, for faults against the meta-schema,
the keyword, as for values of the protocol's types.

Only an invalid schema breaks a MUST. Other reasons why a schema does not compile are warnings:
clients should reject the tool (`core.mcp.tool_outcomes`), but servers may list it. A schema
that exceeds a limit is an error nevertheless, since its check did not finish.

Schema warnings (`core.compiler.schema_warnings`) are not errors: the schema conforms to its
meta-schema and breaks no MUST of the protocol. A schema that no payload satisfies is a warning,
since it fails to describe the expected parameters.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from sidecheck_server.core.errors import ErrorReason
from sidecheck_server.core.mcp.context import Context, has_structured_content
from sidecheck_server.core.mcp.rules.rule import Clause, DeferredCheck, Group, Rule, RuleSet
from sidecheck_server.core.types import Severity

__all__ = [
    "WARNINGS_BY_CODE",
    "schema_error_requirement",
    "schema_error_severity",
    "schema_error_url",
]

# Versions before 2025-11-25 only require tools to have schemas, 2025-11-25 also requires valid
# schemas, and later versions require more. Each rule cites the closest requirement of a version.
_SCHEMA_USAGE_SINCE = "2025-11-25"
_TOOL_BEFORE = ("2025-06-18", "server/tools", "tool")
_BEFORE = (_TOOL_BEFORE, (_SCHEMA_USAGE_SINCE, "basic", "schema-validation"))
_VALIDATION = Clause("basic", "schema-validation", before=(_TOOL_BEFORE,))
_IMPLEMENTATION = Clause("basic", "implementation-requirements", before=(_TOOL_BEFORE,))
_REFERENCES = Clause("basic", "ref-resolution", before=_BEFORE)
_RESOURCES = Clause("basic", "composition-keyword-resource-use", before=_BEFORE)
_TOOL = Clause("server/tools", "tool")

_ERROR_RULES = RuleSet(Group.TOOL_SCHEMAS, on="Tool")
"""INVALID_SCHEMA, and rules for all other errors of a schema."""


@_ERROR_RULES.rule(
    ErrorReason.INVALID_SCHEMA.value,
    Severity.ERROR,
    _VALIDATION,
    "A schema MUST be valid in its dialect: the one that it declares, or 2020-12.",
)
def _valid_schemas(tool: Any, context: Context) -> Iterator[DeferredCheck]:
    if not isinstance(tool, dict):
        return
    for name in ("inputSchema", "outputSchema"):
        schema = tool.get(name)
        # The schema of the type rejects schemas of other types, and dialects of other types.
        if not isinstance(schema, dict):
            continue
        if name == "outputSchema" and not has_structured_content(context.version):
            continue
        if context.version >= _SCHEMA_USAGE_SINCE and not isinstance(
            schema.get("$schema", ""), str
        ):
            continue
        yield DeferredCheck(schema=schema, schema_path=(name,))


_ERROR_RULES.declare(
    ErrorReason.UNSUPPORTED_DIALECT.value,
    Severity.WARNING,
    _IMPLEMENTATION,
    "A schema SHOULD declare a supported dialect, or one whose meta-schema is sent along: it "
    "may declare any dialect, and clients report those that they do not support.",
)
_ERROR_RULES.declare(
    ErrorReason.UNRESOLVABLE_REFERENCE.value,
    Severity.WARNING,
    _REFERENCES,
    "A reference SHOULD lead into the schema or a document that is sent along: clients should "
    "reject a schema with an unresolvable reference.",
)
_ERROR_RULES.declare(
    ErrorReason.REFERENCE_CYCLE.value,
    Severity.WARNING,
    Clause("https://json-schema.org/draft/2020-12/json-schema-core#section-9.4.1"),
    "A reference SHOULD NOT lead back to itself at the same place of a payload.",
)
_ERROR_RULES.declare(
    ErrorReason.INVALID_PATTERN.value,
    Severity.WARNING,
    Clause("https://json-schema.org/draft/2020-12/json-schema-validation#section-6.3.3"),
    "A pattern SHOULD be a regular expression of ECMA-262.",
)
_ERROR_RULES.declare(
    ErrorReason.UNSUPPORTED_PATTERN.value,
    Severity.WARNING,
    _RESOURCES,
    "It SHOULD be possible to match a pattern in linear time.",
)
_ERROR_RULES.declare(
    ErrorReason.LIMIT_EXCEEDED.value,
    Severity.ERROR,
    _RESOURCES,
    "A schema MUST be within the limits of size, depth, subschemas and patterns.",
)

_WARNING_RULES = RuleSet(Group.TOOL_SCHEMAS, on="Tool")
_WARNING_RULES.declare(
    "BOUNDS_IMPOSSIBLE",
    Severity.WARNING,
    _TOOL,
    "A lower bound of a schema SHOULD NOT be above the upper bound.",
)
_WARNING_RULES.declare(
    "DEFAULT_REFUSED",
    Severity.WARNING,
    Clause("https://json-schema.org/draft/2020-12/json-schema-validation#section-9.2"),
    "A default SHOULD be valid against the subschema that has it.",
)
_WARNING_RULES.declare(
    "DIALECT_IGNORED",
    Severity.WARNING,
    Clause("https://json-schema.org/draft/2020-12/json-schema-core#section-8.1.1"),
    "A subschema SHOULD NOT declare another dialect unless it has a URI of its own.",
)
_WARNING_RULES.declare(
    "REQUIRED_IMPOSSIBLE",
    Severity.WARNING,
    _TOOL,
    "A property that a schema requires SHOULD be one that the object can have.",
)
_WARNING_RULES.declare(
    "VALUES_IMPOSSIBLE",
    Severity.WARNING,
    _TOOL,
    "At least one of the values that a schema lists SHOULD have the type that it requires.",
)

WARNINGS_BY_CODE: Mapping[str, Rule] = MappingProxyType(
    {rule.code: rule for rule in _WARNING_RULES}
)
"""Rules by the codes of schema warnings."""

_ERRORS_BY_CODE = {rule.code: rule for rule in _ERROR_RULES}


def schema_error_url(code: str, version: str) -> str:
    """Return the URL of the rule for schema errors with the reason *code*, or ""."""
    if code == ErrorReason.WORKER_CRASHED.value:
        return ""
    return _ERRORS_BY_CODE.get(code, _valid_schemas).spec_url(version)


def schema_error_severity(code: str) -> Severity:
    """Return the severity of schema errors of the reason *code*."""
    return _ERRORS_BY_CODE.get(code, _valid_schemas).severity


def schema_error_requirement(code: str) -> str:
    """Return the requirement of the rule for schema errors of the reason *code*."""
    return _ERRORS_BY_CODE.get(code, _valid_schemas).requirement
