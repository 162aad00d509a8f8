"""Splits a text into tool definitions, and reports an outcome for each of them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import msgspec

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits, limit_exceeded_error
from sidecheck_server.core.mcp.check import CheckReport
from sidecheck_server.core.mcp.context import DEFAULT_VERSION
from sidecheck_server.core.mcp.findings import Findings
from sidecheck_server.core.mcp.rules.names import NO_DUPLICATES
from sidecheck_server.core.mcp.rules.rule import Clause, Fault
from sidecheck_server.core.mcp.subjects import ProtocolMessage, ToolList
from sidecheck_server.core.mcp.tool_definitions import duplicate_names
from sidecheck_server.core.payload import MalformedError, decode, encode_json, nesting_depth
from sidecheck_server.core.types import Severity, Verdict, Violation

__all__ = [
    "CheckedTool",
    "Disposition",
    "ListedTool",
    "ToolsList",
    "read_tools_list",
    "tool_outcomes",
]

_SPEC_URL = Clause("server/tools", "listing-tools").url(DEFAULT_VERSION)

_READABLE_DEPTH = 400
"""Largest nesting of a text that is split; deeper texts overflow the stack of decoders.

It exceeds the limits, so that a tool that nests too deep is rejected individually.
"""


@dataclass(frozen=True, slots=True)
class ListedTool:
    """One tool definition of a text."""

    #: JSON Pointer to it in the text.
    pointer: str
    #: Its JSON text, byte for byte.
    json: bytes


@dataclass(frozen=True, slots=True)
class ToolsList:
    """Tool definitions of a text, and the result or message that contains them."""

    #: The unchecked definitions, in order.
    tools: tuple[ListedTool, ...]
    #: The result or message, with an empty list of tools. None if the text has only
    #: definitions.
    container: ToolList | ProtocolMessage | None = None


def read_tools_list(text: bytes, limits: Limits) -> ToolsList:
    """Split *text* into tool definitions and their container.

    *text* is one tool definition, a list of them, or a ``tools/list`` result, on its own or
    in its JSON-RPC response.

    Raises:
        RequestError: INVALID_TOOL, with a violation for each fault outside the definitions;
            LIMIT_EXCEEDED if *text* nests too deep to be split or has too many definitions.
    """
    depth = nesting_depth(text)
    if depth > max(_READABLE_DEPTH, limits.schema_depth):
        raise limit_exceeded_error(
            "schema_depth", limits.schema_depth, "arrays and objects nest too deep", depth
        )
    faults: tuple[Violation, ...] = ()
    try:
        decode(text, max_depth=depth)
    except MalformedError as error:
        faults = error.violations
        # A text with other faults cannot be split.
        if any(fault.code != "DUPLICATE_KEY" for fault in faults):
            raise _build_error(faults) from None
    tools_list = _split(text, limits)
    # A duplicate key in a definition is a fault of that definition alone.
    pointers = frozenset(tool.pointer for tool in tools_list.tools)
    outer_faults = tuple(fault for fault in faults if not _is_within(fault, pointers))
    if outer_faults:
        raise _build_error(outer_faults)
    return tools_list


def _split(text: bytes, limits: Limits) -> ToolsList:
    value = _split_value(text)
    if isinstance(value, list):
        return ToolsList(_split_tools(text, "", limits))
    properties = value if isinstance(value, dict) else {}
    if "inputSchema" not in properties:
        if "tools" in properties:
            tools, container_text = _split_result(properties, "", limits)
            return ToolsList(tools, ToolList(container_text))
        if "result" in properties:
            tools, container_text = _split_result(
                _split_value(bytes(properties["result"])), "/result", limits
            )
            response = encode_json({**properties, "result": msgspec.Raw(container_text)})
            return ToolsList(tools, ProtocolMessage(response, request_method="tools/list"))
        if "jsonrpc" in properties:
            raise _build_error((_build_fault("", "TOOLS_MISSING", "the message has no result"),))
    return ToolsList((ListedTool("", text.strip()),))


def _split_result(value: Any, pointer: str, limits: Limits) -> tuple[tuple[ListedTool, ...], bytes]:
    """Return the tools of *value*, a result at *pointer*, and its text without them."""
    if not isinstance(value, dict) or "tools" not in value:
        raise _build_error(
            (_build_fault(pointer, "TOOLS_MISSING", 'the result has no property "tools"'),)
        )
    tools = _split_tools(bytes(value["tools"]), f"{pointer}/tools", limits)
    return tools, encode_json({**value, "tools": []})


def _split_value(text: bytes) -> list[msgspec.Raw] | dict[str, msgspec.Raw] | None:
    """Return the items or properties of the JSON *text* as texts, None for scalars.

    Texts preserve numbers that a double cannot represent.
    """
    if not text.lstrip().startswith((b"[", b"{")):
        return None
    return msgspec.json.decode(text, type=list[msgspec.Raw] | dict[str, msgspec.Raw])


def _split_tools(text: bytes, pointer: str, limits: Limits) -> tuple[ListedTool, ...]:
    value = _split_value(text)
    if not isinstance(value, list):
        raise _build_error(
            (
                _build_fault(
                    pointer, "TOOLS_NOT_A_LIST", '"tools" must be an array of tool definitions'
                ),
            )
        )
    if len(value) > limits.batch_items:
        raise limit_exceeded_error("batch_items", limits.batch_items, "the tools", len(value))
    return tuple(ListedTool(f"{pointer}/{index}", bytes(item)) for index, item in enumerate(value))


def _is_within(fault: Violation, pointers: frozenset[str]) -> bool:
    """Return whether *fault* is located at or below one of *pointers*."""
    location = fault.instance_location
    while location not in pointers:
        if not location:
            return False
        location = location.rpartition("/")[0]
    return True


def _build_fault(location: str, code: str, message: str) -> Violation:
    return Violation(location, "", "", code, message, spec_url=_SPEC_URL)


def _build_error(faults: tuple[Violation, ...]) -> RequestError:
    first_fault = faults[0]
    return RequestError(
        ErrorReason.INVALID_TOOL,
        f"invalid list of tools: {first_fault.message}",
        {"code": first_fault.code, "pointer": first_fault.instance_location},
        faults,
    )


class Disposition(StrEnum):
    """Handling of a tool by a client that follows the specification."""

    #: Use the tool.
    KEEP = "keep"
    #: Use the tool; it has warnings.
    WARN = "warn"
    #: Ignore the tool, and use the other tools. It has errors or a schema that cannot be
    #: compiled, which clients should reject (2026-07-28, basic#ref-resolution).
    DROP = "drop"


_DISPOSITIONS = {Severity.ERROR: Disposition.DROP, Severity.WARNING: Disposition.WARN}


@dataclass(frozen=True, slots=True)
class CheckedTool:
    """Outcome of the check of one tool definition."""

    #: Name of the tool, or "".
    name: str
    #: JSON Pointer to the definition in the text that lists the tools.
    pointer: str
    #: Verdict with instance locations relative to the definition.
    verdict: Verdict
    disposition: Disposition

    @property
    def ok(self) -> bool:
        """Whether registration accepts the tool: no errors, and schemas that compile."""
        return self.disposition is not Disposition.DROP


# Decision 0027: registration, CheckTools and `sidecheck check` share this check.
def tool_outcomes(
    reports: Sequence[CheckReport], pointers: Iterable[str], duplicate_message: str
) -> Iterator[CheckedTool]:
    """Yield the outcome of each tool of a list, with definitions at *pointers*.

    A tool whose name is not unique gets a violation with *duplicate_message*.
    """
    duplicates = duplicate_names(report.name for report in reports)
    for report in reports:
        if report.name in duplicates:
            report.findings.report(NO_DUPLICATES, (), Fault(("name",), duplicate_message))
    for report, pointer in zip(reports, pointers, strict=True):
        findings = report.findings
        disposition = _choose_disposition(findings)
        yield CheckedTool(report.name, pointer, findings.verdict(), disposition)


def _choose_disposition(findings: Findings) -> Disposition:
    if findings.has_unusable_schema:
        return Disposition.DROP
    severity = findings.highest_severity
    return _DISPOSITIONS.get(severity, Disposition.KEEP) if severity else Disposition.KEEP
