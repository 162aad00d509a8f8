"""Time of protocol checks, against the Python SDK's functions for the same work.

Names of tools, lists of tools, histories of sampling and messages, in one process and in turns.
The SDK reads a message as its transports and sessions do: bytes to an envelope, its params or
result to the models of the version, and from there to the model that a handler receives.

    python benchmarks/protocol.py [--quick] [--report FOLDER]
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pydantic_core
from harness.messages import (
    Message,
    sampling_histories,
    stored_messages,
    tool_lists,
    tool_names,
)
from harness.plots import plot_bars
from harness.report import Claim, Effort, Section, Table, digits, format_summary, run
from harness.turns import Rounds, Summary, make_turn, summarize, take_turns
from mcp.server.validation import validate_tool_use_result_messages
from mcp.shared.tool_name_validation import validate_tool_name
from mcp_types import jsonrpc_message_adapter, methods
from pydantic import ValidationError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.check import check, try_check_inline
from sidecheck_server.core.mcp.context import Context, Sender
from sidecheck_server.core.mcp.protocol_schemas import compile_protocol_schemas
from sidecheck_server.core.mcp.subjects import CheckRequest, ProtocolMessage, ReportLimits, Sampling
from sidecheck_server.core.mcp.tool_names import check_names, sdk_warnings
from sidecheck_server.core.types import Verdict

__all__ = ["measure"]

Actions: TypeAlias = dict[str, tuple[Callable[[Any], object], Any]]
"""Function and its argument, by contender."""

Reader: TypeAlias = Callable[[bytes], object]

_SIDECHECK = "Sidecheck"
_SDK = "Python SDK"
_SHAPE = "Python SDK, shape alone"
_TIMES_FASTER = 5
_LIMITS = Limits()
_SCHEMAS = compile_protocol_schemas(_LIMITS)
_HISTORY_VERSION = "2025-11-25"

_TEXT = (
    "Contenders take turns; a ratio is the SDK's time over Sidecheck's in the same round, so 2 "
    "means that the SDK takes twice as long. Each cell is a median with its quartiles. Times "
    "are processor times. Sidecheck makes a verdict from the bytes of a message: strict "
    "decoding that detects duplicate keys, envelope, method, shape in the version and every rule. "
    "The SDK makes from the same bytes what its sessions pass to a handler: "
    "`jsonrpc_message_adapter.validate_json`, which is all for an error response, then "
    "`mcp_types.methods.parse_*`, which validates params or result against the model of the "
    "version and builds the model that no version has. (Its server calls "
    "`validate_client_request` and the model of the params, which is the same work.) *Shape "
    "alone* leaves out the second model, where the SDK has a function for that; it is for "
    "information. The SDK has two sets of models for five versions, and few rules beyond shape. "
    "Neither compiles the schemas in a list of tools here: Sidecheck's time excludes its "
    "compiler. For a history the SDK gets decoded params from `pydantic_core.from_json`, then "
    "calls `parse_server_request` and `validate_tool_use_result_messages`, which checks the last "
    "two messages only; Sidecheck checks all of them, without validating tool inputs against "
    "their schemas. For names, `sdk_warnings` has the texts of `validate_tool_name`, and "
    "`check_names` those and every rule, advice of providers, duplicates and collisions. A "
    "server leaves checks marked *in a worker* to a worker process."
)


@dataclass(frozen=True, slots=True)
class Measurement:
    """Rounds of one subject."""

    title: str
    #: With its unit.
    size: str
    rounds: Rounds

    @property
    def ratio(self) -> Summary:
        """Ratio of the time of the SDK to Sidecheck's."""
        return self.rounds.ratio(_SDK, _SIDECHECK)


