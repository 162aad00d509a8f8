"""Converted tools: a form with a name, as the API's JSON, and the plan to turn calls back."""

from dataclasses import dataclass

from sidecheck_server.core.convert.apis.api import Api
from sidecheck_server.core.convert.forms import Form
from sidecheck_server.core.convert.names import Named
from sidecheck_server.core.convert.plan import Plan, plan_to_json
from sidecheck_server.core.convert.shapes.tools import tool_json
from sidecheck_server.core.convert.words import Action, Direction, Loss

__all__ = ["ConvertedTool", "converted"]


@dataclass(frozen=True, slots=True)
class ConvertedTool:
    """A tool as an API takes it."""

    #: Its JSON text.
    json: bytes
    #: The name that the model knows it by.
    name: str
    #: Whether the API is asked to hold the model to the schema.
    strict: bool
    #: What turns its calls back, as JSON text.
    plan: bytes
    #: In the order of their places.
    losses: tuple[Loss, ...]
    #: Why it is not strict though that is preferred, or "".
    not_strict_reason: str

    @property
    def length(self) -> int:
        """How much text it holds, about."""
        told = sum(len(loss.pointer) + len(loss.message) for loss in self.losses)
        return len(self.json) + len(self.plan) + told


def converted(form: Form, tool: Named, name: str, api: Api, why_not: str = "") -> ConvertedTool:
    """Return *form*, of *tool*, under the *name* that it has in *api*.

    *why_not* says why it is not strict beside other tools, if it would be without them.

    Raises:
        Refusal: as `plan_to_json`.
    """
    strict = bool(form.strict)
    plan = Plan(
        api=api.key,
        name=name,
        server=tool.server,
        tool=tool.name,
        definition_digest=form.definition_digest,
        strict=strict,
        guide=form.guide,
    )
    losses = form.losses
    if name != tool.name:
        said = f"the model knows the tool as {name!r}"
        losses = (*losses, Loss("/name", "", Action.ENCODED, Direction.SAME, said))
    return ConvertedTool(
        json=tool_json(api, name, form),
        name=name,
        strict=strict,
        plan=plan_to_json(plan),
        losses=tuple(sorted(losses, key=lambda loss: loss.pointer)),
        not_strict_reason=why_not or form.not_strict_reason,
    )
