"""The calls that the demo has judged, each with the judgement it expects."""

import copy
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sidecheck import Judgement, RegisteredTool, Target, ToolDefinition, Verdict

__all__ = ["MADE", "Call", "in_short", "planned_calls"]


@dataclass(frozen=True, slots=True)
class Call:
    """A call as a model makes it."""

    #: The namespace and the name of the tool.
    tool: str
    target: Target
    #: The arguments, as a value or, byte for byte, as the model wrote them.
    arguments: Mapping[str, Any] | bytes
    #: The judgement that must come, as `in_short` puts it.
    expected: str

    def text(self) -> str:
        """Return the arguments as JSON text, or as what was meant to be."""
        if isinstance(self.arguments, bytes):
            return self.arguments.decode()
        return json.dumps(self.arguments)


#: The calls that are made once they are found valid: server, tool, arguments.
MADE: Final = (
    ("git", "git_log", {"repo_path": "shop", "max_count": 1}),
    ("time", "get_current_time", {"timezone": "Asia/Tokyo"}),
)


def in_short(judgement: Judgement) -> str:
    """Return ``valid``, ``invalid`` with the codes, or ``refused`` with the reason."""
    if not isinstance(judgement, Verdict):
        return f"refused {judgement.reason}"
    codes = [found.code for found in judgement.violations]
    return " ".join(["valid" if judgement.valid else "invalid", *codes])


def _narrowed(definition: Mapping[str, Any], argument: str, *values: str) -> dict[str, Any]:
    """Return *definition* with *argument* limited to *values*, and no undeclared ones allowed."""
    narrow = copy.deepcopy(dict(definition))
    narrow["inputSchema"]["properties"][argument]["enum"] = values
    narrow["inputSchema"]["additionalProperties"] = False
    return narrow


def planned_calls(git_branch: Mapping[str, Any]) -> list[Call]:
    """Return the calls; *git_branch* is that tool as its server defines it.

    The server names the three branch types in prose alone. A gateway may know
    better: it sends a narrower definition along with the call.
    """
    narrow = ToolDefinition(_narrowed(git_branch, "branch_type", "local", "remote", "all"))
    return [
        _registered("git", "git_status", {"repo_path": "shop"}, "valid"),
        _registered("git", "git_status", {"repo": "shop"}, "invalid REQUIRED"),
        _registered(
            "git",
            "git_log",
            {"repo_path": "shop", "max_count": "one", "start_timestamp": 0},
            "invalid TYPE ANY_OF",
        ),
        _registered("git", "git_add", {"repo_path": "shop", "files": "tea.txt"}, "invalid TYPE"),
        _registered(
            "git",
            "git_show",
            b"{'repo_path': 'shop', 'revision': 'HEAD'}",
            "invalid PAYLOAD_NOT_JSON",
        ),
        _registered("git", "git_push", {"repo_path": "shop"}, "refused UNKNOWN_TOOL"),
        _registered(
            "time",
            "convert_time",
            {"source_timezone": "UTC", "time": "12:00"},
            "invalid REQUIRED",
        ),
        Call("git_branch, narrowed", narrow, {"repo_path": "shop", "branch_type": "all"}, "valid"),
        Call(
            "git_branch, narrowed",
            narrow,
            {"repo_path": "shop", "branch_type": "locals", "sort": "date"},
            "invalid ENUM ADDITIONAL_PROPERTIES",
        ),
    ]


def _registered(
    server: str, name: str, arguments: Mapping[str, Any] | bytes, expected: str
) -> Call:
    return Call(f"{server} {name}", RegisteredTool(server, name), arguments, expected)
