"""Schemas that are valid, and odd all the same: found where schemas are compiled.

What finds them is `core.schemas.remarks`. None is an error: the schema obeys its
meta-schema, and no MUST of the protocol is broken. That no payload can meet a schema is a
warning: a tool's input schema is there to define the parameters that the tool expects.
"""

from collections.abc import Mapping
from types import MappingProxyType

from sidecheck_server.core.mcp.rules.rule import Clause, Rule
from sidecheck_server.core.types import Severity

__all__ = ["BY_CODE", "RULES"]

_TOOL = Clause("server/tools", "tool")

RULES: tuple[Rule, ...] = (
    Rule(
        "BOUNDS_IMPOSSIBLE",
        Severity.WARNING,
        _TOOL,
        "A lower bound in a schema does not lie above the upper one.",
        ("Tool",),
    ),
    Rule(
        "DEFAULT_REFUSED",
        Severity.WARNING,
        Clause("https://json-schema.org/draft/2020-12/json-schema-validation#section-9.2"),
        "A default in a schema is valid under the subschema that has it.",
        ("Tool",),
    ),
    Rule(
        "REQUIRED_IMPOSSIBLE",
        Severity.WARNING,
        _TOOL,
        "A property that a schema requires is one that the object can have.",
        ("Tool",),
    ),
    Rule(
        "VALUES_IMPOSSIBLE",
        Severity.WARNING,
        _TOOL,
        "Of the values that a schema lists, one at least has the type that it demands.",
        ("Tool",),
    ),
)

BY_CODE: Mapping[str, Rule] = MappingProxyType({rule.code: rule for rule in RULES})
"""The rules by the codes of remarks."""
