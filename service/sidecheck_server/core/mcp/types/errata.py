"""Where the shapes differ from the published schemas on purpose.

The schemas are generated from ``schema.ts``, which the specification calls the source of
truth, and the generator makes an integer of a number that nothing is said of. Where the
two differ, or where prose that binds says more, the shapes follow them.
"""

from dataclasses import dataclass

__all__ = ["ERRATA", "Erratum"]


@dataclass(frozen=True, slots=True)
class Erratum:
    """A place where a published schema does not say what holds."""

    #: The versions whose schema is wrong.
    versions: tuple[str, ...]
    #: The type, by the name that the shapes have for it.
    type: str
    #: The member of it, or "" for the whole.
    member: str
    #: What the published schema allows.
    published: str
    #: What the shapes allow.
    holds: str
    #: The ground for it.
    why: str


_INTEGERS = "schema.ts says number; the generator made an integer of it"
_ENVELOPE = (
    "the general rules on `_meta`, which requests and notifications share; the schema "
    "lists the members of these params in place and leaves it out"
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
        "neither null nor numbers that are no integers, at any depth",
        "any JSON value",
        "schema.ts says string | number | boolean | null | JSONObject | JSONArray",
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
"""All of them."""
