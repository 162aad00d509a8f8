"""Fake validators for tests of programs that use Sidecheck."""

import inspect
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
import sidecheck
from sidecheck import (
    ABSENT,
    Arguments,
    BlockingClient,
    BlockingValidator,
    CallParams,
    CallResult,
    Client,
    Item,
    JsonText,
    Options,
    RegisteredTool,
    Schema,
    Severity,
    SidecheckError,
    StreamUnavailable,
    StructuredContent,
    Validator,
    Verdict,
    Violation,
)
from sidecheck.testing import BlockingFakeValidator, FakeValidator, invalid, valid

FORECAST = RegisteredTool("weather", "get_forecast")
ALERTS = RegisteredTool("weather", "get_alerts")
ERROR = SidecheckError("UNKNOWN_TOOL", "no tool", {}, grpc.StatusCode.NOT_FOUND)


@pytest.fixture(params=[FakeValidator, BlockingFakeValidator])
def fake(request: pytest.FixtureRequest) -> FakeValidator | BlockingFakeValidator:
    """Return a fake of either kind."""
    kind: type[FakeValidator | BlockingFakeValidator] = request.param
    return kind()


async def value_of(value: Any) -> Any:
    """Return *value*, awaited if it is awaitable."""
    return await value if inspect.isawaitable(value) else value


async def test_everything_is_valid_by_default(fake: Any) -> None:
    """A fake needs no configuration."""
    assert valid() == await value_of(fake.validate(FORECAST, {}))


async def test_outcomes_are_selected_by_tool(fake: Any) -> None:
    """Another tool of the same server does not match."""
    fake.answer_tool("weather", "get_forecast", invalid())
    assert [invalid(), valid()] == [
        await value_of(fake.validate(FORECAST, {})),
        await value_of(fake.validate(ALERTS, {})),
    ]


async def test_calls_and_results_are_recorded_with_their_kind(fake: Any) -> None:
    """Call params, call results and structured content are distinguished."""
    await value_of(fake.validate_call(FORECAST, {"name": "get_forecast"}))
    await value_of(fake.validate_call_result(FORECAST, {"content": []}))
    await value_of(fake.validate_structured_content(FORECAST, ABSENT))
    assert [
        Item(CallParams({"name": "get_forecast"}), FORECAST),
        Item(CallResult({"content": []}), FORECAST),
        Item(StructuredContent(ABSENT), FORECAST),
    ] == fake.calls


async def test_the_last_matching_rule_applies(fake: Any) -> None:
    """A test can override the rules of a fixture."""
    fake.answer_tool("weather", "get_forecast", invalid())
    fake.answer_when(lambda item: item.subject == Arguments({"city": "Oslo"}), valid())
    assert [invalid(), valid()] == [
        await value_of(fake.validate(FORECAST, {})),
        await value_of(fake.validate(FORECAST, {"city": "Oslo"})),
    ]


async def test_errors_are_raised(fake: Any) -> None:
    """The error object itself is raised."""
    fake.answer_tool("weather", "get_forecast", ERROR)
    with pytest.raises(SidecheckError) as raised:
        await value_of(fake.validate(FORECAST, {}))
    assert ERROR is raised.value


async def test_batches_have_one_outcome_per_item(fake: Any) -> None:
    """An item's own target replaces the shared one, and an error is an outcome."""
    fake.answer_tool("weather", "get_forecast", invalid())
    fake.answer_tool("weather", "get_alerts", ERROR)
    batch = [Item(Arguments({})), Item(Arguments({}), ALERTS), Item(Arguments({}), Schema(True))]
    assert [invalid(), ERROR, valid()] == await value_of(
        fake.validate_batch(batch, target=FORECAST)
    )


async def collect(stream: Any) -> list[Any]:
    """Return the outcomes of a stream of either kind."""
    if isinstance(stream, AsyncIterator):
        return [outcome async for outcome in stream]
    return list(stream)


async def test_streams_have_one_outcome_per_item(fake: Any) -> None:
    """Outcomes have the ids of the caller."""
    fake.answer_tool("weather", "get_forecast", invalid())
    fake.answer_tool("weather", "get_alerts", ERROR)
    options = Options(hide_values=True)
    items = [("a", Item(Arguments(1))), ("b", Item(Arguments(2), ALERTS))]
    outcomes = await collect(fake.validate_stream(items, target=FORECAST, options=options))
    assert [("a", invalid()), ("b", ERROR)] == outcomes
    assert [
        Item(Arguments(1), FORECAST, options),
        Item(Arguments(2), ALERTS, options),
    ] == fake.calls


