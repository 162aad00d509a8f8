"""Intended differences between the type model and the published schemas.

The specification calls ``schema.ts`` the source of truth. The JSON Schemas are generated from
it, and the generator turns a plain number into an integer. Where they differ, or where binding
prose requires more, the type model follows ``schema.ts`` and the prose.
"""

from dataclasses import dataclass

__all__ = ["ERRATA", "Erratum"]


@dataclass(frozen=True, slots=True)
class Erratum:
    """A place where a published schema is wrong."""

    #: Versions whose schema is wrong.
    versions: tuple[str, ...]
    #: Name of the type in the type model.
    type: str
    #: Property of the type, or "" for the whole type.
    property: str
    #: Values that the published schema accepts.
    published: str
    #: Values that the type model accepts.
    correct: str
    #: Evidence for the difference.
    reason: str


_INTEGERS = "schema.ts has a number, which the generator turned into an integer"
_ENVELOPE = (
    "the general rules on `_meta`, which requests and notifications share; the schema "
    "lists the properties of these params in place and leaves it out"
)

ERRATA: tuple[Erratum, ...] = (
    Erratum(
        ("2025-06-18",),
        "ElicitResult",
        "content",
        "values that are strings, integers or booleans",
        "values that are strings, numbers or booleans",
        _INTEGERS,
    ),
    Erratum(
        ("2025-11-25", "2026-07-28"),
        "ElicitResult",
        "content",
        "values that are strings, integers, booleans or arrays of strings",
        "values that are strings, numbers, booleans or arrays of strings",
        _INTEGERS,
    ),
    Erratum(
        ("2026-07-28",),
        "JSONValue",
        "",
        "neither null nor numbers other than integers, at any depth",
        "any JSON value",
        "schema.ts has string | number | boolean | null | JSONObject | JSONArray",
    ),
    *(
        Erratum(
            ("2025-11-25",),
            type_,
            "_meta",
            "anything",
            meta,
            _ENVELOPE,
        )
        for type_, meta in (
            ("GetTaskRequestParams", "RequestMetaObject"),
            ("GetTaskPayloadRequestParams", "RequestMetaObject"),
            ("CancelTaskRequestParams", "RequestMetaObject"),
            ("ElicitationCompleteNotificationParams", "NotificationMetaObject"),
        )
    ),
)
"""All errata."""
