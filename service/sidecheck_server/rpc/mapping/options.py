"""How payloads are to be judged, from the wire."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from sidecheck.v1 import options_pb2

from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.versions import DEFAULT_VERSION, check_version_known
from sidecheck_server.core.repair.types import Coercion, Repairs, UnknownArguments
from sidecheck_server.rpc.mapping.limits import most_violations
from sidecheck_server.rpc.mapping.values import no_such_value

__all__ = ["ValidationOptions", "options_from_wire"]


@dataclass(frozen=True, slots=True)
class ValidationOptions:
    """Everything that the options of a request ask for."""

    how: EvaluationOptions
    assert_formats: bool
    #: The protocol version whose rules hold.
    version: str
    #: Whether a verdict lists its violations.
    tells: bool
    #: Whether a call to an unknown tool is valid.
    skips_unknown_tools: bool


def options_from_wire(options: options_pb2.ValidationOptions, limits: Limits) -> ValidationOptions:
    """Return what *options* ask for.

    Raises:
        Refusal: INVALID_REQUEST or UNKNOWN_PROTOCOL_VERSION.
    """
    chosen = {name: _chosen(options, name) for name in _ENUMS}
    check_version_known(options.protocol_version)
    detail = chosen["detail"]
    repairs = Repairs(
        _UNKNOWN_ARGUMENTS[chosen["unknown_arguments"]],
        _COERCIONS[chosen["coercion"]],
        options.apply_defaults,
    )
    wanted = most_violations(options.max_violations, limits)
    return ValidationOptions(
        how=EvaluationOptions(
            max_violations=1 if detail == options_pb2.DETAIL_FIRST else wanted,
            max_length=limits.verdict_characters,
            hide_values=options.hide_values,
            explains=detail != options_pb2.DETAIL_VERDICT_ONLY,
            repairs=None if repairs == _NO_REPAIRS else repairs,
        ),
        assert_formats=options.assert_formats,
        version=options.protocol_version or DEFAULT_VERSION,
        tells=detail != options_pb2.DETAIL_VERDICT_ONLY,
        skips_unknown_tools=chosen["on_unknown_tool"] == options_pb2.ON_UNKNOWN_TOOL_SKIP,
    )


_NO_REPAIRS = Repairs()
_UNKNOWN_ARGUMENTS: Mapping[int, UnknownArguments] = {
    options_pb2.UNKNOWN_ARGUMENTS_UNSPECIFIED: UnknownArguments.SCHEMA,
    options_pb2.UNKNOWN_ARGUMENTS_SCHEMA: UnknownArguments.SCHEMA,
    options_pb2.UNKNOWN_ARGUMENTS_REJECT: UnknownArguments.REFUSE,
    options_pb2.UNKNOWN_ARGUMENTS_STRIP: UnknownArguments.STRIP,
    options_pb2.UNKNOWN_ARGUMENTS_REPORT: UnknownArguments.REPORT,
}
_COERCIONS: Mapping[int, Coercion] = {
    options_pb2.COERCION_UNSPECIFIED: Coercion.NONE,
    options_pb2.COERCION_NONE: Coercion.NONE,
    options_pb2.COERCION_JSON_STRINGS: Coercion.JSON_STRINGS,
    options_pb2.COERCION_SAFE_SCALARS: Coercion.SAFE_SCALARS,
}


def _chosen(options: options_pb2.ValidationOptions, name: str) -> int:
    value: int = getattr(options, name)
    if value not in _ENUMS[name].values():
        raise no_such_value(name)
    return value


_ENUMS: Mapping[str, Any] = MappingProxyType(
    {
        "detail": options_pb2.Detail,
        "unknown_arguments": options_pb2.UnknownArguments,
        "coercion": options_pb2.Coercion,
        "on_unknown_tool": options_pb2.OnUnknownTool,
    }
)
