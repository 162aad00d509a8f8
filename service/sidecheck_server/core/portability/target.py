"""Targets of portability. Commands list them without importing the facts about them."""

from enum import StrEnum

__all__ = ["TOOL_TARGETS", "Target"]


class Target(StrEnum):
    """Model API, client or directory that uses tool definitions."""

    OPENAI = "openai"
    OPENAI_STRICT = "openai-strict"
    ANTHROPIC = "anthropic"
    GEMINI = "gemini"
    VERTEX = "vertex"
    BEDROCK = "bedrock"
    MISTRAL = "mistral"
    OLLAMA = "ollama"
    LLAMA_CPP = "llama.cpp"
    CLAUDE_CODE = "claude-code"
    VSCODE = "vscode"
    CURSOR = "cursor"
    TYPESCRIPT_SDK_1 = "typescript-sdk-1"
    TYPESCRIPT_SDK_2 = "typescript-sdk-2"
    OPENAI_APPS = "openai-apps"
    CLAUDE_CONNECTORS = "claude-connectors"
    #: Reads the file `server.json`, not tools.
    MCP_REGISTRY = "mcp-registry"


TOOL_TARGETS = frozenset(Target) - {Target.MCP_REGISTRY}
"""Targets of tool definitions."""
