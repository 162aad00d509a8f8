"""Between the wire and the core: the only module that knows both."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from sidecheck.v1 import (
    info_service_pb2,
    options_pb2,
    registry_service_pb2,
    target_pb2,
    verdict_pb2,
)

from sidecheck_server.core.judge import Judging
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.versions import refuse_unknown_version
from sidecheck_server.core.refusals import Reason, Refusal
from sidecheck_server.core.schemas.dialects import DEFAULT_DIALECT
from sidecheck_server.core.schemas.source import SchemaSource
from sidecheck_server.core.tool_error_text import tool_error_text
from sidecheck_server.core.words import Document, Severity, Violation
from sidecheck_server.registry.definitions import Action, Binding
from sidecheck_server.state.registration import OnChange, Outcome, Registration
from sidecheck_server.state.targets import (
    DefinitionDigest,
    InlineTool,
    RegisteredTool,
    SchemaDigest,
    Side,
    Target,
)
from sidecheck_server.state.validation import Judged, Validation

__all__ = [
    "limits_to_wire",
    "outcome_to_wire",
    "registration_from_wire",
    "tool_to_wire",
    "validation_from_wire",
    "verdict_to_wire",
]

_DEFAULT_VIOLATIONS = 20

_SEVERITIES = {
    Severity.ERROR: verdict_pb2.SEVERITY_ERROR,
    Severity.WARNING: verdict_pb2.SEVERITY_WARNING,
    Severity.INFO: verdict_pb2.SEVERITY_INFO,
}
_SIDES = {"arguments": Side.INPUT, "structured_content": Side.OUTPUT}
_ON_CHANGE = {
    registry_service_pb2.ON_CHANGE_UNSPECIFIED: OnChange.ACCEPT,
    registry_service_pb2.ON_CHANGE_ACCEPT: OnChange.ACCEPT,
    registry_service_pb2.ON_CHANGE_REPORT: OnChange.REPORT,
    registry_service_pb2.ON_CHANGE_REFUSE: OnChange.REFUSE,
}
_ACTIONS = {
    Action.CREATED: registry_service_pb2.RegistrationOutcome.ACTION_CREATED,
    Action.CHANGED: registry_service_pb2.RegistrationOutcome.ACTION_CHANGED,
    Action.UNCHANGED: registry_service_pb2.RegistrationOutcome.ACTION_UNCHANGED,
    None: registry_service_pb2.RegistrationOutcome.ACTION_REFUSED,
}
# For each option that is not served whole, its enum and the values that are.
_SERVED: Mapping[str, tuple[Any, Collection[int]]] = {
    "detail": (options_pb2.Detail, {options_pb2.DETAIL_UNSPECIFIED, options_pb2.DETAIL_ALL}),
    "unknown_arguments": (
        options_pb2.UnknownArguments,
        {options_pb2.UNKNOWN_ARGUMENTS_UNSPECIFIED, options_pb2.UNKNOWN_ARGUMENTS_SCHEMA},
    ),
    "coercion": (
        options_pb2.Coercion,
        {options_pb2.COERCION_UNSPECIFIED, options_pb2.COERCION_NONE},
    ),
    "on_unknown_tool": (
        options_pb2.OnUnknownTool,
        {options_pb2.ON_UNKNOWN_TOOL_UNSPECIFIED, options_pb2.ON_UNKNOWN_TOOL_REFUSE},
    ),
}


# From the wire


def validation_from_wire(
    target: target_pb2.Target,
    subject: target_pb2.Subject,
    options: options_pb2.ValidationOptions,
    limits: Limits,
) -> Validation:
    """Return the validation that three parts of a request ask for.

    Raises:
        Refusal: INVALID_REQUEST, UNIMPLEMENTED or UNKNOWN_PROTOCOL_VERSION.
    """
    _refuse_unserved(options)
    side, payload = _subject(subject)
    wanted = options.max_violations or _DEFAULT_VIOLATIONS
    return Validation(
        target=_target(target),
        side=side,
        payload=payload,
        how=Judging(max_violations=min(wanted, limits.violations), hide_values=options.hide_values),
        assert_formats=options.assert_formats,
    )


def registration_from_wire(request: registry_service_pb2.RegisterToolsRequest) -> Registration:
    """Return the registration that a request asks for.

    Raises:
        Refusal: INVALID_REQUEST for an enum value that does not exist.
    """
    on_change = _ON_CHANGE.get(request.on_change)
    modes = registry_service_pb2.RegistrationMode.values()
    if on_change is None or request.mode not in modes:
        raise _no_such_value("on_change" if on_change is None else "mode")
    return Registration(
        server=request.server,
        tools=tuple(InlineTool(tool.json, _documents(tool.documents)) for tool in request.tools),
        replace=request.mode == registry_service_pb2.REGISTRATION_MODE_REPLACE,
        on_change=on_change,
        validate_only=request.validate_only,
    )


def _target(target: target_pb2.Target) -> Target:
    match target.WhichOneof("target"):
        case "registered_tool":
            named = target.registered_tool
            return RegisteredTool(named.server, named.name, named.definition_digest)
        case "definition_digest":
            return DefinitionDigest(target.definition_digest)
        case "schema_digest":
            return SchemaDigest(target.schema_digest)
        case "inline_tool":
            tool = target.inline_tool
            return InlineTool(tool.json, _documents(tool.documents))
        case "inline_schema":
            schema = target.inline_schema
            dialect = schema.default_dialect or DEFAULT_DIALECT.uri
            return SchemaSource(schema.json, _documents(schema.documents), dialect)
        case _:
            raise Refusal(
                Reason.INVALID_REQUEST,
                "the request has no target to judge under",
                {"field": "target"},
            )


def _subject(subject: target_pb2.Subject) -> tuple[Side, bytes]:
    name = subject.WhichOneof("subject")
    if name is None:
        raise Refusal(
            Reason.INVALID_REQUEST, "the request has no subject to judge", {"field": "subject"}
        )
    if name not in _SIDES:
        raise _unserved(f"subject.{name}")
    return _SIDES[name], getattr(subject, name)


def _documents(documents: Iterable[target_pb2.Document]) -> tuple[Document, ...]:
    return tuple(Document(document.uri, document.json) for document in documents)


def _refuse_unserved(options: options_pb2.ValidationOptions) -> None:
    for name, (values, served) in _SERVED.items():
        value = getattr(options, name)
        if value not in served:
            if value not in values.values():
                raise _no_such_value(name)
            raise _unserved(f"options.{name} = {values.Name(value)}")
    if options.apply_defaults:
        raise _unserved("options.apply_defaults")
    refuse_unknown_version(options.protocol_version)


def _unserved(what: str) -> Refusal:
    return Refusal(
        Reason.UNIMPLEMENTED,
        f"{what} is a part of the API that this release does not serve",
        {"feature": what},
    )


def _no_such_value(field: str) -> Refusal:
    return Refusal(
        Reason.INVALID_REQUEST,
        f"the value of {field} is none that the API defines",
        {"field": field},
    )


# To the wire


def verdict_to_wire(judged: Judged, side: Side) -> verdict_pb2.Verdict:
    """Return the message of a verdict, with the text for the model if it is invalid."""
    verdict = judged.verdict
    if not verdict.violations:
        return verdict_pb2.Verdict(
            valid=True,
            definition_digest=judged.definition_digest,
            schema_digest=judged.schema_digest,
        )
    text = ""
    if side is Side.INPUT and not verdict.valid:
        text = tool_error_text(verdict, tool=judged.tool or None)
    return verdict_pb2.Verdict(
        valid=verdict.valid,
        violations=[_violation(found) for found in verdict.violations],
        truncated=verdict.truncated,
        definition_digest=judged.definition_digest,
        schema_digest=judged.schema_digest,
        tool_error_text=text,
    )


def outcome_to_wire(outcome: Outcome) -> registry_service_pb2.RegistrationOutcome:
    """Return the message of what happened to one definition."""
    definition = outcome.definition
    return registry_service_pb2.RegistrationOutcome(
        name=outcome.name,
        action=_ACTIONS[outcome.action],
        problems=[_violation(problem) for problem in outcome.problems],
        definition_digest=outcome.digest,
        input_schema_digest=definition.input_schema_digest if definition else "",
        output_schema_digest=(definition.output_schema_digest or "") if definition else "",
        previous_definition_digest=outcome.previous_digest,
    )


def tool_to_wire(binding: Binding) -> registry_service_pb2.Tool:
    """Return the message of a registered tool."""
    definition = binding.definition
    return registry_service_pb2.Tool(
        server=binding.server,
        name=binding.name,
        json=definition.json,
        documents=[
            target_pb2.Document(uri=document.uri, json=document.json)
            for document in definition.documents
        ],
        definition_digest=definition.digest,
        input_schema_digest=definition.input_schema_digest,
        output_schema_digest=definition.output_schema_digest or "",
        revision=binding.revision,
    )


def limits_to_wire(limits: Limits) -> info_service_pb2.Limits:
    """Return the message of the server's bounds."""
    told = info_service_pb2.Limits.DESCRIPTOR.fields_by_name
    values: dict[str, Any] = {name: getattr(limits, name) for name in told}
    return info_service_pb2.Limits(**values)


def _violation(found: Violation) -> verdict_pb2.Violation:
    return verdict_pb2.Violation(
        instance_pointer=found.instance_pointer,
        schema_pointer=found.schema_pointer,
        keyword=found.keyword,
        code=found.code,
        severity=_SEVERITIES[found.severity],
        message=found.message,
        suggestion=found.suggestion,
        clause=found.clause,
    )
