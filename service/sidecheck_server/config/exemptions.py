"""Exemptions from enforcement: rules, tools and methods whose findings reject nothing."""

from collections.abc import Iterable, Set
from dataclasses import dataclass
from typing import Any, Final, Self

__all__ = ["NO_CODES", "NO_EXEMPTIONS", "ExemptCodes", "Exemptions"]

_KEYWORD_CODES: Final = frozenset(
    {
        "ADDITIONAL_ITEMS",
        "ADDITIONAL_PROPERTIES",
        "ANY_OF",
        "CONST",
        "CONTAINS",
        "DEPENDENCIES",
        "DEPENDENT_REQUIRED",
        "ENUM",
        "EXCLUSIVE_MAXIMUM",
        "EXCLUSIVE_MINIMUM",
        "FALSE_SCHEMA",
        "FORMAT",
        "ITEMS",
        "MAXIMUM",
        "MAX_CONTAINS",
        "MAX_ITEMS",
        "MAX_LENGTH",
        "MAX_PROPERTIES",
        "MINIMUM",
        "MIN_CONTAINS",
        "MIN_ITEMS",
        "MIN_LENGTH",
        "MIN_PROPERTIES",
        "MULTIPLE_OF",
        "NOT",
        "ONE_OF",
        "PATTERN",
        "PROPERTY_NAMES",
        "REQUIRED",
        "TYPE",
        "UNEVALUATED_ITEMS",
        "UNEVALUATED_PROPERTIES",
        "UNIQUE_ITEMS",
    }
)
"""Codes of violations of JSON Schema."""

_AMBIGUITY_CODES: Final = frozenset(
    {"AMBIGUOUS_NAME", "DUPLICATE_KEY", "NOT_A_MESSAGE", "PAYLOAD_NOT_JSON"}
)
"""Codes of texts that readers may decode differently."""

_TRAFFIC_CODES: Final = frozenset(
    {"DETAILS_UNAVAILABLE", "HEADER_MISMATCH", "TOOLS_NOT_LISTED", "TOOL_NAME_MISMATCH"}
)
"""Further codes of rejected traffic."""

_NEEDS_CODE: Final = _AMBIGUITY_CODES | {"LIMIT_EXCEEDED"}
"""Codes that only an exemption of the code itself covers: a reader may see something else than
what was validated, or part of it was not validated."""

_PIN_CODES: Final = frozenset(
    {
        "TOOLS_NOT_PINNED",
        "TOOL_ADDED",
        "TOOL_CHANGED",
        "TOOL_DROPPED",
        "TOOL_REMOVED",
        "TOOL_RENAMED",
    }
)
"""Codes of tools that differ from the lock file, or that were taken out of a list."""


@dataclass(frozen=True, slots=True)
class ExemptCodes:
    """Codes that do not reject one message or tool."""

    codes: frozenset[str] = frozenset()
    #: Whether its other codes are exempt too, except those that `_NEEDS_CODE` lists.
    covers_all: bool = False

    def __contains__(self, code: str) -> bool:
        return code in self.codes or (self.covers_all and code not in _NEEDS_CODE)


@dataclass(frozen=True, slots=True)
class Exemptions:
    """Rules, tools and methods that are exempt from enforcement; their findings stay."""

    codes: frozenset[str] = frozenset()
    #: Names of tools, whose calls, results and definitions are exempt.
    tools: frozenset[str] = frozenset()
    #: Methods whose messages, and the responses to them, are exempt.
    methods: frozenset[str] = frozenset()

    @classmethod
    def parse(cls, texts: Iterable[str]) -> Self:
        """Return the exemptions in *texts*: ``CODE``, ``tool:NAME`` or ``method:NAME``.

        Raises:
            ValueError: a text has another form, or names an unknown code.
        """
        names: dict[str, set[str]] = {"": set(), "tool": set(), "method": set()}
        for text in texts:
            kind, colon, name = text.partition(":")
            if not colon:
                _check_code(text)
                names[""].add(text)
            elif kind in {"tool", "method"} and name:
                names[kind].add(name)
            else:
                raise ValueError(f'"{text}": expected CODE, tool:NAME or method:NAME')
        return cls(*(frozenset(names[kind]) for kind in ("", "tool", "method")))

    def find(self, method: str = "", tool: str = "") -> ExemptCodes:
        """Return the codes that do not reject a message of *method*, about *tool*."""
        is_exempt = method in self.methods or (bool(tool) and tool in self.tools)
        if not (self.codes or is_exempt):
            return NO_CODES
        return ExemptCodes(self.codes, is_exempt)

    @classmethod
    def __get_pydantic_json_schema__(cls, _core_schema: Any, _handler: Any) -> dict[str, Any]:
        """Return the schema of the texts, as settings have them."""
        return {"type": "array", "items": {"type": "string"}}

    def __str__(self) -> str:
        """Return the texts that `parse` reads, joined by commas."""
        tools = (f"tool:{name}" for name in sorted(self.tools))
        methods = (f"method:{name}" for name in sorted(self.methods))
        return ",".join([*sorted(self.codes), *tools, *methods])


NO_CODES: Final = ExemptCodes()
"""No exempt codes."""

NO_EXEMPTIONS: Final = Exemptions()
"""No exemptions."""


def _check_code(code: str) -> None:
    """Check that findings that reject something may have *code*.

    Raises:
        ValueError: they do not; the message names the nearest code.
    """
    if code in _PIN_CODES:
        raise ValueError(f'"{code}" cannot be allowed: such a tool is never listed or called')
    known = _known_codes()
    if code in known:
        return
    # Imported here, because only a misspelt code needs it.
    from sidecheck_server.core.explain.nearest import find_nearest  # noqa: PLC0415

    # `find_nearest` reads a limited number of candidates.
    initial = sorted(known, key=lambda name: (name[:1] != code[:1].upper(), name))
    nearest = find_nearest(code, initial)
    hint = f"; did you mean {nearest}?" if nearest else "; the findings of the proxy name the codes"
    raise ValueError(f'unknown code "{code}"{hint}')


def _known_codes() -> Set[str]:
    # Imported here, because importing all rules takes long, and few commands need them.
    from sidecheck_server.core.errors import ErrorReason  # noqa: PLC0415
    from sidecheck_server.core.mcp.rules.catalogue import CATALOGUE  # noqa: PLC0415

    reasons = {reason.value for reason in ErrorReason}
    return CATALOGUE.keys() | _KEYWORD_CODES | _AMBIGUITY_CODES | _TRAFFIC_CODES | reasons
