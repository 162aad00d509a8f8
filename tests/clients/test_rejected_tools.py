"""Registrations with tools that are rejected."""

import pickle
from typing import Any

import grpc
import pytest
from sidecheck import (
    Action,
    BlockingClient,
    Client,
    OnRejected,
    Registration,
    RegistrationOutcome,
    Severity,
    SidecheckError,
    ToolsRejected,
    Violation,
)
from support.weather_tools import FORECAST

ERROR = Violation(code="REQUIRED", message='"name" is required and missing')
WARNING = Violation(code="NAME_CHARACTERS", message="odd name", severity=Severity.WARNING)
CREATED = RegistrationOutcome(name="good", action=Action.CREATED, violations=(WARNING,))
BAD = RegistrationOutcome(
    name='b"d',
    action=Action.REJECTED,
    violations=(
        WARNING,
        Violation(code="TYPE", instance_location="/inputSchema", message="expected an object"),
        ERROR,
    ),
)
NAMELESS = RegistrationOutcome(name="", action=Action.REJECTED, violations=(ERROR,))


@pytest.mark.parametrize(
    ("expected", "outcomes"),
    [
        pytest.param(
            "TOOLS_REJECTED: 1 of 2 tools rejected, the others are unaffected:"
            ' tools[1] "b\\"d": /inputSchema: expected an object [TYPE] (and 1 more)',
            (CREATED, BAD),
            id="one",
        ),
        pytest.param(
            "TOOLS_REJECTED: 2 of 2 tools rejected:\n"
            '- tools[0]: "name" is required and missing [REQUIRED]\n'
            '- tools[1] "b\\"d": /inputSchema: expected an object [TYPE] (and 1 more)',
            (NAMELESS, BAD),
            id="all",
        ),
        pytest.param(
            "TOOLS_REJECTED: 12 of 12 tools rejected:"
            + "".join(f"\n- tools[{index}]" for index in range(10))
            + "\n- and 2 more",
            (RegistrationOutcome(name="", action=Action.REJECTED),) * 12,
            id="the first ten",
        ),
    ],
)
def test_rejected_tools_are_raised_on_demand(
    expected: str, outcomes: tuple[RegistrationOutcome, ...]
) -> None:
    """The message has the first error of each; the exception has all outcomes."""
    registration = Registration(outcomes=outcomes, registry_revision=3)
    with pytest.raises(ToolsRejected) as raised:
        registration.raise_for_rejected()
    error = raised.value
    assert isinstance(error, SidecheckError)
    assert (registration, expected) == (error.registration, str(error))
    assert ("TOOLS_REJECTED", grpc.StatusCode.INVALID_ARGUMENT, str(len(outcomes))) == (
        error.reason,
        error.status,
        error.metadata["tools"],
    )
    copied = pickle.loads(pickle.dumps(error))
    assert (error, expected) == (copied, str(copied))


def test_a_registration_without_rejected_tools_does_not_raise() -> None:
    """A warning rejects nothing."""
    Registration(outcomes=(CREATED,)).raise_for_rejected()
    Registration().raise_for_rejected()


async def test_the_good_tools_are_registered(client: Client) -> None:
    """The error has the names of the rejected tools."""
    tools: list[Any] = [{"name": "broken"}, FORECAST, {"inputSchema": {"type": "object"}}]
    with pytest.raises(ToolsRejected) as raised:
        await client.register("weather", tools)
    assert ["rejected", "created", "rejected"] == [
        outcome.action.value for outcome in raised.value.registration.outcomes
    ]
    assert (
        "TOOLS_REJECTED: 2 of 3 tools rejected, the others are unaffected:\n"
        '- tools[0] "broken": "inputSchema" is required and missing; expected an object whose'
        ' "type" is "object" [REQUIRED]\n'
        '- tools[2]: "name" is required and missing; expected a string [REQUIRED]'
    ) == str(raised.value)
    assert ["get_forecast"] == [tool.name async for tool in client.list("weather")]


async def test_the_outcomes_can_be_returned(client: Client) -> None:
    """This includes a registration that the policy would reject as a whole."""
    await client.register("weather", FORECAST)
    changed = {**FORECAST, "description": "other"}
    registration = await client.register(
        "weather", changed, change_policy="reject", on_rejected="return"
    )
    assert [Action.REJECTED] == [outcome.action for outcome in registration.outcomes]
    with pytest.raises(ToolsRejected, match=r'tools\[0\] "get_forecast": .*\[DEFINITION_CHANGED\]'):
        await client.register("weather", changed, change_policy="reject")
    with pytest.raises(ToolsRejected):
        await client.register("weather", {"name": "broken"}, validate_only=True)


def test_the_treatment_is_checked_first() -> None:
    """No call is made."""
    policy: OnRejected = "ignore"  # type: ignore[assignment]
    with (
        BlockingClient("localhost:1") as client,
        pytest.raises(ValueError, match="invalid on_rejected 'ignore'; expected 'error', 'return'"),
    ):
        client.register("s", [], on_rejected=policy)
