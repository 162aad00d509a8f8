"""The calls that the demo validates, each with its expected outcome."""

import copy
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sidecheck import RegisteredTool, Target, ToolDefinition, ValidateOutcome, Verdict

__all__ = ["Call", "in_short", "planned_calls"]


@dataclass(frozen=True, slots=True)
class Call:
    """Tool call as a model makes it."""

    #: The namespace of the server.
    server: str
    #: The name of the tool.
    tool: str
    #: The arguments, as a value or, byte for byte, as the model wrote them.
    arguments: Mapping[str, Any] | bytes
    #: The expected outcome, as written by `in_short`.
    expected: str
    #: Definition to validate against in place of the registered one.
    narrowed: ToolDefinition | None = None

    @property
    def label(self) -> str:
        """Namespace and tool; an asterisk marks a narrowed definition."""
        return f"{self.server}/{self.tool}{' *' if self.narrowed else ''}"

    @property
    def target(self) -> Target:
        """What the arguments are validated against."""
        return self.narrowed or RegisteredTool(self.server, self.tool)

    @property
    def text(self) -> str:
        """Arguments as JSON text, which may be malformed."""
        if isinstance(self.arguments, bytes):
            return self.arguments.decode()
        return json.dumps(self.arguments)


def in_short(outcome: ValidateOutcome) -> str:
    """Return ``valid``, ``invalid`` with the codes, or ``error`` with the reason."""
    if not isinstance(outcome, Verdict):
        return f"error {outcome.reason}"
    codes = [violation.code for violation in outcome.violations]
    return " ".join(["valid" if outcome.valid else "invalid", *codes])


def planned_calls(git_branch: Mapping[str, Any]) -> list[Call]:
    """Return the calls; *git_branch* is the definition of that tool by its server.

    That definition describes the three branch types in prose only, and accepts any argument.
    A gateway with more knowledge sends a narrower definition along with the call.
    """
    narrowed = copy.deepcopy(dict(git_branch))
    narrowed["inputSchema"]["properties"]["branch_type"]["enum"] = ["local", "remote", "all"]
    narrowed["inputSchema"]["additionalProperties"] = False
    return [
        Call("git", "git_status", {"repo_path": "shop"}, "valid"),
        Call("git", "git_status", {"repo": "shop"}, "invalid REQUIRED"),
        Call(
            "git",
            "git_log",
            {"repo_path": "shop", "max_count": "5", "end_timestamp": 0},
            "invalid ANY_OF TYPE",
        ),
        Call(
            "git",
            "git_show",
            b"{'repo_path': 'shop', 'revision': 'HEAD'}",
            "invalid PAYLOAD_NOT_JSON",
        ),
        Call("git", "git_push", {"repo_path": "shop"}, "error UNKNOWN_TOOL"),
        Call(
            "git",
            "git_branch",
            {"repo_path": "shop", "branch_type": "locals", "limit": 9},
            "invalid ENUM ADDITIONAL_PROPERTIES",
            ToolDefinition(narrowed),
        ),
        Call(
            "time", "convert_time", {"source_timezone": "UTC", "time": "12:00"}, "invalid REQUIRED"
        ),
        Call("time", "get_current_time", {"timezone": "Asia/Tokyo"}, "valid"),
    ]
