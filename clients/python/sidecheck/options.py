"""How payloads are judged."""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Coercion", "Detail", "OnUnknownTool", "Options", "UnknownArguments"]


class Detail(StrEnum):
    """How much of what is wrong the verdict tells."""

    #: Whether the payload is valid, and no violations.
    VERDICT_ONLY = "verdict_only"
    #: The violation that was found first.
    FIRST = "first"
    #: All violations up to `Options.max_violations`.
    ALL = "all"


class UnknownArguments(StrEnum):
    """What becomes of object members that the schema does not know.

    A member is unknown if the subschemas that apply to its object declare
    ``properties``, do not open the object, and say nothing of the member. What the
    schema itself forbids is a violation under every word here.
    """

    #: The schema alone decides.
    SCHEMA = "schema"
    #: They are violations, with the code ``UNKNOWN_PROPERTY``.
    REFUSE = "refuse"
    #: They are taken out of the repaired payload; see `Verdict.repair`.
    STRIP = "strip"
    #: They are violations of severity warning, with the code ``UNKNOWN_PROPERTY``.
    REPORT = "report"


class Coercion(StrEnum):
    """Which values of a wrong type may be turned into the right one.

    Only where the payload is invalid and the schema demands the other type, and only
    in the repaired payload; see `Verdict.repair`.
    """

    #: None.
    NONE = "none"
    #: Strings that hold the JSON text of an object or an array, where the schema
    #: demands one.
    JSON_STRINGS = "json_strings"
    #: Also scalars whose value survives the change exactly: ``"10"`` where an integer
    #: is demanded, but neither ``"010"`` nor ``""``.
    SAFE_SCALARS = "safe_scalars"


class OnUnknownTool(StrEnum):
    """What becomes of a call to a tool that the registry does not know."""

    #: It is refused with ``UNKNOWN_TOOL``.
    REFUSE = "refuse"
    #: It is valid, with a warning of the code ``UNKNOWN_TOOL``: nothing was judged.
    SKIP = "skip"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a payload is judged; every default is the server's own."""

    #: The MCP protocol version whose rules hold, for example ``2025-11-25``. ""
    #: means the server's default, which `ServerInfo` names.
    protocol_version: str = ""
    #: How much the verdict tells.
    detail: Detail = Detail.ALL
    #: The largest number of violations in the verdict; the server lowers it to
    #: its own limit.
    max_violations: int = 20
    #: What becomes of members that the schema does not know.
    unknown_arguments: UnknownArguments = UnknownArguments.SCHEMA
    #: Which values may be coerced.
    coercion: Coercion = Coercion.NONE
    #: Whether the schema's defaults are put in for absent members of the repaired
    #: payload; see `Verdict.repair`.
    apply_defaults: bool = False
    #: Whether ``format`` is asserted; if not, it is an annotation, which is the
    #: default of JSON Schema 2020-12 (validation, section 7.2).
    assert_formats: bool = False
    #: What becomes of a call to an unknown tool.
    on_unknown_tool: OnUnknownTool = OnUnknownTool.REFUSE
    #: Whether messages leave out the values found in the payload.
    hide_values: bool = False
