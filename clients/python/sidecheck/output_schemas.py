"""Output schemas of a server's tools, and the results to validate.

Tools and results are decoded JSON or objects of an SDK.
"""

import logging
from collections.abc import Callable, Container, Iterable, Mapping
from typing import Any, Final, NoReturn, TypeAlias

from sidecheck.errors import SidecheckError
from sidecheck.targets import Schema
from sidecheck.validation import ABSENT, Options
from sidecheck.values.error_reasons import ErrorReason
from sidecheck.values.verdict import Severity, Verdict

__all__ = [
    "InvalidToolResult",
    "OutputSchemas",
    "Skip",
    "ToolPages",
    "raise_error",
    "raise_for_verdict",
    "read_field",
]

#: Tools whose results are not checked: their names, or a predicate on names.
Skip: TypeAlias = Container[str] | Callable[[str], bool]

LOG: Final = logging.getLogger("sidecheck.tool_results")

#: Error reasons that mean a broken schema. A valid but unsupported pattern is not broken.
BROKEN_SCHEMA: Final = frozenset(
    {
        ErrorReason.REFERENCE_CYCLE,
        ErrorReason.INVALID_PATTERN,
        ErrorReason.INVALID_SCHEMA,
        ErrorReason.SCHEMA_NOT_JSON,
        ErrorReason.UNRESOLVABLE_REFERENCE,
        ErrorReason.UNSUPPORTED_DIALECT,
    }
)


class InvalidToolResult(RuntimeError):
    """A tool result does not conform to the output schema of its tool.

    The messages are those of the Python SDK. ``verdict`` is None if nothing could be
    validated: the structured content is missing, or the schema is broken.
    """

    def __init__(self, message: str, tool: str, verdict: Verdict | None = None) -> None:
        super().__init__(message)
        self.tool = tool
        self.verdict = verdict


def read_field(value: Any, *names: str) -> Any:
    """Return the first field of *value* that is set, else `ABSENT`.

    Attributes are tried in reverse order: SDKs that renamed attributes emit a deprecation
    warning for the name on the wire. Unset fields of pydantic models are absent.
    """
    if isinstance(value, Mapping):
        return next((value[name] for name in names if name in value), ABSENT)
    for name in reversed(names):
        attribute = getattr(value, name, ABSENT)
        if attribute is None and name not in getattr(value, "model_fields_set", ()):
            return ABSENT
        if attribute is not ABSENT:
            return attribute
    return ABSENT


class ToolPages:
    """The pages of a tools list, as they arrive."""

    def __init__(self) -> None:
        self.schemas: dict[str, Any] = {}
        #: Cursor of the next page; None for the first.
        self.cursor: str | None = None
        self.more = True
        self._cursors: set[str] = set()

    def add(self, page: Any) -> None:
        """Add a page: a ``tools/list`` result, or a list of all tools."""
        tools = read_field(page, "tools")
        self.schemas.update(output_schemas(page if tools is ABSENT else tools))
        cursor = read_field(page, "nextCursor", "next_cursor")
        # Stops at a repeated cursor, which would lead to an endless loop.
        self.more = isinstance(cursor, str) and cursor not in self._cursors
        if self.more:
            self.cursor = cursor
            self._cursors.add(cursor)


def output_schemas(tools: Iterable[Any]) -> dict[str, Any]:
    """Return the output schemas of *tools* by name, None for tools without one."""
    schemas = {}
    for tool in tools:
        name = read_field(tool, "name")
        schema = read_field(tool, "outputSchema", "output_schema")
        if isinstance(name, str):
            schemas[name] = None if schema is ABSENT else schema
    return schemas


class OutputSchemas:
    """The output schemas of the tools of a server."""

    def __init__(self, skip: Skip, options: Options | None) -> None:
        self._skip = skip
        self._options = options
        self._schemas: dict[str, Any] = {}

    def learn(self, tools: Any) -> None:
        """Add tools from another list: a ``tools/list`` result, or a list of tools."""
        pages = ToolPages()
        pages.add(tools)
        self._schemas = {**self._schemas, **pages.schemas}

    def forget(self) -> None:
        """Remove all tools, because the server's list has changed."""
        self._schemas = {}

    def _skips(self, name: str, result: Any) -> bool:
        """Return whether *result* is not to be checked."""
        if read_field(result, "isError", "is_error") is True:
            return True
        return self._skip(name) if callable(self._skip) else name in self._skip

    def _select(self, name: str, result: Any) -> tuple[Schema, Any] | None:
        """Return the schema and the structured content to validate, or None.

        Raises:
            InvalidToolResult: The structured content is missing.
        """
        if name not in self._schemas:
            LOG.warning(
                "Tool %s not listed by server, cannot validate any structured content", name
            )
            return None
        schema = self._schemas[name]
        if schema is None:
            return None
        content = read_field(result, "structuredContent", "structured_content")
        if content is ABSENT:
            raise InvalidToolResult(
                f"Tool {name} has an output schema but did not return structured content", name
            )
        return Schema(schema), content


def raise_error(name: str, error: SidecheckError) -> NoReturn:
    """Raise *error* of a validation as an error for a result of the tool *name*.

    Raises:
        InvalidToolResult: The schema is broken.
        SidecheckError: *error* itself, for any other reason.
    """
    if error.reason in BROKEN_SCHEMA:
        raise InvalidToolResult(f"Invalid schema for tool {name}: {error.message}", name) from error
    raise error


def raise_for_verdict(name: str, verdict: Verdict) -> None:
    """Raise if *verdict*, on a result of the tool *name*, is invalid.

    Raises:
        InvalidToolResult: The verdict is invalid.
    """
    if verdict.valid:
        return
    errors = [v for v in verdict.violations if v.severity is Severity.ERROR]
    messages = "; ".join(
        f"{error.instance_location}: {error.message}" if error.instance_location else error.message
        for error in errors
    )
    raise InvalidToolResult(
        f"Invalid structured content returned by tool {name}: {messages}", name, verdict
    )
