"""Facts about MCP clients and SDKs."""

from sidecheck_server.core.convert.providers.anthropic import MESSAGES
from sidecheck_server.core.convert.providers.provider import Source
from sidecheck_server.core.portability import naming_hazards as naming
from sidecheck_server.core.portability import schema_hazards as hazards
from sidecheck_server.core.portability.facts import Effect, Fact
from sidecheck_server.core.portability.target import Target

__all__ = ["FACTS"]

_BOOLEANS = Source(
    "true as the schema of a property",
    "https://github.com/modelcontextprotocol/inspector/issues/1005",
    "2026-08-25",
)
_CLAUDE_CODE_ROOT = Source(
    "a root that is not an object",
    "https://github.com/anthropics/claude-code/issues/88049",
    "2026-08-19",
)
_CLAUDE_CODE_COMBINATORS = Source(
    "combinators and conditions at the root",
    "https://github.com/anthropics/claude-code/issues/95504",
    "2026-11-22",
)
_CLAUDE_CODE_OUTPUT = Source(
    "an output schema that is not an object",
    "https://github.com/Wynelson94/longhand/issues/9",
    "2026-05-22",
)
_CLAUDE_CODE_DIALECT = Source(
    "output schemas of draft 7",
    "https://github.com/anthropics/claude-code/issues/88882",
    "2026-08-22",
)
_CLAUDE_NAMES = Source(
    "names of server and tool together",
    "https://github.com/sparfenyuk/mcp-proxy/issues/45",
    "2025-04-08",
)
_VSCODE_ITEMS = Source(
    "items of arrays", "https://github.com/microsoft/vscode/issues/284536", "2025-12-19"
)
_CURSOR_NAMES = Source(
    "names of server and tool together",
    "https://github.com/ComposioHQ/composio/issues/2788",
    "2026-02-27",
)
_SDK_1_TYPES = Source(
    "types of a tool", "@modelcontextprotocol/sdk 1.30.0, types.js, ToolSchema", "2026-08-25"
)
_SDK_2_DIALECT = Source(
    "dialects of output schemas",
    "https://github.com/modelcontextprotocol/typescript-sdk/issues/2532, until pull request 2534",
    "2026-07-22",
)

_SDK_1_CLIENTS = (
    (Target.TYPESCRIPT_SDK_1, _SDK_1_TYPES, _SDK_1_TYPES, _SDK_1_TYPES),
    (Target.CLAUDE_CODE, _CLAUDE_CODE_ROOT, _CLAUDE_CODE_OUTPUT, _BOOLEANS),
)

FACTS: tuple[Fact, ...] = (
    *(
        fact
        for target, root, output, booleans in _SDK_1_CLIENTS
        for fact in (
            Fact(target, hazards.ROOT_WITHOUT_OBJECT_TYPE, Effect.LIST_REFUSED, root),
            Fact(target, hazards.OUTPUT_ROOT_NOT_OBJECT, Effect.LIST_REFUSED, output),
            Fact(target, hazards.BOOLEAN_PROPERTY_SCHEMA, Effect.LIST_REFUSED, booleans),
        )
    ),
    Fact(
        Target.CLAUDE_CODE,
        hazards.root_keyword(MESSAGES.compatible.not_at_root | {"if", "then", "else"}),
        Effect.TOOL_DROPPED,
        _CLAUDE_CODE_COMBINATORS,
    ),
    Fact(Target.CLAUDE_CODE, hazards.OUTPUT_DIALECT, Effect.CALLS_FAIL, _CLAUDE_CODE_DIALECT),
    Fact(
        Target.CLAUDE_CODE,
        naming.long_combined_name(64, lambda server, tool: f"mcp__{server}__{tool}"),
        Effect.TOOL_DROPPED,
        _CLAUDE_NAMES,
    ),
    Fact(Target.VSCODE, hazards.ARRAY_WITHOUT_ITEMS, Effect.TOOL_DROPPED, _VSCODE_ITEMS),
    Fact(
        Target.CURSOR,
        # The limit includes the separator: names of 59 and 1 characters make 61.
        naming.long_combined_name(60, lambda server, tool: f"{server}:{tool}"),
        Effect.TOOL_DROPPED,
        _CURSOR_NAMES,
    ),
    Fact(Target.TYPESCRIPT_SDK_2, hazards.OUTPUT_DIALECT, Effect.CALLS_FAIL, _SDK_2_DIALECT),
)
