"""Calls of tools that return a ``CallToolResult``, also for errors of the call."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from pydantic import ValidationError

from sidecheck.inference.calls import bound_instance, check_is_sync
from sidecheck.inference.content_blocks import (
    describe_block,
    dump_content,
    dump_whole_result,
    is_known_block,
)
from sidecheck.inference.errors import ArgumentViolation, InvalidArguments
from sidecheck.inference.function_tools import FunctionTool, tool_of
from sidecheck.inference.injection import Resources
from sidecheck.inference.json_strings import pointer_of
from sidecheck.inference.normalization import (
    DEFAULT_VERSION,
    STRUCTURED_CONTENT,
    VERSIONS,
    content_result,
    has_structured_content,
    json_text,
    text_block,
    value_result,
    whole_result,
    wrapping_of,
)
from sidecheck.inference.output_schema import InvalidResult
from sidecheck.inference.schema_checks import BrokenSchema
from sidecheck.json_copies import MAX_VALUES
from sidecheck.json_values import json_value
from sidecheck.protocol import ResultProfile
from sidecheck.text_contract import build_result, is_text_item
from sidecheck.verdicts import Change
from sidecheck.wrapping import wrapped_property

__all__ = ["acall_tool_result", "call_tool_result"]

_PROFILES: Final = ("specification", "text")
#: Violations in the text of an error.
_MAX_LINES: Final = 8


def call_tool_result(
    function: Callable[..., Any],
    arguments: Mapping[str, Any],
    *,
    protocol_version: str = DEFAULT_VERSION,
    profile: ResultProfile = "specification",
    resources: Resources | None = None,
    changes: list[Change] | None = None,
) -> dict[str, Any]:
    """Call a tool as `call_tool` does, and return its result as a ``CallToolResult``.

    The result is decoded JSON in the form of *protocol_version*, or with the profile "text"
    that of `sidecheck.text_contract`; it is the one that the service's
    ``NormalizeToolResult`` makes of the same value. What the function returned is data, unless
    it is an object of an MCP SDK: content blocks or a ``CallToolResult``.

    Invalid arguments, an exception of the function, and a result that violates the output
    schema are results with ``isError`` and a text about what was wrong: for an exception its
    message, or the name of its class if it has none.

    Raises:
        NotProvided: nothing provides an injected parameter.
        TypeError: *function* is not a tool, or is a coroutine function.
        ValueError: *protocol_version* or *profile* is unknown, or a schema of the tool refers
            to something that it does not contain.
    """
    form = _Form.of(function, protocol_version, profile)
    check_is_sync(form.tool, "acall_tool_result")
    instance = bound_instance(function)
    try:
        call = form.tool.read_call(arguments, resources, instance)
    except InvalidArguments as error:
        return form.invalid_arguments(error)
    _tell(changes, call.changes)
    try:
        return form.result(_collect(form.tool.run(*call.args, **call.kwargs)))
    except BrokenSchema:
        raise
    except Exception as error:  # noqa: BLE001  (any exception of the tool is its result)
        return form.failure(error)


async def acall_tool_result(
    function: Callable[..., Any],
    arguments: Mapping[str, Any],
    *,
    protocol_version: str = DEFAULT_VERSION,
    profile: ResultProfile = "specification",
    resources: Resources | None = None,
    changes: list[Change] | None = None,
) -> dict[str, Any]:
    """Do as `call_tool_result`, whether or not the function is a coroutine function.

    Other functions run in the current task and block the event loop.
    """
    form = _Form.of(function, protocol_version, profile)
    instance = bound_instance(function)
    try:
        call = form.tool.read_call(arguments, resources, instance)
    except InvalidArguments as error:
        return form.invalid_arguments(error)
    _tell(changes, call.changes)
    try:
        value = form.tool.run(*call.args, **call.kwargs)
        if form.tool.is_async:
            value = await value
        if isinstance(value, AsyncIterator):
            value = await _collect_async(value)
        return form.result(_collect(value))
    except BrokenSchema:
        raise
    except Exception as error:  # noqa: BLE001  (any exception of the tool is its result)
        return form.failure(error)


def _tell(changes: list[Change] | None, made: tuple[Change, ...]) -> None:
    if changes is not None:
        changes += made


def _collect(value: Any) -> Any:
    """Return the items of an iterator, such as a generator, in a list; others unchanged."""
    if isinstance(value, AsyncIterator):
        raise TypeError("the tool returns an asynchronous iterator; await acall_tool_result")
    return _bounded(list(islice(value, MAX_VALUES + 1))) if isinstance(value, Iterator) else value


async def _collect_async(values: AsyncIterator[Any]) -> list[Any]:
    items: list[Any] = []
    async for item in values:
        items.append(item)
        if len(items) > MAX_VALUES:
            break
    return _bounded(items)


def _bounded(items: list[Any]) -> list[Any]:
    if len(items) > MAX_VALUES:
        raise InvalidResult(f"it exceeds the limit of {MAX_VALUES:,} values")
    return items


@dataclass(frozen=True, slots=True)
class _Form:
    """The form that the results of one call have."""

    tool: FunctionTool
    version: str
    as_text: bool

    @classmethod
    def of(cls, function: Callable[..., Any], version: str, profile: str) -> "_Form":
        """Return the form of results of *function*.

        Raises:
            TypeError: *function* is not a tool.
            ValueError: *version* or *profile* is unknown.
        """
        if version not in VERSIONS:
            raise ValueError(
                f"unknown MCP protocol version {version!r:.40}; expected one of"
                f" {', '.join(VERSIONS)}"
            )
        if profile not in _PROFILES:
            known = ", ".join(f'"{name}"' for name in _PROFILES)
            raise ValueError(f"invalid profile {profile!r:.40}; expected one of {known}")
        return cls(tool_of(function), version, profile == "text")

    def result(self, value: Any) -> dict[str, Any]:
        """Return the result for *value*, which the tool returned."""
        module = self.tool.module
        whole = dump_whole_result(value, module)
        content = dump_content(value, module)
        try:
            if whole is not None:
                made = whole_result(whole, self.tool.definition.get("outputSchema"), self.version)
            elif content is not None:
                made = content_result(content, self.version)
            else:
                value = self._json_of(value)
                schema = self.tool.definition.get("outputSchema")
                made = value_result(value, schema, self.version)
            json_text(made).encode()
        except InvalidResult as error:
            return self._invalid_result((ArgumentViolation("", str(error)),))
        except UnicodeEncodeError:
            return self._invalid_result((ArgumentViolation("", "it is not Unicode text"),))
        except RecursionError:
            return self._invalid_result((ArgumentViolation("", "it is nested too deeply"),))
        violations = self._violations(made)
        if violations:
            return self._invalid_result(violations)
        if not self.as_text:
            return made
        if whole is None and content is None:
            # Without the output schema: text is not wrapped.
            made = value_result(value, None, self.version)
        return _as_text(made)

    def _json_of(self, value: Any) -> Any:
        """Return *value* as JSON.

        The annotation decides about fields and serializers; if the value is not of that type,
        the output schema decides whether it is valid all the same.

        Raises:
            InvalidResult: it has no JSON form.
        """
        fault = None
        try:
            plain = json_value(value)
        except (ValueError, RecursionError) as error:
            plain, fault = None, str(error)
        if self.tool.output_model is not None:
            try:
                dumped = self.tool.output_model.dump(value)
            except InvalidResult:
                pass
            else:
                # The same in the words of the function: 72 rather than 72.0, and sets sorted.
                is_same = fault is None and _sorted(dumped) == _sorted(plain)
                return plain if is_same else dumped
        if fault is not None:
            raise InvalidResult(fault)
        return plain

    def _violations(self, result: dict[str, Any]) -> tuple[ArgumentViolation, ...]:
        """Return the violations of *result*, which the tool's values make."""
        blocks = enumerate(result.get("content", ()))
        for index, block in blocks:
            if not is_known_block(block, self.version):
                message = f"content of type {block.get('type')!r} is not in MCP {self.version}"
                return (ArgumentViolation(pointer_of(("content", index)), message),)
        schema = self.tool.definition.get("outputSchema")
        if schema is None or result.get("isError") or not has_structured_content(self.version):
            return ()
        if STRUCTURED_CONTENT not in result:
            if self.as_text:
                return ()
            message = "outputSchema defined but no structured output returned"
            return (ArgumentViolation("", message),)
        # The schema is canonical, or already wrapped.
        name = wrapping_of(schema, self.version)
        value = result[STRUCTURED_CONTENT]
        marked = wrapped_property(schema)
        if name and not marked and isinstance(value, dict) and name in value:
            value = value[name]
        elif marked and not name:
            value = {marked: value}
        prefix = pointer_of((STRUCTURED_CONTENT, *((name,) if name and not marked else ())))
        return tuple(
            ArgumentViolation(prefix + violation.instance_location, violation.message)
            for violation in self.tool.output_checker.violations(value)
        )

    def invalid_arguments(self, error: InvalidArguments) -> dict[str, Any]:
        """Return the result of a call with invalid arguments."""
        return self._error(
            f"Input validation error: The arguments of the call to {error.tool} are not valid:\n"
            f"{_lines(error.violations)}\nCorrect the arguments and call the tool again."
        )

    def _invalid_result(self, violations: tuple[ArgumentViolation, ...]) -> dict[str, Any]:
        return self._error(
            f"Output validation error: The result of {self.tool.config.name} is not valid:\n"
            f"{_lines(violations)}\nThe fault lies in the tool, not in the call."
        )

    def failure(self, error: Exception) -> dict[str, Any]:
        """Return the result of a tool that raised *error*."""
        text = _lines_of(error) if isinstance(error, ValidationError) else str(error)
        return self._error(text or type(error).__name__)

    def _error(self, text: str) -> dict[str, Any]:
        text = text.encode("utf-8", "backslashreplace").decode()
        if self.as_text:
            return build_result(text, is_error=True)
        return content_result([text_block(text)], self.version, is_error=True)


