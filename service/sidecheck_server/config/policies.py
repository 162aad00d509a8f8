"""Policies of the proxy and the gateways for invalid subjects."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from sidecheck_server.config.exemptions import NO_EXEMPTIONS, Exemptions

__all__ = ["GatewayPolicies", "Pinning", "Policies", "Policy", "Repairs"]


class Policy(StrEnum):
    """Handling of a kind of subject."""

    #: Invalid subjects are reported, and rejected as the specification defines.
    ENFORCE = "enforce"
    #: Invalid subjects are reported, and forwarded.
    AUDIT = "audit"
    #: Subjects are not validated.
    OFF = "off"


class Repairs(StrEnum):
    """Repairs of invalid arguments; each level includes those before it."""

    OFF = "off"
    #: Strings that contain the JSON text of the object or array that is required.
    JSON_STRINGS = "json-strings"
    #: Scalars whose value is preserved exactly, such as ``"10"`` for 10. Rejected properties
    #: with null, ``""`` or ``"null"`` are removed unless they are required.
    SAFE_SCALARS = "safe-scalars"
    #: The schema's defaults for absent properties.
    DEFAULTS = "defaults"


class Pinning(StrEnum):
    """Whether tool definitions must equal those in a lock file."""

    OFF = "off"
    #: The first complete list of tools is written to the file if it does not exist.
    FIRST_USE = "first-use"
    #: The file must exist.
    LOCKED = "locked"


@dataclass(frozen=True, slots=True)
class Policies:
    """The policy for each kind of subject, annotated with its description."""

    arguments: Annotated[Policy, "Arguments of tools/call."] = Policy.AUDIT
    results: Annotated[Policy, "Results of tools/call, by the output schema."] = Policy.AUDIT
    messages: Annotated[Policy, "Everything else in a message."] = Policy.AUDIT
    tools: Annotated[Policy, "Definitions in results of tools/list."] = Policy.AUDIT
    repair: Annotated[
        Repairs,
        "Repairs of arguments, in the call that is forwarded; each includes the one before.",
    ] = Repairs.OFF
    assert_formats: Annotated[
        bool, "Whether `format` is asserted for arguments and results, such as date-time."
    ] = False
    allow: Annotated[
        Exemptions,
        "Exemptions from enforcement: codes of rules, tool:NAME and method:NAME. Their findings "
        "stay, as allowed.",
    ] = NO_EXEMPTIONS

    @property
    def enforces_any(self) -> bool:
        """Whether any policy is `Policy.ENFORCE`."""
        return Policy.ENFORCE in (self.arguments, self.results, self.messages, self.tools)


@dataclass(frozen=True, slots=True)
class GatewayPolicies(Policies):
    """The policies of gateways, with the pinning of tools."""

    pins: Annotated[
        Pinning, "Whether tools must equal those in a lock file, which first-use writes."
    ] = Pinning.OFF
    pins_folder: Annotated[
        str, "Folder of the lock files of pinned tools, one for each server."
    ] = ""
