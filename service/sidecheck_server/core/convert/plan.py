"""Plans: what any process needs to turn a model's call of a converted tool back."""

from dataclasses import dataclass

from sidecheck_server.core.convert.guides import Guide
from sidecheck_server.core.convert.words import ModelApi
from sidecheck_server.core.limits import Limits

__all__ = ["Plan", "plan_from_json", "plan_to_json"]


@dataclass(frozen=True, slots=True)
class Plan:
    """What was changed of one tool."""

    api: ModelApi
    #: The name that the model knows the tool by.
    name: str
    #: The server that offers it, or "".
    server: str
    #: Its original name.
    tool: str
    #: The digest of the original definition.
    definition_digest: str
    #: Whether the API was asked to hold the model to the schema.
    strict: bool
    #: How arguments are turned back; None if they are as they were.
    guide: Guide | None


def plan_to_json(plan: Plan) -> bytes:
    """Return *plan* as JSON text."""
    raise NotImplementedError


def plan_from_json(text: bytes, limits: Limits) -> Plan:
    """Return the plan whose JSON *text* is given; it may come from anywhere.

    Raises:
        Refusal: INVALID_PLAN.
    """
    raise NotImplementedError
