"""Rules on elicitation results, and on errors that list elicitations.

The specification does not mention properties that the form does not define. JSON Schema
accepts them, and so do these rules. The error -32042 of 2025-11-25 lists the elicitations that
must be complete before a retry.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from sidecheck_server.core.limits import spend
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.capabilities import find_client_capabilities, is_declared
from sidecheck_server.core.mcp.rules.elicitation_grammar import has_modes, is_number
from sidecheck_server.core.mcp.rules.rule import (
    Clause,
    DeferredCheck,
    Fault,
    Finding,
    Group,
    Rule,
    RuleSet,
)
from sidecheck_server.core.types import Severity

__all__ = ["REQUEST_RULES"]

_SINCE = "2025-06-18"
_MODES = "2025-11-25"
_RESULT = "ElicitResult"
_ACTIONS = Clause("client/elicitation", "response-actions")
_CONTENT = ("content",)


def _get_mode(context: Context) -> str:
    """Return the mode of the request, or "" if unknown."""
    request = context.request
    if not has_modes(context.version):
        return "form"
    # For a result nested in another message, the request is that of the message.
    if not isinstance(request, dict):
        return ""
    if request.get("mode") == "url":
        return "url"
    return "form" if "requestedSchema" in request else ""


_RESULT_RULES = RuleSet(Group.ELICITATION_RESULTS, on=_RESULT, since=_SINCE)


@_RESULT_RULES.rule(
    "ELICITATION_CONTENT_MISSING",
    Severity.ERROR,
    _ACTIONS,
    "A result that accepts a form MUST have content. (The content SHOULD be valid against the"
    " form; invalid content is a warning.)",
)
def _content_missing(value: Any, context: Context) -> Iterator[Finding]:
    if not isinstance(value, dict) or value.get("action") != "accept":
        return
    if _get_mode(context) != "form":
        return
    if "content" not in value:
        yield Fault((), 'missing required property "content" of a result that accepts a form')
        return
    request = context.request
    schema = request.get("requestedSchema") if isinstance(request, dict) else None
    if isinstance(schema, dict) and isinstance(value["content"], dict):
        yield _defer_content(value["content"], schema, context)


def _defer_content(
    content: dict[str, Any], schema: dict[str, Any], context: Context
) -> DeferredCheck:
    """Return the deferred check of *content* against *schema*."""
    spend(context.budget, 20 * (len(content) + len(schema)))
    # The published schema reports values that no field accepts; do not report them again.
    reported = {name for name, item in content.items() if not _is_acceptable(item, context)}
    if reported:
        content = {name: item for name, item in content.items() if name not in reported}
        schema = dict(schema)
        if isinstance(schema.get("required"), list):
            spend(context.budget, 10 * len(schema["required"]))
            schema["required"] = [
                name
                for name in schema["required"]
                if not isinstance(name, str) or name not in reported
            ]
    return DeferredCheck(
        schema,
        schema_path=(),
        value=(content,),
        value_path=_CONTENT,
        # Decision 0030: the formats of a form are what the user is asked for.
        assert_formats=True,
        # The check of the request reports faults of the form.
        silent=True,
        # Both sides SHOULD validate the content.
        severity=Severity.WARNING,
    )


def _is_acceptable(item: Any, context: Context) -> bool:
    """Return whether the published schema accepts *item* as the value of some field."""
    if isinstance(item, list) and has_modes(context.version):
        spend(context.budget, 4 * len(item))
        return all(isinstance(option, str) for option in item)
    return isinstance(item, str | bool) or is_number(item)


@_RESULT_RULES.rule(
    "ELICITATION_CONTENT_UNASKED",
    Severity.WARNING,
    _ACTIONS,
    "A result that accepts in url mode SHOULD NOT have content: the page collects it.",
    since=_MODES,
)
def _content_unasked(value: Any, context: Context) -> Iterator[Fault]:
    if (
        isinstance(value, dict)
        and value.get("action") == "accept"
        and isinstance(value.get("content"), dict)
        and _get_mode(context) == "url"
    ):
        yield Fault(_CONTENT, 'a result that accepts in url mode should have no "content"')


@_RESULT_RULES.rule(
    "ELICITATION_CONTENT_WITHOUT_ACCEPT",
    Severity.WARNING,
    _ACTIONS,
    'A result that declines or cancels SHOULD NOT have content ("typically omitted").',
)
def _content_without_accept(value: Any, _context: Context) -> Iterator[Fault]:
    if (
        isinstance(value, dict)
        and value.get("action") in ("decline", "cancel")
        and isinstance(value.get("content"), dict)
    ):
        yield Fault(
            _CONTENT, f'a result with the action "{value["action"]}" should have no "content"'
        )


REQUEST_RULES: tuple[Rule, ...] = (_content_missing, _content_unasked)
"""Rules that compare a result with its request."""

_DATA = "URLElicitationRequiredErrorData"
_VERSION = "2025-11-25"

_ERROR_RULES = RuleSet(Group.ELICITATION_ERRORS, on=_DATA, since=_VERSION, until=_VERSION)


@_ERROR_RULES.rule(
    "ELICITATION_ERROR_EMPTY",
    Severity.ERROR,
    Clause("client/elicitation", "url-elicitation-required-error"),
    "The error -32042 MUST list the elicitations to complete before a retry.",
)
def _empty(data: Any, _context: Context) -> Iterable[Fault]:
    if isinstance(data, dict) and data.get("elicitations") == []:
        message = "expected the elicitations to complete before a retry, found none"
        return (Fault(("elicitations",), message),)
    return ()


@_ERROR_RULES.rule(
    "ELICITATION_ERROR_UNDECLARED",
    Severity.ERROR,
    Clause("client/elicitation", "capabilities"),
    "A server MUST NOT request elicitations in an error from a client that did not"
    " declare elicitation. (ELICITATION_MODE_NOT_DECLARED applies to clients that did.)",
)
def _undeclared(data: Any, context: Context) -> Iterable[Fault]:
    declared = find_client_capabilities(context)
    if declared is None or is_declared(declared, "elicitation"):
        return ()
    if isinstance(data, dict) and data.get("elicitations"):
        message = "the client did not declare the capability elicitation.url"
        return (Fault(("elicitations",), message),)
    return ()
