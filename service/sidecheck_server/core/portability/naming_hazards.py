"""Hazards of names, descriptions and annotations."""

from collections.abc import Callable, Iterator

from sidecheck_server.core.limits import Budget
from sidecheck_server.core.mcp.name_grammars import NameGrammar
from sidecheck_server.core.portability.facts import Hazard, Occurrence, ToolView

__all__ = [
    "DESCRIPTION_MISSING",
    "HINTS_MISSING",
    "TITLE_OR_HINT_MISSING",
    "long_combined_name",
    "property_name",
    "tool_name",
]


def tool_name(grammar: NameGrammar) -> Hazard:
    """Return the hazard of a tool name that *grammar* does not admit."""

    def find(view: ToolView, _budget: Budget) -> Iterator[Occurrence]:
        if view.name and not grammar.admits(view.name):
            invalid = grammar.invalid_character(view.name)
            fault = f"contains {invalid!r}" if invalid else f"has {len(view.name)} characters"
            yield Occurrence(("name",), f"the tool name {fault}")

    return Hazard(
        "TOOL_NAME_NOT_PORTABLE",
        f"A tool name has {grammar.allowed}.",
        f"use {grammar.allowed}",
        find,
    )


def property_name(grammar: NameGrammar) -> Hazard:
    """Return the hazard of a property name that *grammar* does not admit."""

    def find(view: ToolView, _budget: Budget) -> Iterator[Occurrence]:
        for location in view.inputs:
            properties = location.schema.get("properties")
            for name in properties if isinstance(properties, dict) else ():
                if not grammar.admits(name):
                    path = ("inputSchema", *location.path, "properties", name)
                    yield Occurrence(path, "a property name outside the grammar", "properties")

    return Hazard(
        "PROPERTY_NAME_NOT_PORTABLE",
        f"A property name has {grammar.allowed}.",
        f"use {grammar.allowed}",
        find,
    )


def long_combined_name(longest: int, combine: Callable[[str, str], str]) -> Hazard:
    """Return the hazard of a tool name that is too long joined with its server's.

    *combine* joins the names of server and tool. An unknown server counts as one character.
    """

    def find(view: ToolView, _budget: Budget) -> Iterator[Occurrence]:
        length = len(combine(view.server or "s", view.name))
        if view.name and length > longest:
            of_server = f'the server "{view.server}"' if view.server else "any server"
            yield Occurrence(
                ("name",), f"the tool name has {length} characters together with {of_server}"
            )

    return Hazard(
        "COMBINED_NAME_TOO_LONG",
        f"The names of server and tool have at most {longest} characters together.",
        f"shorten the names to {longest} characters together",
        find,
    )


def _find_missing_hints(view: ToolView, _budget: Budget) -> Iterator[Occurrence]:
    annotations = view.tool.get("annotations")
    hints = annotations if isinstance(annotations, dict) else {}
    missing = [
        name
        for name in ("readOnlyHint", "destructiveHint", "openWorldHint")
        if not isinstance(hints.get(name), bool)
    ]
    if missing:
        path = ("annotations",) if isinstance(annotations, dict) else ()
        yield Occurrence(path, f"no {', '.join(missing)} in the annotations")


HINTS_MISSING = Hazard(
    "ANNOTATION_HINTS_MISSING",
    "A tool sets readOnlyHint, destructiveHint and openWorldHint.",
    "set each hint to true or false",
    _find_missing_hints,
)


def _find_missing_title(view: ToolView, _budget: Budget) -> Iterator[Occurrence]:
    annotations = view.tool.get("annotations")
    hints = annotations if isinstance(annotations, dict) else {}
    path = ("annotations",) if isinstance(annotations, dict) else ()
    if not hints.get("title") and not view.tool.get("title"):
        yield Occurrence(path, "no title")
    if hints.get("readOnlyHint") is not True and hints.get("destructiveHint") is not True:
        yield Occurrence(path, "neither readOnlyHint nor destructiveHint is true")


TITLE_OR_HINT_MISSING = Hazard(
    "ANNOTATION_TITLE_OR_HINT_MISSING",
    "A tool has a title, and readOnlyHint or destructiveHint is true.",
    "set annotations.title, and readOnlyHint or destructiveHint to true",
    _find_missing_title,
)


def _find_missing_description(view: ToolView, _budget: Budget) -> Iterator[Occurrence]:
    description = view.tool.get("description")
    if not isinstance(description, str) or not description.strip():
        yield Occurrence((), "no description")


DESCRIPTION_MISSING = Hazard(
    "DESCRIPTION_MISSING",
    "A tool has a description that is not blank.",
    "say what the tool does and when to call it",
    _find_missing_description,
)
