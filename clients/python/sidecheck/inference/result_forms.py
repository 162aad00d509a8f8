"""Conversion of return values and errors to results."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from sidecheck.inference.content_blocks import (
    describe_block,
    dump_content,
    dump_whole_result,
    is_known_block,
)
from sidecheck.inference.errors import ArgumentViolation, InvalidArguments
from sidecheck.inference.function_tools import FunctionTool, tool_of
from sidecheck.inference.normalization import (
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
from sidecheck.json_values import json_value
from sidecheck.pointers import as_pointer
from sidecheck.text_contract import build_result, is_text_item
from sidecheck.wrapping import wrapped_property

__all__ = ["ResultForm"]

_PROFILES: Final = ("specification", "text")
#: Violations in the text of an error.
_MAX_LINES: Final = 8


@dataclass(frozen=True, slots=True)
class ResultForm:
    """Form of the results of one call: a protocol version, or the text contract."""

    tool: FunctionTool
    version: str
    as_text: bool

    @classmethod
    def of(cls, function: Callable[..., Any], version: str, profile: str) -> "ResultForm":
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
        """Return the result for *value*, the return value of the tool."""
        module = self.tool.module
        whole = dump_whole_result(value, module)
        content = dump_content(value, module)
        try:
            if whole is not None:
                result = whole_result(whole, self.tool.definition.get("outputSchema"), self.version)
            elif content is not None:
                result = content_result(content, self.version)
            else:
                value = self._json_of(value)
                schema = self.tool.definition.get("outputSchema")
                result = value_result(value, schema, self.version)
            json_text(result).encode()
        except InvalidResult as error:
            return self._invalid_result((ArgumentViolation("", str(error)),))
        except UnicodeEncodeError:
            return self._invalid_result((ArgumentViolation("", "it is not Unicode text"),))
        except RecursionError:
            return self._invalid_result((ArgumentViolation("", "it is nested too deeply"),))
        violations = self._violations(result)
        if violations:
            return self._invalid_result(violations)
        if not self.as_text:
            return result
        if whole is None and content is None:
            # Without the output schema, since text is not wrapped.
            result = value_result(value, None, self.version)
        return _as_text(result)

    def _json_of(self, value: Any) -> Any:
        """Return *value* as JSON.

        The annotation determines fields and serializers. If the value is not of the annotated
        type, the output schema alone determines whether it is valid.

        Raises:
            InvalidResult: *value* has no JSON form.
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
                # If both are equal, keep the form of the function: 72 rather than 72.0, and
                # sorted sets.
                is_same = fault is None and _sort_arrays(dumped) == _sort_arrays(plain)
                return plain if is_same else dumped
        if fault is not None:
            raise InvalidResult(fault)
        return plain

    def _violations(self, result: dict[str, Any]) -> tuple[ArgumentViolation, ...]:
        """Return the violations of *result* by the protocol version and the output schema."""
        blocks = enumerate(result.get("content", ()))
        for index, block in blocks:
            if not is_known_block(block, self.version):
                message = f"content of type {block.get('type')!r} is not in MCP {self.version}"
                return (ArgumentViolation(as_pointer(("content", index)), message),)
        schema = self.tool.definition.get("outputSchema")
        if schema is None or result.get("isError") or not has_structured_content(self.version):
            return ()
        if STRUCTURED_CONTENT not in result:
            if self.as_text:
                return ()
            message = "outputSchema defined but no structured output returned"
            return (ArgumentViolation("", message),)
        # The schema is canonical, or wrapped by its author.
        name = wrapping_of(schema, self.version)
        value = result[STRUCTURED_CONTENT]
        marked = wrapped_property(schema)
        if name and not marked and isinstance(value, dict) and name in value:
            value = value[name]
        elif marked and not name:
            value = {marked: value}
        prefix = as_pointer((STRUCTURED_CONTENT, *((name,) if name and not marked else ())))
        return tuple(
            ArgumentViolation(prefix + violation.instance_location, violation.message)
            for violation in self.tool.output_checker.violations(value)
        )

    def invalid_arguments(self, error: InvalidArguments) -> dict[str, Any]:
        """Return the result of a call with invalid arguments."""
        violations = _format_violations(error.violations)
        return self._error(
            f"Input validation error: The arguments of the call to {error.tool} are not valid:\n"
            f"{violations}\nCorrect the arguments and call the tool again."
        )

    def _invalid_result(self, violations: tuple[ArgumentViolation, ...]) -> dict[str, Any]:
        return self._error(
            f"Output validation error: The result of {self.tool.config.name} is not valid:\n"
            f"{_format_violations(violations)}\nThe fault lies in the tool, not in the call."
        )

    def failure(self, error: Exception) -> dict[str, Any]:
        """Return the result of a tool that raised *error*."""
        text = _format_error(error) if isinstance(error, ValidationError) else str(error)
        return self._error(text or type(error).__name__)

    def _error(self, text: str) -> dict[str, Any]:
        text = text.encode("utf-8", "backslashreplace").decode()
        if self.as_text:
            return build_result(text, is_error=True)
        return content_result([text_block(text)], self.version, is_error=True)


def _sort_arrays(value: Any) -> Any:
    """Return *value* with every array sorted by the JSON text of its items."""
    if isinstance(value, list):
        return sorted(map(_sort_arrays, value), key=json_text)
    if isinstance(value, dict):
        return {name: _sort_arrays(item) for name, item in value.items()}
    return value


def _as_text(result: dict[str, Any]) -> dict[str, Any]:
    """Return a valid result in the text contract, with a line for each content block."""
    is_error, content = result.get("isError", False), result["content"]
    has_profile = result.keys() - {"resultType"} == {"content", "isError"}
    if not (has_profile and all(map(is_text_item, content))):
        return build_result("\n".join(map(describe_block, content)), is_error=is_error)
    return {"content": content, "isError": is_error}


def _format_violations(violations: tuple[ArgumentViolation, ...]) -> str:
    lines = [
        f"- {violation.instance_location}: {violation.message}"
        if violation.instance_location
        else f"- {violation.message}"
        for violation in violations[:_MAX_LINES]
    ]
    if len(violations) > _MAX_LINES:
        lines.append(f"- and {len(violations) - _MAX_LINES} more")
    return "\n".join(lines)


def _format_error(error: ValidationError) -> str:
    """Return the errors of pydantic without values and URLs."""
    details = error.errors(include_url=False, include_context=False, include_input=False)
    faults = [ArgumentViolation(as_pointer(detail["loc"]), detail["msg"]) for detail in details]
    return f"{error.title} is not valid:\n{_format_violations(tuple(faults))}"
