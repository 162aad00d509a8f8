"""Results of elicitation: what the action promises, and the content against the form.

The specification says of members that the form does not define nothing at all, and JSON
Schema lets them through; so do these rules.
"""

from collections.abc import Iterator
from typing import Any

from sidecheck_server.core.budget import spend
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.elicitation_grammar import has_modes, is_number
from sidecheck_server.core.mcp.rules.rule import Clause, DeferredCheck, Fault, Found, Rule, rule
from sidecheck_server.core.types import Severity

__all__ = ["RULES"]

_SINCE = "2025-06-18"
_MODES = "2025-11-25"
_RESULT = "ElicitResult"
_ACTIONS = Clause("client/elicitation", "response-actions")
_CONTENT = ("content",)


def _mode(context: Context) -> str:
    """Return the mode that was asked in, or "" if that is not known."""
    request = context.request
    if not has_modes(context.version):
        return "form"
    # A result may stand inside of another message, whose request is a different one.
    if not isinstance(request, dict):
        return ""
    if request.get("mode") == "url":
        return "url"
    return "form" if "requestedSchema" in request else ""


@rule(
    "ELICITATION_CONTENT_MISSING",
    severity=Severity.ERROR,
    clause=_ACTIONS,
    sentence="Who accepts a form sends its content, which matches the requested schema.",
    on=_RESULT,
    since=_SINCE,
)
def _content_missing(value: Any, context: Context) -> Iterator[Found]:
    if not isinstance(value, dict) or value.get("action") != "accept":
        return
    if _mode(context) != "form":
        return
    if "content" not in value:
        yield Fault((), 'who accepts a form must send "content"')
        return
    request = context.request
    schema = request.get("requestedSchema") if isinstance(request, dict) else None
    if isinstance(schema, dict) and isinstance(value["content"], dict):
        yield _matching(value["content"], schema, context)


def _matching(content: dict[str, Any], schema: dict[str, Any], context: Context) -> DeferredCheck:
    """Return the question whether *content* matches *schema*."""
    spend(context.budget, 20 * (len(content) + len(schema)))
    # A value that no answer may be is told by the shape, and is not to be told again.
    told = {name for name, answer in content.items() if not _may_answer(answer, context)}
    if told:
        content = {name: answer for name, answer in content.items() if name not in told}
        schema = dict(schema)
        if isinstance(schema.get("required"), list):
            spend(context.budget, 10 * len(schema["required"]))
            schema["required"] = [
                name for name in schema["required"] if not isinstance(name, str) or name not in told
            ]
    return DeferredCheck(
        schema,
        schema_path=(),
        value=(content,),
        value_path=_CONTENT,
        assert_formats=True,
        # The form is checked when it is asked for.
        silent=True,
    )


def _may_answer(answer: Any, context: Context) -> bool:
    """Return whether the published schema lets *answer* stand for some field."""
    if isinstance(answer, list) and has_modes(context.version):
        spend(context.budget, 4 * len(answer))
        return all(isinstance(each, str) for each in answer)
    return isinstance(answer, str | bool) or is_number(answer)


@rule(
    "ELICITATION_CONTENT_UNASKED",
    severity=Severity.ERROR,
    clause=_ACTIONS,
    sentence="Who accepts in url mode sends no content: what was asked for goes to the page.",
    on=_RESULT,
    since=_MODES,
)
def _content_unasked(value: Any, context: Context) -> Iterator[Fault]:
    if (
        isinstance(value, dict)
        and value.get("action") == "accept"
        and isinstance(value.get("content"), dict)
        and _mode(context) == "url"
    ):
        yield Fault(_CONTENT, 'who accepts in url mode must send no "content"')


@rule(
    "ELICITATION_CONTENT_WITHOUT_ACCEPT",
    severity=Severity.WARNING,
    clause=_ACTIONS,
    sentence='Who declines or cancels sends no content: "typically", the specification says.',
    on=_RESULT,
    since=_SINCE,
)
def _content_without_accept(value: Any, _context: Context) -> Iterator[Fault]:
    if (
        isinstance(value, dict)
        and value.get("action") in ("decline", "cancel")
        and isinstance(value.get("content"), dict)
    ):
        yield Fault(_CONTENT, f'who answers "{value["action"]}" should send no "content"')


RULES: tuple[Rule, ...] = (_content_missing, _content_unasked, _content_without_accept)
