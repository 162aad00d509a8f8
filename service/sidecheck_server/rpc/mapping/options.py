"""Validation options of requests."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from sidecheck.v1 import options_pb2

from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.context import check_version_known
from sidecheck_server.core.repair.types import Coercion, Repairs, UnknownArguments
from sidecheck_server.rpc.mapping.fields import max_violations_from_proto, unknown_value
from sidecheck_server.services.validation import ValidationOptions

__all__ = ["options_from_proto"]

_NO_REPAIRS = Repairs()
_UNKNOWN_ARGUMENTS: Mapping[int, UnknownArguments] = MappingProxyType(
    {
        options_pb2.UNKNOWN_ARGUMENTS_UNSPECIFIED: UnknownArguments.SCHEMA,
        options_pb2.UNKNOWN_ARGUMENTS_SCHEMA: UnknownArguments.SCHEMA,
        options_pb2.UNKNOWN_ARGUMENTS_REJECT: UnknownArguments.REJECT,
        options_pb2.UNKNOWN_ARGUMENTS_STRIP: UnknownArguments.STRIP,
        options_pb2.UNKNOWN_ARGUMENTS_REPORT: UnknownArguments.REPORT,
    }
)
_COERCIONS: Mapping[int, Coercion] = MappingProxyType(
    {
        options_pb2.COERCION_UNSPECIFIED: Coercion.NONE,
        options_pb2.COERCION_NONE: Coercion.NONE,
        options_pb2.COERCION_JSON_STRINGS: Coercion.JSON_STRINGS,
        options_pb2.COERCION_SAFE_SCALARS: Coercion.SAFE_SCALARS,
    }
)
_ENUMS: Mapping[str, Any] = MappingProxyType(
    {
        "detail": options_pb2.Detail,
        "unknown_arguments": options_pb2.UnknownArguments,
        "coercion": options_pb2.Coercion,
        "on_unknown_tool": options_pb2.OnUnknownTool,
    }
)


def options_from_proto(options: options_pb2.ValidationOptions, limits: Limits) -> ValidationOptions:
    """Return the options of a request.

    Raises:
        RequestError: INVALID_REQUEST for an unknown enum value; UNKNOWN_PROTOCOL_VERSION.
    """
    values = {name: _enum_value(options, name) for name in _ENUMS}
    check_version_known(options.protocol_version)
    detail = values["detail"]
    repairs = Repairs(
        _UNKNOWN_ARGUMENTS[values["unknown_arguments"]],
        _COERCIONS[values["coercion"]],
        options.apply_defaults,
    )
    max_violations = max_violations_from_proto(options.max_violations, limits)
    lists_violations = detail != options_pb2.DETAIL_VERDICT_ONLY
    return ValidationOptions(
        evaluation=EvaluationOptions(
            max_violations=1 if detail == options_pb2.DETAIL_FIRST else max_violations,
            max_length=limits.verdict_characters,
            hide_values=options.hide_values,
            explains=lists_violations,
            repairs=None if repairs == _NO_REPAIRS else repairs,
        ),
        version=options.protocol_version,
        assert_formats=options.assert_formats,
        lists_violations=lists_violations,
        skips_unknown_tools=values["on_unknown_tool"] == options_pb2.ON_UNKNOWN_TOOL_SKIP,
    )


def _enum_value(options: options_pb2.ValidationOptions, name: str) -> int:
    value: int = getattr(options, name)
    if value not in _ENUMS[name].values():
        raise unknown_value(name)
    return value