def measure(effort: Effort) -> Section:
    """Measure and return the section."""
    warnings, checks = _measure_names(effort)
    lists = [_measure_list(effort, message) for message in tool_lists(effort.choose(None, 1))]
    lengths = effort.choose((2, 20, 200), (2, 20))
    histories = [
        _measure_history(effort, length, params) for length, params in sampling_histories(lengths)
    ]
    valid = [_measure_message(effort, message) for message in stored_messages("valid")]
    invalid_messages = stored_messages("invalid")
    invalid = [_measure_message(effort, message) for message in invalid_messages]
    if effort.folder is not None:
        _plot(effort.folder, valid)
    n = valid[0].rounds.of(_SIDECHECK).n
    return Section(
        "protocol",
        "Protocol checks, against the Python SDK",
        _TEXT,
        [
            _table(f"Valid messages ({n} rounds)", "message", valid, has_rates=True),
            _violations_table(invalid_messages, invalid),
            _table("Responses to tools/list", "list", lists),
            _table("Histories of sampling", "messages", histories),
            _table("Names, the SDK's warnings: `sdk_warnings`", "names", warnings, unit="µs/name"),
            _table("Names, every rule: `check_names`", "names", checks, unit="µs/name"),
        ],
        [
            _speed_claim(valid),
            *_never_slower_claims(
                {
                    "messages": valid,
                    "responses to tools/list": lists,
                    "histories of sampling": histories,
                    "names, one by one (sdk_warnings)": warnings,
                    "names, together (check_names)": checks,
                }
            ),
        ],
        [("protocol.svg", "Time of the SDK for a message, in multiples of Sidecheck's")],
    )


def _compare(
    effort: Effort, title: str, size: str, actions: Actions, items: int = 1
) -> Measurement:
    rounds, seconds = effort.choose((41, 0.004), (3, 0.0002))
    turns = {
        name: make_turn(action, argument, seconds) for name, (action, argument) in actions.items()
    }
    results = take_turns(turns, rounds)
    per_item = {name: [time / items for time in times] for name, times in results.items()}
    return Measurement(title, size, Rounds(per_item))


# Subjects


def _measure_names(effort: Effort) -> tuple[list[Measurement], list[Measurement]]:
    """Return the measurements of `sdk_warnings` and of `check_names`."""
    warnings: list[Measurement] = []
    checks: list[Measurement] = []
    for title, names in tool_names(effort.choose(10_000, 200)):
        if not _agree_on_names(names):
            raise AssertionError(f"the SDK has different warnings: {title}")
        for measurements, function in ((warnings, _sdk_warnings), (checks, _check_names)):
            actions: Actions = {_SIDECHECK: (function, names), _SDK: (_validate_names, names)}
            size = f"{len(names):,} names"
            measurements.append(_compare(effort, title, size, actions, len(names)))
    return warnings, checks


def _measure_list(effort: Effort, message: Message) -> Measurement:
    is_inline = _is_inline(_message_request(message))
    title = message.title if is_inline else f"{message.title} (in a worker)"
    return _measure_message(effort, message, title)


def _measure_history(effort: Effort, length: int, params: bytes) -> Measurement:
    request = CheckRequest(Sampling(params), Context(version=_HISTORY_VERSION))
    is_inline = _is_inline(request)
    check_request = _check_inline if is_inline else _check
    if not check_request(request).valid:
        raise AssertionError(f"a history of {length} messages is not valid")
    actions: Actions = {
        _SIDECHECK: (check_request, request),
        _SDK: (_read_history_with_sdk, params),
    }
    title = f"{length}" if is_inline else f"{length} (in a worker)"
    return _compare(effort, title, f"{len(params):,} B", actions)


def _measure_message(effort: Effort, message: Message, title: str = "") -> Measurement:
    request = _message_request(message)
    check_request = _check_inline if _is_inline(request) else _check
    read, read_shape = _sdk_reader(message), _sdk_shape_reader(message)
    if check_request(request).valid:
        read(message.json)
    else:
        read, read_shape = _suppress_errors(read), None
    actions: Actions = {_SIDECHECK: (check_request, request), _SDK: (read, message.json)}
    if read_shape is not None:
        actions[_SHAPE] = (read_shape, message.json)
    return _compare(effort, title or message.title, f"{len(message.json):,} B", actions)


# Sidecheck


def _message_request(message: Message) -> CheckRequest:
    context = Context(version=message.version, sender=Sender(message.sender))
    subject = ProtocolMessage(message.json, request_method=message.request_method)
    return CheckRequest(subject, context)


