"""What the proxy does about each kind of finding."""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Pinning", "Policies", "Policy", "Repairs"]


class Policy(StrEnum):
    """What becomes of a subject that is invalid."""

    #: It is reported, and rejected in the way of the specification.
    ENFORCE = "enforce"
    #: It is reported, and passes.
    AUDIT = "audit"
    #: It is not validated.
    OFF = "off"


class Repairs(StrEnum):
    """Repairs of invalid arguments; each level includes those before it."""

    OFF = "off"
    #: Strings that contain the JSON text of the object or array that is required.
    JSON_STRINGS = "json-strings"
    #: Scalars whose value is preserved exactly, such as ``"10"`` for 10.
    SAFE_SCALARS = "safe-scalars"
    #: The schema's defaults for absent properties.
    DEFAULTS = "defaults"


class Pinning(StrEnum):
    """Whether tools must be those of a lock file."""

    OFF = "off"
    #: The first complete list of tools is written to the file if it does not exist.
    FIRST_USE = "first-use"
    #: The file must exist.
    LOCKED = "locked"


@dataclass(frozen=True, slots=True)
class Policies:
    """The policy for each kind of subject."""

    #: Arguments of ``tools/call``.
    arguments: Policy = Policy.AUDIT
    #: Results of ``tools/call``.
    results: Policy = Policy.AUDIT
    #: Everything else in a message.
    messages: Policy = Policy.AUDIT
    #: Definitions in results of ``tools/list``.
    tools: Policy = Policy.AUDIT
    repair: Repairs = Repairs.OFF

    @property
    def enforces_any(self) -> bool:
        """Whether anything that is not validated may not pass."""
        return Policy.ENFORCE in (self.arguments, self.results, self.messages, self.tools)
