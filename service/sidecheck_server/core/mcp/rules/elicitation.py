"""Requests of elicitation: the mode, the form as a whole, and what it must not ask for."""

from collections.abc import Iterable, Iterator
from typing import Any

from sidecheck_server.core.budget import spend
from sidecheck_server.core.explain.nearest import nearest
from sidecheck_server.core.explain.values import Values, quoted
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.capabilities import declared_by_client
from sidecheck_server.core.mcp.rules.elicitation_grammar import (
    REQUESTED_SCHEMA,
    has_modes,
    nearest_keyword,
)
from sidecheck_server.core.mcp.rules.elicitation_ordinary import (
    is_flat_form,
    shows_nothing_odd,
)
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Path, Rule, rule, sparing
from sidecheck_server.core.mcp.rules.secrets import asks_for_secret, names_secret, shows_link
from sidecheck_server.core.types import Severity

__all__ = ["RULES"]

_SINCE = "2025-06-18"
_MODES = "2025-11-25"
_FORM = "ElicitRequestFormParams"
_URL = "ElicitRequestURLParams"

#: What the root of a form may have, and what says nothing about answers.
_ROOT = ("type", "properties", "required", "$schema")
_ANNOTATIONS = ("title", "description")


def _form(value: Any, context: Context) -> dict[str, Any] | None:
    """Return the schema of the form that *value* asks for, if it has one."""
    if not isinstance(value, dict) or (has_modes(context.version) and value.get("mode") == "url"):
        return None
    schema = value.get("requestedSchema")
    return schema if isinstance(schema, dict) else None


def _fields(schema: dict[str, Any], context: Context) -> dict[str, Any]:
    """Return the fields of a form by name."""
    fields = schema.get("properties")
    if not isinstance(fields, dict):
        return {}
    spend(context.budget, 20 * len(fields))
    return fields


@rule(
    "ELICITATION_MODE_NOT_DECLARED",
    severity=Severity.ERROR,
    clause=Clause("client/elicitation", "capabilities"),
    sentence=(
        "A server asks only in a mode that the client declared, where an empty "
        '"elicitation" stands for the form alone; clients of 2025-11-25 answer with -32602 '
        "(Invalid params)."
    ),
    on=(_FORM, _URL),
    since=_MODES,
)
def _mode_declared(value: Any, context: Context) -> Iterable[Fault]:
    declared = declared_by_client(context)
    elicitation = None if declared is None else declared.get("elicitation")
    # If it declared no elicitation at all, that is told with the method.
    if not isinstance(value, dict) or not isinstance(elicitation, dict):
        return ()
    mode = value.get("mode", "form")
    # Whatever else is declared: only one that names url and not form does without the form.
    form = "form" in elicitation or "url" not in elicitation
    lacks = (mode == "form" and not form) or (mode == "url" and "url" not in elicitation)
    if not lacks:
        return ()
    at = ("mode",) if "mode" in value else ()
    return (Fault(at, f"the client did not declare the capability elicitation.{mode}"),)


@rule(
    "ELICITATION_ROOT_KEYWORD",
    severity=Severity.ERROR,
    clause=REQUESTED_SCHEMA,
    sentence=(
        "The schema of a form is a flat object: its root has a type, properties, required "
        "and, since 2025-11-25, $schema."
    ),
    on=_FORM,
    since=_SINCE,
)
def _root_keyword(value: Any, context: Context) -> Iterator[Fault]:
    schema = _form(value, context)
    if schema is None:
        return
    known = _ROOT if has_modes(context.version) else _ROOT[:3]
    spend(context.budget, 10 * len(schema))
    for name in schema:
        if name not in known and name not in _ANNOTATIONS:
            what = Values(hidden=context.hide_values).property_named(name, "keyword")
            yield Fault(
                ("requestedSchema", name),
                f"the schema of a form cannot have the {what} at its root; known are "
                '"type", "properties" and "required"',
                nearest_keyword(name, known, context),
            )


@rule(
    "ELICITATION_ROOT_ANNOTATION",
    severity=Severity.WARNING,
    clause=REQUESTED_SCHEMA,
    sentence=(
        "The root of a form has no title and no description: clients need not show them. "
        "Generators of schemas put them there, and they change no answer, so this is no error."
    ),
    on=_FORM,
    since=_SINCE,
)
def _root_annotation(value: Any, context: Context) -> Iterator[Fault]:
    schema = _form(value, context)
    for name in _ANNOTATIONS if schema is not None else ():
        if schema is not None and name in schema:
            yield Fault(
                ("requestedSchema", name),
                f'the schema of a form should have no "{name}" at its root; "message" says '
                "what is asked for",
                "message",
            )


