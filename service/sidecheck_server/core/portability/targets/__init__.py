"""Facts by target: model APIs, clients and SDKs, and directories."""

from sidecheck_server.core.portability.facts import Fact, Target
from sidecheck_server.core.portability.targets import clients, directories, model_apis

__all__ = ["FACTS", "TOOL_TARGETS"]

FACTS: tuple[Fact, ...] = (*model_apis.FACTS, *clients.FACTS, *directories.FACTS)
"""Every fact about tools, the facts of one target together."""

TOOL_TARGETS = frozenset(Target) - {Target.MCP_REGISTRY}
"""Targets of tool definitions."""
