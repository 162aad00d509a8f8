"""Schemas in tool definitions: that they are schemas, as compiling them tells.

The rules have no checks but one, which asks for the schemas to be compiled. Why a schema
cannot be compiled is told under the code of the refusal; single faults against a
meta-schema have the code of its keyword, as those against the schema of a type.
"""

from collections.abc import Iterator
from typing import Any

from sidecheck_server.core.errors import ErrorReason
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import Clause, DeferredCheck, Rule, rule
from sidecheck_server.core.types import Severity

__all__ = ["RULES", "clause_of", "sentence_of"]

# What is said of schemas: that tools have them, then that they are valid, then more.
# Versions that do not say so much have the nearest that they say.
_USAGE_SINCE = "2025-11-25"
_TOOL = ("2025-06-18", "server/tools", "tool")
_BEFORE = (_TOOL, (_USAGE_SINCE, "basic", "schema-validation"))
_VALID = Clause("basic", "schema-validation", before=(_TOOL,))
_REQUIREMENTS = Clause("basic", "implementation-requirements", before=(_TOOL,))
_REFERENCES = Clause("basic", "ref-resolution", before=_BEFORE)
_RESOURCES = Clause("basic", "composition-keyword-resource-use", before=_BEFORE)

_OUTPUT_SINCE = "2025-06-18"


@rule(
    ErrorReason.INVALID_SCHEMA.value,
    severity=Severity.ERROR,
    clause=_VALID,
    sentence="A schema is valid by its dialect: the one that it declares, or 2020-12.",
    on="Tool",
)
def _valid(tool: Any, context: Context) -> Iterator[DeferredCheck]:
    if not isinstance(tool, dict):
        return
    for member in ("inputSchema", "outputSchema"):
        schema = tool.get(member)
        # What is not an object, and a dialect that is not a string, the shape refuses.
        if not isinstance(schema, dict) or (member == "outputSchema" and not _has_output(context)):
            continue
        if context.version >= _USAGE_SINCE and not isinstance(schema.get("$schema", ""), str):
            continue
        yield DeferredCheck(schema=schema, schema_path=(member,))


def _has_output(context: Context) -> bool:
    return context.version >= _OUTPUT_SINCE


def _refusal(reason: ErrorReason, clause: Clause, sentence: str) -> Rule:
    return Rule(reason.value, Severity.ERROR, clause, sentence, ("Tool",))


RULES: tuple[Rule, ...] = (
    _valid,
    _refusal(
        ErrorReason.UNSUPPORTED_DIALECT,
        _REQUIREMENTS,
        "A schema declares a dialect that is supported, or one whose meta-schema was sent along.",
    ),
    _refusal(
        ErrorReason.UNRESOLVABLE_REFERENCE,
        _REFERENCES,
        "A reference of a schema leads into the schema or a document sent along.",
    ),
    _refusal(
        ErrorReason.REFERENCE_CYCLE,
        _VALID,
        "A reference of a schema does not lead back to itself at the same place of a payload.",
    ),
    _refusal(
        ErrorReason.INVALID_PATTERN,
        _VALID,
        "A pattern of a schema is a regular expression of ECMA-262.",
    ),
    _refusal(
        ErrorReason.UNSUPPORTED_PATTERN,
        _RESOURCES,
        "A pattern of a schema can be matched in linear time.",
    ),
    _refusal(
        ErrorReason.LIMIT_EXCEEDED,
        _RESOURCES,
        "A schema lies within the bounds: size, depth, subschemas, patterns.",
    ),
)
"""INVALID_SCHEMA, and the rules of all other refusals that a schema alone can cause."""

_BY_CODE = {each.code: each for each in RULES}


def clause_of(reason: ErrorReason, version: str) -> str:
    """Return where the rule that a refusal for *reason* tells of stands, in *version*."""
    if reason is ErrorReason.WORKER_CRASHED:
        return ""
    return _BY_CODE.get(reason.value, _valid).clause.at(version)


def sentence_of(reason: ErrorReason) -> str:
    """Return what the rule that a refusal for *reason* tells of says."""
    return _BY_CODE.get(reason.value, _valid).sentence