@rule(
    "ELICITATION_REQUIRED_UNDEFINED",
    severity=Severity.ERROR,
    clause=REQUESTED_SCHEMA,
    sentence="What a form requires is one of its fields: for anything else no field asks, and "
    "no answer fits.",
    on=_FORM,
    since=_SINCE,
)
def _required_undefined(value: Any, context: Context) -> Iterator[Fault]:
    schema = _form(value, context)
    required = None if schema is None else schema.get("required")
    if schema is None or not isinstance(required, list):
        return
    if not isinstance(schema.get("properties"), dict):
        return
    fields = _fields(schema, context)
    spend(context.budget, 10 * len(required))
    told: set[str] = set()
    for index, name in enumerate(required):
        if isinstance(name, str) and name not in fields and name not in told:
            told.add(name)
            # Comparing with the fields, of which two hundred are looked at.
            spend(context.budget, 100 + 100 * min(len(fields), 200))
            what = Values(hidden=context.hide_values).property_named(name, "field")
            yield Fault(
                ("requestedSchema", "required", index),
                f'the {what} is required, but is not among "properties"',
                "" if context.hide_values else nearest(name, fields),
            )


@rule(
    "ELICITATION_REQUIRED_REPEATED",
    severity=Severity.ERROR,
    clause=REQUESTED_SCHEMA,
    sentence="A form requires each field once: JSON Schema refuses repeated names.",
    on=_FORM,
    since=_SINCE,
)
def _required_repeated(value: Any, context: Context) -> Iterator[Fault]:
    schema = _form(value, context)
    required = None if schema is None else schema.get("required")
    if not isinstance(required, list):
        return
    spend(context.budget, 10 * len(required))
    seen: set[str] = set()
    for index, name in enumerate(required):
        if isinstance(name, str) and name in seen:
            what = Values(hidden=context.hide_values).property_named(name, "field")
            yield Fault(
                ("requestedSchema", "required", index), f"the {what} is required more than once"
            )
        elif isinstance(name, str):
            seen.add(name)


@rule(
    "ELICITATION_SENSITIVE_FIELD",
    severity=Severity.WARNING,
    clause=Clause("client/elicitation", "user-interaction-model"),
    sentence=(
        "A form does not ask for passwords, API keys, access tokens or payment credentials. "
        "The specification forbids it (MUST NOT); but names only suggest what is asked for, "
        "and a guess makes nothing invalid."
    ),
    on=_FORM,
    since=_SINCE,
)
def _sensitive_field(value: Any, context: Context) -> Iterator[Fault]:
    schema = _form(value, context)
    if schema is None:
        return
    found = False
    for name, field in _fields(schema, context).items():
        if not _is_free_text(field):
            continue
        secret = names_secret(name, context.budget)
        for text in (field.get("title"), field.get("description")):
            if not secret and isinstance(text, str):
                asks = names_secret if text is field.get("title") else asks_for_secret
                secret = asks(text, context.budget)
        if secret:
            found = True
            what = Values(hidden=context.hide_values).property_named(name, "field")
            path = ("requestedSchema", "properties", name)
            yield Fault(path, f"the {what} {_seems(secret, context)}")
    message = value.get("message")
    if not found and isinstance(message, str):
        secret = asks_for_secret(message, context.budget)
        if secret:
            yield Fault(("message",), f"the message {_seems(secret, context)}")


def _seems(secret: str, context: Context) -> str:
    what = "a secret" if context.hide_values else quoted(secret)
    modes = has_modes(context.version)
    instead = "ask for it in url mode" if modes else "a server must not ask for it"
    return f"seems to ask for {what}; {instead}"


def _is_free_text(field: Any) -> bool:
    # What is chosen from a list, counted or confirmed is no secret, whatever its name.
    return (
        isinstance(field, dict)
        and field.get("type") == "string"
        and not any(keyword in field for keyword in ("enum", "oneOf", "format"))
    )


@rule(
    "ELICITATION_LINK_IN_FORM",
    severity=Severity.WARNING,
    clause=Clause("client/elicitation", "safe-url-handling"),
    sentence=(
        "A form shows no URL to be clicked in any of its texts; url mode is there for that. "
        "A default is data, and may be one."
    ),
    on=_FORM,
    since=_MODES,
)
def _link_in_form(value: Any, context: Context) -> Iterator[Fault]:
    schema = _form(value, context)
    if schema is None:
        return
    texts: list[tuple[Path, Any]] = [(("message",), value.get("message"))]
    for name, field in _fields(schema, context).items():
        if isinstance(field, dict):
            where = ("requestedSchema", "properties", name)
            texts += [((*where, key), field.get(key)) for key in _ANNOTATIONS]
    for path, text in texts:
        if isinstance(text, str) and shows_link(text, context.budget):
            yield Fault(path, "a form should show no URL in its texts; url mode opens one")


RULES: tuple[Rule, ...] = (
    _mode_declared,
    *sparing(
        is_flat_form, (_root_keyword, _root_annotation, _required_undefined, _required_repeated)
    ),
    *sparing(shows_nothing_odd, (_sensitive_field, _link_in_form)),
)
