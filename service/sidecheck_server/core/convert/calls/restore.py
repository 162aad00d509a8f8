"""The plan that belongs to a call, and the tool that belongs to the plan."""

from collections.abc import Sequence

from sidecheck_server.core.convert.calls.reading import ModelCall
from sidecheck_server.core.convert.plan import Plan
from sidecheck_server.core.convert.words import ModelApi
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.explain.nearest import nearest
from sidecheck_server.core.explain.values import listed, quoted

__all__ = ["chosen_plan", "common_api", "refuse_mismatch"]

_LONGEST = 128
"""How many characters of a name a refusal tells."""


def common_api(plans: Sequence[Plan]) -> ModelApi:
    """Return the API for which all of *plans* were made.

    Raises:
        Refusal: INVALID_REQUEST if there are no plans, or they are of several APIs.
    """
    apis = list(dict.fromkeys(plan.api for plan in plans))
    if not apis:
        said = "there is no plan: send the one of the tool that was called"
        raise RequestError(ErrorReason.INVALID_REQUEST, said, {"field": "plans"})
    if len(apis) > 1:
        said = f"the plans are of several APIs, {listed(apis, 'and')}; a call is of one"
        raise RequestError(ErrorReason.INVALID_REQUEST, said, {"field": "plans"})
    return apis[0]


def chosen_plan(plans: Sequence[Plan], call: ModelCall) -> Plan | None:
    """Return that of *plans* which belongs to *call*.

    Of a call whose name cannot be read it is the only plan, or None if there are several.

    Raises:
        Refusal: INVALID_REQUEST if there are no plans; INVALID_MAPPING if two are of tools of
            one name; MAPPING_MISMATCH if none is of the tool that is called.
    """
    common_api(plans)
    by_name: dict[str, Plan] = {}
    for plan in plans:
        if plan.name in by_name:
            said = f"two of the plans are of a tool that the model knows as {quoted(plan.name)}"
            raise RequestError(ErrorReason.INVALID_MAPPING, said, {"name": plan.name[:_LONGEST]})
        by_name[plan.name] = plan
    if not call.name:
        return plans[0] if len(plans) == 1 else None
    chosen = by_name.get(call.name)
    if chosen is None:
        name = call.name[:_LONGEST]
        near = nearest(call.name, list(by_name))
        said = f"no plan is of a tool that the model knows as {quoted(name)}"
        said += f"; is it {quoted(near)}?" if near else ""
        raise RequestError(ErrorReason.MAPPING_MISMATCH, said, {"name": name})
    return chosen


def refuse_mismatch(plan: Plan, definition_digest: str) -> None:
    """Check that *plan* is of the definition that has that digest.

    Raises:
        Refusal: MAPPING_MISMATCH.
    """
    if plan.definition_digest != definition_digest:
        raise RequestError(
            ErrorReason.MAPPING_MISMATCH,
            f"the plan of {quoted(plan.tool)} is of another definition than the one given: give "
            "the one that was converted, or convert this one",
            {"planned": plan.definition_digest, "found": definition_digest},
        )