def _is_inline(request: CheckRequest) -> bool:
    """Return whether a server checks *request* in its event loop, without a worker."""
    return try_check_inline(request, _LIMITS, _SCHEMAS) is not None


def _check_inline(request: CheckRequest) -> Verdict:
    outcome = try_check_inline(request, _LIMITS, _SCHEMAS)
    assert outcome is not None
    return outcome.findings.verdict()


def _check(request: CheckRequest) -> Verdict:
    return check(request, _LIMITS, _SCHEMAS).findings.verdict()


def _check_names(names: Sequence[str]) -> Any:
    return check_names(names, Context(budget=[_LIMITS.steps]), ReportLimits())


def _sdk_warnings(names: Sequence[str]) -> list[Any]:
    return [sdk_warnings(name) for name in names]


# The SDK


def _validate_names(names: Sequence[str]) -> list[Any]:
    return [validate_tool_name(name) for name in names]


def _agree_on_names(names: Sequence[str]) -> bool:
    """Return whether all three functions have the same verdicts and warnings."""
    validated = [(result.is_valid, tuple(result.warnings)) for result in _validate_names(names)]
    checked = [(name.sdk_valid, name.sdk_warnings) for name in _check_names(names).names]
    return validated == _sdk_warnings(names) == checked


def _sdk_reader(message: Message) -> Reader:
    """Return a function that reads messages like *message*, up to the model for handlers."""
    version, request_method = message.version, message.request_method
    decoded = json.loads(message.json)
    if "method" in decoded:
        parse = _PARSERS[message.sender, "id" in decoded]

        def read_request(text: bytes) -> object:
            envelope = _read_envelope(text)
            return parse(envelope.method, version, envelope.params)

        return read_request
    if "result" in decoded:

        def read_result(text: bytes) -> object:
            return methods.parse_server_result(request_method, version, _read_envelope(text).result)

        return read_result
    return _read_envelope


def _sdk_shape_reader(message: Message) -> Reader | None:
    """Return a function that validates messages against the version's models alone.

    None where the SDK has no such function.
    """
    version, request_method = message.version, message.request_method
    if "result" in json.loads(message.json):

        def validate_result(text: bytes) -> None:
            methods.validate_server_result(request_method, version, _read_envelope(text).result)

        return validate_result
    if message.sender != "client":
        return None

    def validate_request(text: bytes) -> None:
        envelope = _read_envelope(text)
        methods.validate_client_request(envelope.method, version, envelope.params)

    return validate_request


def _suppress_errors(read: Reader) -> Reader:
    def read_quietly(text: bytes) -> None:
        # The SDK rejects with various exceptions; `_describe_sdk_errors` reports them.
        try:  # noqa: SIM105  (suppress takes longer)
            read(text)
        except Exception:  # noqa: BLE001, S110
            pass

    return read_quietly


def _describe_sdk_errors(message: Message) -> str:
    """Return the number of the SDK's errors, or the kind that it takes the message for."""
    decoded = json.loads(message.json)
    kinds = {"method": "notification", "result": "response", "error": "error"}
    expected = (
        "request"
        if {"id", "method"} <= set(decoded)
        else next(kind for member, kind in kinds.items() if member in decoded)
    )
    try:
        kind = type(_read_envelope(message.json)).__name__.removeprefix("JSONRPC").lower()
        if kind != expected:
            return f"reads {'an' if kind[0] in 'aeiou' else 'a'} {kind}"
        _sdk_reader(message)(message.json)
    except ValidationError as error:
        return f"{error.error_count()}"
    except KeyError:
        return "1 (KeyError)"
    return "0"


def _read_history_with_sdk(params: bytes) -> None:
    """Read params of ``sampling/createMessage``, and match tool uses with results."""
    decoded = pydantic_core.from_json(params)
    request = methods.parse_server_request("sampling/createMessage", _HISTORY_VERSION, decoded)
    model: Any = request.params
    validate_tool_use_result_messages(model.messages)


