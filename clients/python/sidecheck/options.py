"""How payloads are judged."""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Coercion", "Detail", "OnUnknownTool", "Options", "UnknownArguments"]


class Detail(StrEnum):
    """How much of what is wrong the verdict tells. Only `ALL` is served yet."""

    #: Whether the payload is valid, and no violations.
    VERDICT_ONLY = "verdict_only"
    #: The first violation.
    FIRST = "first"
    #: All violations up to `Options.max_violations`.
    ALL = "all"


class UnknownArguments(StrEnum):
    """What becomes of members that the schema does not declare. Only `SCHEMA` is served yet."""

    #: The schema alone decides.
    SCHEMA = "schema"
    #: They are violations.
    REFUSE = "refuse"
    #: They are taken out.
    STRIP = "strip"
    #: They are reported as warnings.
    REPORT = "report"


class Coercion(StrEnum):
    """Which values of a wrong type may be turned into the right one. Only `NONE` is served yet."""

    #: None.
    NONE = "none"
    #: Strings that hold JSON text, where the schema demands what they hold.
    JSON_STRINGS = "json_strings"
    #: Also scalars whose value survives the change exactly.
    SAFE_SCALARS = "safe_scalars"


class OnUnknownTool(StrEnum):
    """What becomes of a call to an unregistered tool. Only `REFUSE` is served yet."""

    #: It is refused with ``UNKNOWN_TOOL``.
    REFUSE = "refuse"
    #: It is valid with a warning.
    SKIP = "skip"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a payload is judged; every default is the server's own.

    What is not served yet is refused with the status ``UNIMPLEMENTED``.
    """

    #: The MCP protocol version whose rules hold, for example ``2025-11-25``. ""
    #: means the server's default, which `ServerInfo` names.
    protocol_version: str = ""
    #: How much the verdict tells.
    detail: Detail = Detail.ALL
    #: The largest number of violations in the verdict; the server lowers it to
    #: its own limit.
    max_violations: int = 20
    #: What becomes of undeclared members.
    unknown_arguments: UnknownArguments = UnknownArguments.SCHEMA
    #: Which values may be coerced.
    coercion: Coercion = Coercion.NONE
    #: Whether the schema's defaults are put in for absent members. Not served yet.
    apply_defaults: bool = False
    #: Whether ``format`` is asserted; if not, it is an annotation, which is the
    #: default of JSON Schema 2020-12 (validation, section 7.2).
    assert_formats: bool = False
    #: What becomes of a call to an unknown tool.
    on_unknown_tool: OnUnknownTool = OnUnknownTool.REFUSE
    #: Whether messages leave out the values found in the payload.
    hide_values: bool = False
