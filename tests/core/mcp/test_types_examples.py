"""Official examples violate no rule of their type."""

from collections.abc import Iterator
from typing import Any

import pytest
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.findings import Findings
from sidecheck_server.core.mcp.methods import find_method
from sidecheck_server.core.mcp.protocol_schemas import check_value
from sidecheck_server.core.mcp.subjects import ReportLimits
from sidecheck_server.core.mcp.types.rendering import TYPES
from sidecheck_server.core.types import Severity
from support.published_types import message_types, official_examples
from support.rule_cases import PROTOCOL_SCHEMAS

_VERSION = "2026-07-28"

# A complete result without the caching hints that "server/utilities/caching" requires.
# The published schema accepts it as an InputRequiredResult, which is open.
_INVALID_EXAMPLES = {
    ("ReadResourceResultResponse", "ReadResourceResult"): [("", "REQUIRED"), ("", "REQUIRED")]
}


def _parts(type_: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the modelled parts of an example: of a message, its params, result or error."""
    methods = {name: method for method, name in message_types(_VERSION).items()}
    if type_ in TYPES:
        yield type_, value
    elif type_ in methods:
        method = find_method(methods[type_], _VERSION)
        assert method is not None
        if "params" in value:
            yield method.params, value["params"]
    elif type_.endswith("ResultResponse"):
        input_required = value["result"]["resultType"] == "input_required"
        yield (
            "InputRequiredResult" if input_required else type_.removesuffix("Response"),
            value["result"],
        )
    else:
        yield "Error", value["error"]
        if f"{type_}Data" in TYPES:
            yield f"{type_}Data", value["error"]["data"]


@pytest.mark.corpus
def test_official_examples_violate_no_rule() -> None:
    examples = official_examples()
    invalid = {}
    parts = 0
    for type_, value in examples:
        for name, part in _parts(type_, value):
            parts += 1
            findings = Findings(Context(_VERSION), ReportLimits(20))
            check_value(part, name, findings, PROTOCOL_SCHEMAS)
            errors = [
                (violation.instance_location, violation.code)
                for violation in findings.verdict().violations
                if violation.severity is Severity.ERROR
            ]
            if errors:
                invalid[type_, name] = errors
    assert _INVALID_EXAMPLES == invalid
    assert (129, 88) == (len(examples), len({type_ for type_, _ in examples}))
    assert parts >= len(examples) - 2


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("type_", "value", "parts"),
    [
        ("Tool", {"name": "a"}, [("Tool", {"name": "a"})]),
        (
            "CallToolRequest",
            {"method": "tools/call", "params": {"name": "a"}},
            [("CallToolRequestParams", {"name": "a"})],
        ),
        (
            "CallToolResultResponse",
            {"result": {"resultType": "input_required"}},
            [("InputRequiredResult", {"resultType": "input_required"})],
        ),
        (
            "UnsupportedProtocolVersionError",
            {"error": {"code": -32022, "data": {}}},
            [
                ("Error", {"code": -32022, "data": {}}),
                ("UnsupportedProtocolVersionErrorData", {}),
            ],
        ),
    ],
)
def test_parts_of_an_example(type_: str, value: Any, parts: list[tuple[str, Any]]) -> None:
    assert parts == list(_parts(type_, value))
