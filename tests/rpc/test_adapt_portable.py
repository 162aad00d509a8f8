"""AdaptTool with a portable form: registered tools, calls that come back, and proofs."""

import json
from typing import Any

import pytest
from sidecheck import BlockingClient, DefinitionDigest, Portability, RegisteredTool, ToolDefinition
from sidecheck.conversion import ConvertedTool
from sidecheck_server.core.convert.providers.mcp import DEFAULT_TARGETS
from sidecheck_server.core.functions import make_portable
from support.running import RunningServer

TOOL: Any = {
    "name": "search/all",
    "title": "Search",
    "description": "Searches.",
    "inputSchema": {
        "type": "object",
        "properties": {"filter": {"type": "object"}, "the size": {"type": "integer"}},
        "required": ["filter"],
    },
    "outputSchema": {"type": "array", "items": {"type": "string"}},
}
CALL: Any = {"name": "search_all", "arguments": {"filter": '{"a": 1}', "the_size": 2}}
ORIGINAL: Any = {"name": "search/all", "arguments": {"filter": {"a": 1}, "the size": 2}}
PORTABLE = Portability()


@pytest.fixture(scope="module")
def client(shared_server: RunningServer) -> Any:
    """A client, with the tool registered for the server `portable`."""
    with BlockingClient(shared_server.address, timeout=120) as client:
        client.register("portable", [TOOL])
        yield client


def test_calls_of_a_registered_tool_come_back(client: Any) -> None:
    """The mapping alone names the server and the definition."""
    adapted = client.inference.adapt_tool(
        RegisteredTool("portable", TOOL["name"]), portable=PORTABLE
    )
    call = client.conversion.convert_tool_call(CALL, adapted.portable.mapping)

    assert ("portable", ORIGINAL, True) == (
        call.server,
        call.call_params.value,
        call.verdict.valid,
    )


def test_calls_of_an_inline_tool_come_back(client: Any) -> None:
    adapted = client.inference.adapt_tool(TOOL, portable=PORTABLE)
    call = client.conversion.convert_tool_call(
        CALL, adapted.portable.mapping, tool=ToolDefinition(TOOL)
    )

    assert (ORIGINAL, True) == (call.call_params.value, call.verdict.valid)


@pytest.mark.parametrize("targets", [(), ("anthropic",), ("cursor", "openai", "cursor")])
def test_the_form_is_that_of_the_core(client: Any, targets: tuple[str, ...]) -> None:
    """Definition, losses and mapping; of a digest as of a definition."""
    (core,) = make_portable([json.dumps(TOOL).encode()], targets or DEFAULT_TARGETS, "2025-11-25")
    digest = client.get("portable", TOOL["name"]).definition_digest
    adapted = client.inference.adapt_tool(
        DefinitionDigest(digest), "2025-11-25", portable=Portability(targets=targets)
    )

    assert json.loads(core.json) == adapted.definition  # type: ignore[union-attr]
    assert [tuple(loss) for loss in core.losses] == [  # type: ignore[union-attr]
        (loss.pointer, loss.keyword, loss.action, loss.effect, loss.message)
        for loss in adapted.portable.losses
    ]


def test_default_targets_are_those_of_a_conversion_to_mcp(client: Any) -> None:
    """Except that a conversion prefixes no description and adapts no output schema."""
    adapted = client.inference.adapt_tool(TOOL, "2026-07-28", portable=PORTABLE)
    (conversion,) = client.conversion.convert_tools("mcp", [TOOL]).conversions

    assert isinstance(conversion.outcome, ConvertedTool)
    assert (conversion.outcome.mapping, conversion.outcome.losses) == (
        adapted.portable.mapping,
        adapted.portable.losses,
    )


def test_the_version_of_results_counts(client: Any) -> None:
    """A wrapped result is the same for the proof as for the version alone."""
    outcomes = {}
    for version in ("2024-11-05", "2025-11-25", "2026-07-28"):
        plain = client.inference.adapt_tool(TOOL, version)
        adapted = client.inference.adapt_tool(TOOL, version, portable=Portability(prove=True))
        assert plain.definition.get("outputSchema") == adapted.definition.get("outputSchema")
        assert plain.wrapped_property == adapted.wrapped_property
        assert plain.dropped_properties == adapted.dropped_properties
        outcomes[version] = adapted.portable.proof.outcome

    assert {"wider"} == set(outcomes.values())


def test_a_tool_without_portable_has_no_form(client: Any) -> None:
    assert client.inference.adapt_tool(TOOL).portable is None
