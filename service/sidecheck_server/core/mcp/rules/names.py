"""Rules on the names of tools."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any, TypeAlias

from sidecheck_server.core.explain.values import count_noun, join_phrase, quote
from sidecheck_server.core.limits import spend
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.name_grammars import (
    PROVIDERS,
    NameGrammar,
    ascii_lookalike,
    describe_characters,
)
from sidecheck_server.core.mcp.rules.rule import Check, Clause, Fault, Group, RuleSet
from sidecheck_server.core.types import Severity

__all__ = ["NAME_RULES", "NO_DUPLICATES"]

_SPECIFIED = NameGrammar(128, "A-Za-z0-9_.-", 'ASCII letters, digits, "_", "-" and "."')
"""Grammar of the specification since 2025-11-25."""

_PROPOSED = NameGrammar(64, "A-Za-z0-9_./-", 'ASCII letters, digits, "_", "-", "." and "/"')
"""Grammar of SEP-986."""

_MAX_CHARACTERS_READ = 256
"""Number of characters of a name that are checked, twice as many as any grammar allows."""

_MAX_CHARACTERS_SHOWN = 5

# Steps to compare a name, to describe a character, and to replace a character.
_NAME = 10
_DESCRIPTION = 20
_REPLACEMENT = 8

_SINCE = "2025-11-25"
_CLAUSE = Clause("server/tools", "tool-names")
_PROPOSAL = Clause("https://github.com/modelcontextprotocol/modelcontextprotocol/issues/986")
_INVALID_CHARACTER = re.compile(f"[^{_SPECIFIED.characters}]")

NAME_RULES = RuleSet(Group.TOOL_NAMES, on="Tool")
"""Rules on single names."""

#: Message of a fault, and a suggested name or "".
NameFault: TypeAlias = tuple[str, str]
NameCheck: TypeAlias = Callable[[str, Context], NameFault | None]


def _get_name(tool: Any) -> str | None:
    name = tool.get("name") if isinstance(tool, dict) else None
    return name if isinstance(name, str) else None


def _check_of_tool(check_name: NameCheck) -> Check:
    """Turn the decorated check of a name into a check of a tool."""

    def check(tool: Any, context: Context) -> Iterable[Fault]:
        name = _get_name(tool)
        fault = None if name is None else check_name(name, context)
        return () if fault is None else (Fault(("name",), *fault),)

    return check


@NAME_RULES.rule(
    "TOOL_NAME_EMPTY",
    Severity.WARNING,
    _CLAUSE,
    "The name of a tool SHOULD NOT be empty.",
    since=_SINCE,
)
@_check_of_tool
def _name_empty(name: str, _context: Context) -> NameFault | None:
    return None if name else ("the name should have at least 1 character, found none", "")


@NAME_RULES.rule(
    "TOOL_NAME_LENGTH",
    Severity.WARNING,
    _CLAUSE,
    "The name of a tool SHOULD have at most 128 characters.",
    since=_SINCE,
)
@_check_of_tool
def _name_length(name: str, _context: Context) -> NameFault | None:
    if len(name) <= _SPECIFIED.longest:
        return None
    return f"the name should have at most {_SPECIFIED.longest} characters, found {len(name)}", ""


@NAME_RULES.rule(
    "TOOL_NAME_CHARACTERS",
    Severity.WARNING,
    _CLAUSE,
    'The name of a tool SHOULD consist of ASCII letters, digits, "_", "-" and ".".',
    since=_SINCE,
)
@_check_of_tool
def _name_characters(name: str, context: Context) -> NameFault | None:
    invalid_characters = list(
        dict.fromkeys(_INVALID_CHARACTER.findall(name[:_MAX_CHARACTERS_READ]))
    )
    if not invalid_characters:
        return None
    spend(
        context.budget,
        _DESCRIPTION * _MAX_CHARACTERS_SHOWN + _REPLACEMENT * len(invalid_characters),
    )
    if context.hide_values:
        description, suggestion = count_noun(len(invalid_characters), "other character"), ""
    else:
        description, suggestion = (
            _join_descriptions(invalid_characters),
            _replace_characters(name, invalid_characters),
        )
    return f"the name should consist of {_SPECIFIED.description}; found {description}", suggestion


def _join_descriptions(characters: list[str]) -> str:
    descriptions = describe_characters(characters[:_MAX_CHARACTERS_SHOWN])
    rest_count = len(characters) - len(descriptions)
    if rest_count:
        descriptions.append(f"{rest_count} more")
    return join_phrase(descriptions, "and")


def _replace_characters(name: str, invalid: list[str]) -> str:
    """Return *name* with *invalid* characters replaced, or "" if it is too long."""
    if len(name) > _SPECIFIED.longest:
        return ""
    return name.translate({ord(character): _find_replacement(character) for character in invalid})


@lru_cache(maxsize=4096)
def _find_replacement(character: str) -> str:
    lookalike = ascii_lookalike(character)
    return lookalike if lookalike and not _INVALID_CHARACTER.search(lookalike) else "_"


@NAME_RULES.rule(
    "TOOL_NAME_SEP_986",
    Severity.INFO,
    _PROPOSAL,
    "SEP-986 proposed that the name of a tool consist of 1 to 64 ASCII letters, digits, "
    '"_", "-", "." and "/".',
    since=_SINCE,
)
@_check_of_tool
def _name_sep_986(name: str, context: Context) -> NameFault | None:
    return _find_grammar_fault(name, _PROPOSED, _ALLOWED_AS_PROPOSED, context)


_ALLOWED_AS_PROPOSED = f"SEP-986 proposed names of {_PROPOSED.allowed}"


def _find_grammar_fault(
    name: str, grammar: NameGrammar, allowed: str, context: Context
) -> NameFault | None:
    """Return the fault of *name* by *grammar*, or None.

    *allowed* is the description of the grammar.
    """
    if 0 < len(name) <= grammar.longest:
        invalid_character = grammar.invalid_character(name)
        if not invalid_character:
            return None
        spend(context.budget, _DESCRIPTION)
        description = (
            "another character"
            if context.hide_values
            else describe_characters(invalid_character)[0]
        )
    else:
        description = f"{len(name)} characters" if name else "an empty name"
    return f"{allowed}; found {description}", ""


def _build_provider_check(grammar: NameGrammar, allowed: str) -> Check:
    return _check_of_tool(
        lambda name, context: _find_grammar_fault(name, grammar, allowed, context)
    )


for _provider in PROVIDERS:
    _allowed = f"{_provider.api} allows names of {_provider.grammar.allowed}"
    NAME_RULES.declare(
        _provider.code,
        Severity.INFO,
        Clause(_provider.source),
        f"{_allowed}.",
        check=_build_provider_check(_provider.grammar, _allowed),
    )


@RuleSet(Group.TOOL_NAMES).rule(
    "TOOL_NAME_DUPLICATE",
    Severity.WARNING,
    Clause("server/tools", "tool"),
    "The names of the tools of a list SHOULD be unique.",
    on="ListToolsResult",
)
def _unique_names(result: Any, context: Context) -> Iterator[Fault]:
    tools = result.get("tools") if isinstance(result, dict) else None
    if not isinstance(tools, list):
        return
    spend(context.budget, _NAME * len(tools))
    first_indexes: dict[str, int] = {}
    for index, tool in enumerate(tools):
        name = _get_name(tool)
        if name is None:
            continue
        spend(context.budget, len(name) // 16)
        first_index = first_indexes.setdefault(name, index)
        if first_index != index:
            label = "this name" if context.hide_values else f"the name {quote(name)}"
            message = (
                f"names of tools should be unique; the tool at /tools/{first_index} has {label}"
            )
            yield Fault(("tools", index, "name"), message)


NO_DUPLICATES = _unique_names
"""Rule that other code also reports for tools and names outside a tools/list result."""
