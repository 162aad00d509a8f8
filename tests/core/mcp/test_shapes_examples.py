"""The official examples keep every rule of their type."""

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

# A complete result without the caching hints that "server/utilities/caching" demands of
# it. The published schema takes it for an open InputRequiredResult.
_AGAINST_THE_TEXT = {
    ("ReadResourceResultResponse", "ReadResourceResult"): [("", "REQUIRED"), ("", "REQUIRED")]
}


def _parts(type_: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parts of an example whose types have shapes: of a message, what it carries."""
    methods = {name: method for method, name in message_types(_VERSION).items()}
    if type_ in TYPES:
        yield type_, value
    elif type_ in methods:
        method = find_method(methods[type_], _VERSION)
        assert method is not None
        if "params" in value:
            yield method.params, value["params"]
    elif type_.endswith("ResultResponse"):
        asks = value["result"]["resultType"] == "input_required"
        yield (
            "InputRequiredResult" if asks else type_.removesuffix("Response"),
            value["result"],
        )
    else:
        yield "Error", value["error"]
        if f"{type_}Data" in TYPES:
            yield f"{type_}Data", value["error"]["data"]


@pytest.mark.corpus
def test_every_example_keeps_the_rules_of_its_type() -> None:
    examples = official_examples()
    broken = {}
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
                broken[type_, name] = errors
    assert _AGAINST_THE_TEXT == broken
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
def test_an_example_is_taken_apart(type_: str, value: Any, parts: list[tuple[str, Any]]) -> None:
    assert parts == list(_parts(type_, value))
