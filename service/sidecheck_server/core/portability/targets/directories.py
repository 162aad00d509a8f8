"""Facts about directories, which review tools before they list a server."""

from sidecheck_server.core.convert.providers.provider import Source
from sidecheck_server.core.mcp.name_grammars import LETTERS_TO_DASH_64
from sidecheck_server.core.portability import naming_hazards as naming
from sidecheck_server.core.portability.facts import Effect, Fact
from sidecheck_server.core.portability.target import Target

__all__ = ["FACTS"]

_OPENAI_HINTS = Source(
    "hints",
    "https://github.com/Teamwork/mcp/pull/420; https://github.com/grafana/mcp-grafana/issues/1009",
    "2026-11-26",
)
_CLAUDE_CRITERIA = Source(
    "titles, hints, names and descriptions",
    "https://claude.com/docs/connectors/building/review-criteria",
    "2026-11-28",
)

FACTS: tuple[Fact, ...] = (
    Fact(Target.OPENAI_APPS, naming.HINTS_MISSING, Effect.SUBMISSION_REJECTED, _OPENAI_HINTS),
    *(
        Fact(Target.CLAUDE_CONNECTORS, hazard, Effect.SUBMISSION_REJECTED, _CLAUDE_CRITERIA)
        for hazard in (
            naming.tool_name(LETTERS_TO_DASH_64),
            naming.TITLE_OR_HINT_MISSING,
            naming.DESCRIPTION_MISSING,
        )
    ),
)