def _read_envelope(text: bytes) -> Any:
    return jsonrpc_message_adapter.validate_json(text, by_name=False)


#: By the sender, and whether the message is a request.
_PARSERS: dict[tuple[str, bool], Callable[..., object]] = {
    ("client", True): methods.parse_client_request,
    ("client", False): methods.parse_client_notification,
    ("server", True): methods.parse_server_request,
    ("server", False): methods.parse_server_notification,
}


# Report


def _table(
    caption: str,
    subject: str,
    measurements: Sequence[Measurement],
    *,
    unit: str = "µs",
    has_rates: bool = False,
) -> Table:
    has_shapes = any(_SHAPE in measurement.rounds.figures for measurement in measurements)
    head = [subject, "size", f"{_SIDECHECK}, {unit}", f"{_SDK}, {unit}", f"{_SDK}, x"]
    head += [f"{_SHAPE}, x"] * has_shapes
    head += [f"{_SIDECHECK}, per second", f"{_SDK}, per second"] * has_rates
    rows = []
    for measurement in measurements:
        rounds = measurement.rounds
        ours, theirs = rounds.of(_SIDECHECK), rounds.of(_SDK)
        row = [
            measurement.title,
            measurement.size,
            format_summary(ours, 1e6),
            format_summary(theirs, 1e6),
            format_summary(measurement.ratio),
        ]
        if has_shapes:
            has_shape = _SHAPE in rounds.figures
            row.append(format_summary(rounds.ratio(_SHAPE, _SIDECHECK)) if has_shape else "")
        if has_rates:
            row += [digits(1 / ours.median), digits(1 / theirs.median)]
        rows.append(row)
    total = summarize(measurement.ratio.median for measurement in measurements)
    empty = [""] * (len(head) - 5)
    rows.append(["**median**", "", "", "", format_summary(total), *empty])
    rows.append(["least", "", "", "", f"{total.minimum:.2f}", *empty])
    return Table(caption, head, rows)


def _violations_table(messages: Iterable[Message], measurements: Iterable[Measurement]) -> Table:
    rows = []
    for message, measurement in zip(messages, measurements, strict=True):
        verdict = _check_inline(_message_request(message))
        codes = ", ".join(violation.code for violation in verdict.violations)
        rows.append(
            [
                message.title,
                f"{len(verdict.violations)} ({codes})",
                _describe_sdk_errors(message),
                format_summary(measurement.rounds.of(_SIDECHECK), 1e6),
                format_summary(measurement.rounds.of(_SDK), 1e6),
            ]
        )
    head = ["message", "violations", "errors of the SDK", f"{_SIDECHECK}, µs", f"{_SDK}, µs"]
    return Table("Messages with one fault", head, rows)


def _speed_claim(valid: Sequence[Measurement]) -> Claim:
    total = summarize(measurement.ratio.median for measurement in valid)
    return Claim(
        "checking messages is faster than the Python SDK",
        f"{_TIMES_FASTER} times at least, median over kinds",
        f"{total.median:.2f} (least {total.minimum:.2f}, most {total.maximum:.2f})",
        total.median >= _TIMES_FASTER,
    )


def _never_slower_claims(groups: dict[str, Sequence[Measurement]]) -> Iterable[Claim]:
    for subject, measurements in groups.items():
        slowest = min(measurements, key=lambda measurement: measurement.ratio.median)
        slower = sum(measurement.ratio.median < 1 for measurement in measurements)
        yield Claim(
            f"checking is never slower than the Python SDK: {subject}",
            "1 times at least, least of all",
            f"{slowest.ratio.median:.2f} ({slowest.title}; {slower} of {len(measurements)} slower)",
            slower == 0,
        )


def _plot(folder: Path, valid: Sequence[Measurement]) -> None:
    plot_bars(
        folder / "protocol.svg",
        "Time of the Python SDK, in multiples of Sidecheck's",
        "ratio of times: median and quartiles of the rounds",
        {measurement.title: {"from bytes": measurement.ratio} for measurement in valid},
        line=(1.0, "Sidecheck"),
    )


if __name__ == "__main__":
    run(measure, __doc__)
