"""Portability of tools and of `server.json`, for `sidecheck check`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from sidecheck_server.cli.in_process import LIMITS
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.mcp.tool_definitions import decode_tool
from sidecheck_server.core.payload import MalformedError, decode
from sidecheck_server.core.portability.check import PortabilityFinding, check_portability
from sidecheck_server.core.portability.server_json import check_server_json, is_server_json
from sidecheck_server.core.portability.target import TOOL_TARGETS, Target
from sidecheck_server.core.types import SEVERITY_RANK, Severity, Verdict, Violation

__all__ = ["PortabilityOptions", "read_server_json_verdict", "target_options"]

Command = TypeVar("Command", bound=Callable[..., Any])

_ALL = "all"

# Rules of the protocol advise about the first two for every provider; nearly every tool has the
# others, which conversion takes care of.
_NOT_ADVISED = frozenset(
    {
        "TOOL_NAME_NOT_PORTABLE",
        "DESCRIPTION_MISSING",
        "OBJECT_NOT_CLOSED",
        "PROPERTY_NOT_REQUIRED",
    }
)


def target_options(command: Command) -> Command:
    """Add the options ``--for`` and ``--server`` to *command*."""
    targets = click.option(
        "--for",
        "targets",
        type=click.Choice([_ALL, *(target.value for target in Target)]),
        multiple=True,
        metavar="TARGET",
        help="Client, model API or directory that the tools are meant for: "
        f"{', '.join(Target)}. What it refuses is an error, what it ignores a warning. May be "
        "repeated.  [default: all, as advice of severity info]",
    )
    server = click.option(
        "--server",
        default="",
        metavar="NAME",
        help="Name under which clients know the server, for limits on both names together.",
    )
    return targets(server(command))


@dataclass(frozen=True, slots=True)
class PortabilityOptions:
    """Targets that tools are checked for."""

    #: Targets on the command line, whose refusals are errors.
    named: frozenset[Target]
    #: Name of the server, or "".
    server: str
    min_severity: Severity

    @classmethod
    def parse(
        cls, targets: Sequence[str], server: str, min_severity: Severity
    ) -> "PortabilityOptions":
        """Return the options of the command line."""
        named = frozenset(Target(target) for target in targets if target != _ALL)
        return cls(named, server, Severity.INFO if _ALL in targets else min_severity)

    def check(self, text: bytes) -> Mapping[Violation, PortabilityFinding | None]:
        """Return the violations of the tool definition *text*, each with its finding.

        Lints have no finding. A text that cannot be read, or is not an object, has no violations
        here: the check of tools reports it.
        """
        try:
            tool = decode_tool(text, LIMITS)
        except (MalformedError, RequestError):
            return {}
        if not isinstance(tool, dict):
            return {}
        advises = self.min_severity is Severity.INFO and not self.named
        targets = TOOL_TARGETS if advises else self.named
        try:
            findings, lints = check_portability(tool, targets, LIMITS, server=self.server)
        except RequestError as error:
            return {Violation("", "", "", error.reason.value, error.message): None}
        violations: dict[Violation, PortabilityFinding | None] = dict.fromkeys(lints)
        for finding in findings:
            if not advises or finding.hazard.code not in _NOT_ADVISED:
                violations[finding.violation(named=self.named)] = finding
        max_rank = SEVERITY_RANK[self.min_severity]
        return {
            violation: finding
            for violation, finding in violations.items()
            if SEVERITY_RANK[violation.severity] <= max_rank
        }


def read_server_json_verdict(text: bytes) -> Verdict | None:
    """Return the verdict on *text* if it is a `server.json`, else None."""
    try:
        value = decode(text, max_depth=LIMITS.payload_depth)
        return check_server_json(text) if is_server_json(value) else None
    except (MalformedError, RequestError):
        return None  # The check of tools reports it.