async def test_a_script_can_end_a_stream(fake: Any) -> None:
    """An outcome that is a `StreamUnavailable` error ends the stream."""
    error = StreamUnavailable("SHUTTING_DOWN", "stopping", {}, grpc.StatusCode.UNAVAILABLE)
    fake.answer_tool("weather", "get_forecast", error)
    items = [(str(index), Item(Arguments(index), FORECAST)) for index in range(3)]
    with pytest.raises(StreamUnavailable, match="SHUTTING_DOWN") as raised:
        await collect(fake.validate_stream(items, outstanding=1))
    assert "0" == raised.value.unanswered[0]


async def test_streams_can_be_used_with_explicit_sends() -> None:
    """The methods are those of the client's streams."""
    async with FakeValidator().stream(target=FORECAST) as stream:
        await stream.send("a", Item(Arguments(1)))
        await stream.finish()
        assert [("a", valid())] == [outcome async for outcome in stream]
    with BlockingFakeValidator().stream(target=FORECAST) as blocking:
        blocking.send("a", Item(Arguments(1)))
        blocking.finish()
        assert [("a", valid())] == list(blocking)


async def test_calls_are_recorded_as_values(fake: Any) -> None:
    """Recorded items have the effective target and options."""
    options = Options(hide_values=True)
    await value_of(fake.validate(FORECAST, {"a": 1}, options=options))
    await value_of(fake.validate_structured_content(FORECAST, b"{}", timeout=1.0))
    await value_of(
        fake.validate_batch(
            [Item(Arguments(1)), Item(Arguments(2), ALERTS, options)], target=FORECAST
        )
    )
    assert [
        Item(Arguments({"a": 1}), FORECAST, options),
        Item(StructuredContent(b"{}"), FORECAST),
        Item(Arguments(1), FORECAST),
        Item(Arguments(2), ALERTS, options),
    ] == fake.calls


async def test_fakes_can_replace_the_client() -> None:
    """Fakes are context managers and implement the same protocols."""
    async with FakeValidator(invalid()) as fake:
        assert invalid() == await fake.validate(FORECAST, {})
    with BlockingFakeValidator(invalid()) as blocking:
        assert invalid() == blocking.validate(FORECAST, {})
    assert all(issubclass(kind, Validator) for kind in (Client, FakeValidator))
    assert all(
        issubclass(kind, BlockingValidator) for kind in (BlockingClient, BlockingFakeValidator)
    )


def test_verdicts_are_consistent_with_their_violations() -> None:
    """A verdict is invalid if and only if it has an error."""
    error, warning = Violation(code="TYPE"), Violation(code="FORMAT", severity=Severity.WARNING)
    result = JsonText(b'{"content":[{"type":"text","text":"t"}],"isError":true}')
    assert [
        Verdict(valid=True, violations=(warning,)),
        Verdict(
            valid=False,
            violations=(warning, error),
            tool_error_text="t",
            call_tool_result=result,
        ),
    ] == [valid(warning), invalid(warning, error, tool_error_text="t")]
    with pytest.raises(ValueError, match="valid verdict cannot have"):
        valid(error)
    with pytest.raises(ValueError, match="invalid verdict must have"):
        invalid(warning)


PUBLIC = {
    name: value
    for name, value in vars(Client).items()
    if inspect.isfunction(value) and not name.startswith("_")
}


@pytest.mark.parametrize("name", PUBLIC)
def test_both_clients_have_the_same_methods(name: str) -> None:
    """Parameters have equal names, defaults and types."""
    asynchronous, blocking = (
        inspect.signature(getattr(kind, name)) for kind in (Client, BlockingClient)
    )
    assert asynchronous.parameters == blocking.parameters


def test_both_validators_have_the_same_streams() -> None:
    """Only the type of `items` differs: asynchronous streams also accept async iterables."""
    asynchronous, blocking = (
        dict(inspect.signature(kind.validate_stream).parameters)
        for kind in (Validator, BlockingValidator)
    )
    assert asynchronous.pop("items").name == blocking.pop("items").name
    assert asynchronous == blocking


def test_the_public_names_are_complete() -> None:
    """`sidecheck.__all__` lists every public name of the package; ruff sorts them."""
    values = {
        name
        for name, value in vars(sidecheck).items()
        if not name.startswith("_") and not inspect.ismodule(value)
    }
    assert sorted(values) == sorted(sidecheck.__all__)
