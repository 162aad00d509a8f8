"""The fakes for the tests of programs that use Sidecheck."""

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
REFUSED = SidecheckError("UNKNOWN_TOOL", "no tool", {}, grpc.StatusCode.NOT_FOUND)


@pytest.fixture(params=[FakeValidator, BlockingFakeValidator])
def fake(request: pytest.FixtureRequest) -> FakeValidator | BlockingFakeValidator:
    """Return a fake of either kind."""
    kind: type[FakeValidator | BlockingFakeValidator] = request.param
    return kind()


async def value_of(answer: Any) -> Any:
    """Return *answer*, awaited if it has to be."""
    return await answer if inspect.isawaitable(answer) else answer


async def test_everything_is_valid_by_default(fake: Any) -> None:
    """A program can be tested before its test says anything about verdicts."""
    assert valid() == await value_of(fake.validate(FORECAST, {}))


async def test_answers_are_by_tool(fake: Any) -> None:
    """Another tool of the same server is not meant."""
    fake.answer_tool("weather", "get_forecast", invalid())
    assert [invalid(), valid()] == [
        await value_of(fake.validate(FORECAST, {})),
        await value_of(fake.validate(ALERTS, {})),
    ]


async def test_calls_and_results_are_recorded_as_what_they_are(fake: Any) -> None:
    """Whole ones and parts of them."""
    await value_of(fake.validate_call(FORECAST, {"name": "get_forecast"}))
    await value_of(fake.validate_call_result(FORECAST, {"content": []}))
    await value_of(fake.validate_structured_content(FORECAST, ABSENT))
    assert [
        Item(CallParams({"name": "get_forecast"}), FORECAST),
        Item(CallResult({"content": []}), FORECAST),
        Item(StructuredContent(ABSENT), FORECAST),
    ] == fake.calls


async def test_answers_are_by_predicate_and_the_last_one_counts(fake: Any) -> None:
    """A test can overrule what its fixture said."""
    fake.answer_tool("weather", "get_forecast", invalid())
    fake.answer_when(lambda item: item.subject == Arguments({"city": "Oslo"}), valid())
    assert [invalid(), valid()] == [
        await value_of(fake.validate(FORECAST, {})),
        await value_of(fake.validate(FORECAST, {"city": "Oslo"})),
    ]


async def test_refusals_are_raised(fake: Any) -> None:
    """As the client raises them."""
    fake.answer_tool("weather", "get_forecast", REFUSED)
    with pytest.raises(SidecheckError) as raised:
        await value_of(fake.validate(FORECAST, {}))
    assert REFUSED is raised.value


async def test_batches_are_answered_item_by_item(fake: Any) -> None:
    """An item's own target replaces the shared one, and a refusal stands in its place."""
    fake.answer_tool("weather", "get_forecast", invalid())
    fake.answer_tool("weather", "get_alerts", REFUSED)
    batch = [Item(Arguments({})), Item(Arguments({}), ALERTS), Item(Arguments({}), Schema(True))]
    assert [invalid(), REFUSED, valid()] == await value_of(
        fake.validate_batch(batch, target=FORECAST)
    )


async def taken(stream: Any) -> list[Any]:
    """Return the answers of a stream of either kind."""
    if isinstance(stream, AsyncIterator):
        return [answer async for answer in stream]
    return list(stream)


async def test_streams_are_answered_item_by_item(fake: Any) -> None:
    """As batches are, under the ids of the caller."""
    fake.answer_tool("weather", "get_forecast", invalid())
    fake.answer_tool("weather", "get_alerts", REFUSED)
    options = Options(hide_values=True)
    given = [("a", Item(Arguments(1))), ("b", Item(Arguments(2), ALERTS))]
    found = await taken(fake.validate_stream(given, target=FORECAST, options=options))
    assert [("a", invalid()), ("b", REFUSED)] == found
    assert [
        Item(Arguments(1), FORECAST, options),
        Item(Arguments(2), ALERTS, options),
    ] == fake.calls


async def test_a_script_can_end_a_stream(fake: Any) -> None:
    """What a program does then can be tested too."""
    gone = StreamUnavailable("SHUTTING_DOWN", "stopping", {}, grpc.StatusCode.UNAVAILABLE)
    fake.answer_tool("weather", "get_forecast", gone)
    given = [(str(at), Item(Arguments(at), FORECAST)) for at in range(3)]
    with pytest.raises(StreamUnavailable, match="SHUTTING_DOWN") as raised:
        await taken(fake.validate_stream(given, outstanding=1))
    assert "0" == raised.value.unanswered[0]


async def test_streams_by_hand_are_answered_too() -> None:
    """Sent, taken and finished as with the client."""
    async with FakeValidator().stream(target=FORECAST) as stream:
        await stream.send("a", Item(Arguments(1)))
        await stream.finish()
        assert [("a", valid())] == [answer async for answer in stream]
    with BlockingFakeValidator().stream(target=FORECAST) as blocking:
        blocking.send("a", Item(Arguments(1)))
        blocking.finish()
        assert [("a", valid())] == list(blocking)


async def test_calls_are_recorded_as_values(fake: Any) -> None:
    """Each with the target and the options that held for it."""
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


async def test_fakes_stand_where_the_client_does() -> None:
    """They are context managers and validators of the same kind."""
    async with FakeValidator(invalid()) as fake:
        assert invalid() == await fake.validate(FORECAST, {})
    with BlockingFakeValidator(invalid()) as blocking:
        assert invalid() == blocking.validate(FORECAST, {})
    assert all(issubclass(kind, Validator) for kind in (Client, FakeValidator))
    assert all(
        issubclass(kind, BlockingValidator) for kind in (BlockingClient, BlockingFakeValidator)
    )


def test_makers_make_only_what_they_say() -> None:
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
    with pytest.raises(ValueError, match="not valid"):
        valid(error)
    with pytest.raises(ValueError, match="not invalid"):
        invalid(warning)


PUBLIC = {
    name: value
    for name, value in vars(Client).items()
    if inspect.isfunction(value) and not name.startswith("_")
}


@pytest.mark.parametrize("name", PUBLIC)
def test_both_clients_have_the_same_methods(name: str) -> None:
    """Parameters, their defaults and their types do not differ."""
    here, there = (inspect.signature(getattr(kind, name)) for kind in (Client, BlockingClient))
    assert here.parameters == there.parameters


def test_both_validators_take_streams_alike() -> None:
    """The items of the asynchronous one may also come asynchronously."""
    here, there = (
        dict(inspect.signature(kind.validate_stream).parameters)
        for kind in (Validator, BlockingValidator)
    )
    assert here.pop("items").name == there.pop("items").name
    assert here == there


def test_the_public_names_are_whole_and_sorted() -> None:
    """What a module of the package exports and a user needs is there by name."""
    values = {
        name
        for name, value in vars(sidecheck).items()
        if not name.startswith("_") and not inspect.ismodule(value)
    }
    assert sorted(values) == sidecheck.__all__