def _sorted(value: Any) -> Any:
    """Return *value* with the items of every array in an order that they alone decide."""
    if isinstance(value, list):
        return sorted(map(_sorted, value), key=json_text)
    if isinstance(value, dict):
        return {name: _sorted(item) for name, item in value.items()}
    return value


def _as_text(result: dict[str, Any]) -> dict[str, Any]:
    """Return a valid result in the text profile, with a line for each content block."""
    is_error, content = result.get("isError", False), result["content"]
    has_profile = result.keys() - {"resultType"} == {"content", "isError"}
    if not (has_profile and all(map(is_text_item, content))):
        return build_result("\n".join(map(describe_block, content)), is_error=is_error)
    return {"content": content, "isError": is_error}


def _lines(violations: tuple[ArgumentViolation, ...]) -> str:
    lines = [
        f"- {violation.instance_location}: {violation.message}"
        if violation.instance_location
        else f"- {violation.message}"
        for violation in violations[:_MAX_LINES]
    ]
    if len(violations) > _MAX_LINES:
        lines.append(f"- and {len(violations) - _MAX_LINES} more")
    return "\n".join(lines)


def _lines_of(error: ValidationError) -> str:
    """Return the errors of pydantic without values and addresses of its documentation."""
    details = error.errors(include_url=False, include_context=False, include_input=False)
    faults = [ArgumentViolation(pointer_of(detail["loc"]), detail["msg"]) for detail in details]
    return f"{error.title} is not valid:\n{_lines(tuple(faults))}"
