"""Names of tools."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from sidecheck_server.core.explain.values import count_noun, join_phrase, quote
from sidecheck_server.core.limits import spend
from sidecheck_server.core.mcp.context import VERSIONS, Context
from sidecheck_server.core.mcp.name_grammars import (
    PROVIDERS,
    NameGrammar,
    ProviderGrammar,
    ascii_lookalike,
    describe_characters,
)
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Rule, rule
from sidecheck_server.core.types import Severity

__all__ = ["NAME_RULES", "NO_DUPLICATES", "RULES", "NameCheck", "NameRule"]

_SPECIFIED = NameGrammar(128, "A-Za-z0-9_.-", 'ASCII letters, digits, "_", "-" and "."')
"""Grammar of the specification since 2025-11-25."""

_PROPOSED = NameGrammar(64, "A-Za-z0-9_./-", 'ASCII letters, digits, "_", "-", "." and "/"')
"""Grammar of SEP-986."""

_MAX_CHARACTERS_READ = 256
"""Characters of a name that are examined: twice as many as any grammar allows."""

_MAX_CHARACTERS_SHOWN = 5

# Steps to compare a name, to describe a character, and to replace one.
_NAME = 10
_DESCRIPTION = 20
_REPLACEMENT = 8

_SINCE = "2025-11-25"
_CLAUSE = Clause("server/tools", "tool-names")
_PROPOSAL = Clause("https://github.com/modelcontextprotocol/modelcontextprotocol/issues/986")
_INVALID_CHARACTER = re.compile(f"[^{_SPECIFIED.characters}]")

#: Message of a fault, and a better name or "".
NameFault: TypeAlias = tuple[str, str]
NameCheck: TypeAlias = Callable[[str, Context], NameFault | None]


@dataclass(frozen=True, slots=True)
class NameRule:
    """A rule on a single name, with its check of the name."""

    rule: Rule
    check: NameCheck


def _name_of(tool: Any) -> str | None:
    name = tool.get("name") if isinstance(tool, dict) else None
    return name if isinstance(name, str) else None


def _name_rule(
    code: str,
    severity: Severity,
    clause: Clause,
    requirement: str,
    since: str = VERSIONS[0],
) -> Callable[[NameCheck], NameRule]:
    """Turn the decorated check of a name into a rule on tools."""

    def decorate(name_check: NameCheck) -> NameRule:
        def check(tool: Any, context: Context) -> Iterable[Fault]:
            name = _name_of(tool)
            fault = None if name is None else name_check(name, context)
            return () if fault is None else (Fault(("name",), *fault),)

        subjects = ("Tool",)
        rule = Rule(code, severity, clause, requirement, subjects, check, since)
        return NameRule(rule, name_check)

    return decorate


@_name_rule(
    "TOOL_NAME_EMPTY",
    Severity.WARNING,
    _CLAUSE,
    "The name of a tool SHOULD NOT be empty.",
    _SINCE,
)
def _not_empty(name: str, _context: Context) -> NameFault | None:
    return None if name else ("the name should have at least 1 character, found none", "")


@_name_rule(
    "TOOL_NAME_LENGTH",
    Severity.WARNING,
    _CLAUSE,
    "The name of a tool SHOULD have at most 128 characters.",
    _SINCE,
)
def _not_too_long(name: str, _context: Context) -> NameFault | None:
    if len(name) <= _SPECIFIED.longest:
        return None
    return f"the name should have at most {_SPECIFIED.longest} characters, found {len(name)}", ""


@_name_rule(
    "TOOL_NAME_CHARACTERS",
    Severity.WARNING,
    _CLAUSE,
    'The name of a tool SHOULD consist of ASCII letters, digits, "_", "-" and ".".',
    _SINCE,
)
def _valid_characters(name: str, context: Context) -> NameFault | None:
    invalid = list(dict.fromkeys(_INVALID_CHARACTER.findall(name[:_MAX_CHARACTERS_READ])))
    if not invalid:
        return None
    spend(context.budget, _DESCRIPTION * _MAX_CHARACTERS_SHOWN + _REPLACEMENT * len(invalid))
    if context.hide_values:
        found, suggestion = count_noun(len(invalid), "other character"), ""
    else:
        found, suggestion = _listed(invalid), _replace_characters(name, invalid)
    return f"the name should consist of {_SPECIFIED.description}; found {found}", suggestion


def _listed(characters: list[str]) -> str:
    shown = describe_characters(characters[:_MAX_CHARACTERS_SHOWN])
    more = len(characters) - len(shown)
    return join_phrase([*shown, f"{more} more"] if more else shown, "and")


def _replace_characters(name: str, invalid: list[str]) -> str:
    """Return *name* with replacements of *invalid* characters, or "" if it is too long."""
    if len(name) > _SPECIFIED.longest:
        return ""
    return name.translate({ord(character): _replacement(character) for character in invalid})


@lru_cache(maxsize=4096)
def _replacement(character: str) -> str:
    lookalike = ascii_lookalike(character)
    return lookalike if lookalike and not _INVALID_CHARACTER.search(lookalike) else "_"


@_name_rule(
    "TOOL_NAME_SEP_986",
    Severity.INFO,
    _PROPOSAL,
    "SEP-986 proposed that the name of a tool consist of 1 to 64 ASCII letters, digits, "
    '"_", "-", "." and "/".',
    _SINCE,
)
def _as_proposed(name: str, context: Context) -> NameFault | None:
    return _grammar_fault(name, _PROPOSED, _ALLOWED_AS_PROPOSED, context)


_ALLOWED_AS_PROPOSED = f"SEP-986 proposed names of {_PROPOSED.allowed}"


def _grammar_fault(
    name: str, grammar: NameGrammar, allowed: str, context: Context
) -> NameFault | None:
    """Return the fault of *name* by *grammar*, if any; *allowed* describes the grammar."""
    if 0 < len(name) <= grammar.longest:
        invalid = grammar.invalid_character(name)
        if not invalid:
            return None
        spend(context.budget, _DESCRIPTION)
        found = "another character" if context.hide_values else describe_characters(invalid)[0]
    else:
        found = f"{len(name)} characters" if name else "an empty name"
    return f"{allowed}; found {found}", ""


def _provider_rule(provider: ProviderGrammar) -> NameRule:
    """Return the rule that *provider* accepts the names of tools."""
    grammar = provider.grammar
    allowed = f"{provider.api} allows names of {grammar.allowed}"
    decorate = _name_rule(provider.code, Severity.INFO, Clause(provider.source), f"{allowed}.")
    return decorate(lambda name, context: _grammar_fault(name, grammar, allowed, context))


def _unique_names(result: Any, context: Context) -> Iterator[Fault]:
    tools = result.get("tools") if isinstance(result, dict) else None
    if not isinstance(tools, list):
        return
    spend(context.budget, _NAME * len(tools))
    first: dict[str, int] = {}
    for index, tool in enumerate(tools):
        name = _name_of(tool)
        if name is None:
            continue
        spend(context.budget, len(name) // 16)
        earlier = first.setdefault(name, index)
        if earlier != index:
            shown = "this name" if context.hide_values else f"the name {quote(name)}"
            message = f"names of tools should be unique; the tool at /tools/{earlier} has {shown}"
            yield Fault(("tools", index, "name"), message)


NO_DUPLICATES = rule(
    "TOOL_NAME_DUPLICATE",
    severity=Severity.WARNING,
    clause=Clause("server/tools", "tool"),
    requirement="The names of the tools of a list SHOULD be unique.",
    on="ListToolsResult",
)(_unique_names)
"""The rule is also reported for tools and names that are not in a tools/list result."""

NAME_RULES: tuple[NameRule, ...] = (
    _not_empty,
    _not_too_long,
    _valid_characters,
    _as_proposed,
    *(_provider_rule(provider) for provider in PROVIDERS),
)
"""Rules on single names."""

RULES: tuple[Rule, ...] = (*(name_rule.rule for name_rule in NAME_RULES), NO_DUPLICATES)
