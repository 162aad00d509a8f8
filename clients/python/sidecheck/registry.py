"""Values of RegistryService: registered tools and the results of changes."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

import grpc

from sidecheck.errors import SidecheckError
from sidecheck.targets import Document
from sidecheck.values.comparison import (
    ToolComparison,
)
from sidecheck.values.verdict import Severity, Violation
from sidecheck.verdicts import describe_violation, list_lines, quote

__all__ = [
    "Action",
    "ChangePolicy",
    "Deletion",
    "OnRejected",
    "Registration",
    "RegistrationOutcome",
    "Tool",
    "ToolsRejected",
]

#: Policy for a definition that differs from the registered one: bind the name to the new
#: definition ("accept"), also with a warning ("report"), or keep the old one and return
#: an error ("reject").
ChangePolicy: TypeAlias = Literal["accept", "report", "reject"]


#: Treatment of a registration with a rejected tool: raise `ToolsRejected` ("error"), or
#: return it.
OnRejected: TypeAlias = Literal["error", "return"]


class Action(StrEnum):
    """Effect of a registration on one name, or its effect without ``validate_only``."""

    #: The name was not bound before.
    CREATED = "created"
    #: The name was bound to another definition.
    CHANGED = "changed"
    #: The name was bound to this definition.
    UNCHANGED = "unchanged"
    #: The definition was not registered; the violations have the reason.
    REJECTED = "rejected"
    #: A value that this release of the client does not know.
    UNSPECIFIED = "unspecified"


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationOutcome:
    """Outcome of the registration of one definition."""

    #: Name of the tool; "" if the definition has none.
    name: str
    action: Action
    #: Violations of the definition. Only one of severity error rejects it.
    violations: tuple[Violation, ...] = ()
    #: Digest of the definition; "" if it is not JSON.
    definition_digest: str = ""
    #: Digest of the input schema; "" if rejected.
    input_schema_digest: str = ""
    #: Digest of the output schema; "" if rejected or if there is none.
    output_schema_digest: str = ""
    #: Digest of the definition to which the name was bound before; "" if there was none.
    previous_definition_digest: str = ""
    #: Comparison with the definition to which the name was bound before, if they differ and
    #: the registration requests it.
    comparison: ToolComparison | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """Result of a registration."""

    #: Outcomes of the definitions, in the order given.
    outcomes: tuple[RegistrationOutcome, ...] = ()
    #: Names that a replacement removed.
    removed: tuple[str, ...] = ()
    #: Names that a replacement did not remove, since that would break callers.
    kept: tuple[str, ...] = ()
    #: Revision of the registry afterwards.
    registry_revision: int = 0

    def raise_for_rejected(self) -> None:
        """Raise if a tool was rejected.

        Raises:
            ToolsRejected: A tool was rejected.
        """
        if any(outcome.action is Action.REJECTED for outcome in self.outcomes):
            raise ToolsRejected(self)


class ToolsRejected(SidecheckError):
    """Tools were not registered, because their definitions have errors.

    All other tools were registered. ``registration`` has the outcomes of all tools; the message
    describes the first error of each rejected tool, for up to ten tools. The reason is
    ``TOOLS_REJECTED``.
    """

    def __init__(self, registration: Registration) -> None:
        rejected = {
            index: outcome
            for index, outcome in enumerate(registration.outcomes)
            if outcome.action is Action.REJECTED
        }
        total = len(registration.outcomes)
        others = "" if len(rejected) == total else ", the others are unaffected"
        message = list_lines(
            f"{len(rejected)} of {total} tools rejected{others}",
            [_describe_rejection(index, outcome) for index, outcome in rejected.items()],
        )
        metadata = {"rejected": str(len(rejected)), "tools": str(total)}
        super().__init__("TOOLS_REJECTED", message, metadata, grpc.StatusCode.INVALID_ARGUMENT)
        self.registration = registration
        self.args = (registration,)

    def __str__(self) -> str:
        # The lines of the message are printable, and keep their breaks.
        return f"{self.reason}: {self.message}"


def _describe_rejection(index: int, outcome: RegistrationOutcome) -> str:
    name = f"tools[{index}] {quote(outcome.name) if outcome.name else ''}"
    errors = [v for v in outcome.violations if v.severity is Severity.ERROR]
    parts = [name.rstrip(), *map(describe_violation, errors[:1])]
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return ": ".join(parts) + more


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool of the registry."""

    #: Namespace of its server.
    server: str
    name: str
    #: The definition, byte for byte as registered, unless it was adapted.
    json: bytes
    #: Documents registered with it, as text.
    documents: tuple[Document, ...] = ()
    definition_digest: str = ""
    input_schema_digest: str = ""
    #: "" if it has no output schema.
    output_schema_digest: str = ""
    #: Revision of the registry that bound the name to the definition.
    revision: int = 0
    #: Protocol version under which the tool was registered.
    protocol_version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletion:
    """Result of a deletion."""

    #: Names that were deleted, in order.
    deleted: tuple[str, ...] = ()
    #: Names that were not registered.
    unknown: tuple[str, ...] = ()
    #: Revision of the registry afterwards.
    registry_revision: int = 0
