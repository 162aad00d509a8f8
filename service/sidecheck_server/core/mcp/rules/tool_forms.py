"""Forms of tool definitions.

Nulls in place of absent properties, names of properties, roots of output schemas.
`core.mcp.definition_forms` and `core.mcp.check` find the faults. Where definitions are handed
over by their authors, for registration or on the command line, the form is adapted and a
warning says so; in messages of the protocol it is an error.
"""

from sidecheck_server.core.mcp.rules.rule import Clause, Group, RuleSet, type_clause
from sidecheck_server.core.types import Severity

__all__ = [
    "NULL_PROPERTY",
    "NULL_PROPERTY_DROPPED",
    "OUTPUT_SCHEMA_WRAPPED",
    "SNAKE_CASE_PROPERTY",
    "SNAKE_CASE_PROPERTY_RENAMED",
    "WRAP_MARKER_MISMATCH",
]

_TOOL = type_clause("Tool")
_OUTPUT_SCHEMA = Clause("server/tools", "output-schema")
_FASTMCP = Clause("https://gofastmcp.com/servers/tools")

_FORM_RULES = RuleSet(Group.TOOL_FORMS, on="Tool")

NULL_PROPERTY = _FORM_RULES.declare(
    "NULL_PROPERTY",
    Severity.ERROR,
    _TOOL,
    "An optional property of a tool definition MUST be left out rather than null.",
)

NULL_PROPERTY_DROPPED = _FORM_RULES.declare(
    "NULL_PROPERTY_DROPPED",
    Severity.WARNING,
    _TOOL,
    "An optional property should be left out rather than null; a definition that is handed "
    "over is read without it.",
    on=("Tool", "ListToolsResult"),
)

SNAKE_CASE_PROPERTY = _FORM_RULES.declare(
    "SNAKE_CASE_PROPERTY",
    Severity.ERROR,
    _TOOL,
    "The properties of a tool definition MUST have the names of the protocol, such as inputSchema.",
)

SNAKE_CASE_PROPERTY_RENAMED = _FORM_RULES.declare(
    "SNAKE_CASE_PROPERTY_RENAMED",
    Severity.WARNING,
    _TOOL,
    "The properties of a tool definition should have the names of the protocol; a definition "
    "that is handed over is read by them.",
    on=("Tool", "ListToolsResult"),
)

OUTPUT_SCHEMA_WRAPPED = _FORM_RULES.declare(
    "OUTPUT_SCHEMA_WRAPPED",
    Severity.WARNING,
    _OUTPUT_SCHEMA,
    "A server lists output schemas with the type object at the root; an output schema of "
    "another type is wrapped in one.",
    since="2025-06-18",
    until="2025-11-25",
)

WRAP_MARKER_MISMATCH = _FORM_RULES.declare(
    "WRAP_MARKER_MISMATCH",
    Severity.ERROR,
    _FASTMCP,
    "An output schema that is marked as wrapped is an object with that property and no other.",
)
