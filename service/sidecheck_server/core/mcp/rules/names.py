"""Names of tools: what the specification asks of them, and what providers of models take."""

import re
from collections.abc import Iterator
from typing import Any

from sidecheck_server.core.budget import spend
from sidecheck_server.core.explain.values import counted, listed, quoted
from sidecheck_server.core.mcp.characters import look_alike, named
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.name_grammars import PROVIDERS, NameGrammar, ProviderGrammar
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Rule, rule
from sidecheck_server.core.words import Severity

__all__ = ["NAME_RULES", "RULES", "SPECIFIED"]

SPECIFIED = NameGrammar(128, "A-Za-z0-9_.-", 'ASCII letters, digits, "_", "-" and "."')
"""What the specification allows since 2025-11-25."""

_PROPOSED = NameGrammar(64, "A-Za-z0-9_./-", 'ASCII letters, digits, "_", "-", "." and "/"')

_LOOKED_AT = 256
"""How many characters of a name are looked at: twice as many as any grammar allows."""

_MOST_NAMED = 5

# In steps: counting names, and words about a character.
_NAME = 10
_WORDS = 200

_SINCE = "2025-11-25"
_CLAUSE = Clause("server/tools", "tool-names")
_ALIEN = re.compile(f"[^{SPECIFIED.members}]")


def _name(tool: Any) -> str | None:
    name = tool.get("name") if isinstance(tool, dict) else None
    return name if isinstance(name, str) else None


@rule(
    "TOOL_NAME_EMPTY",
    severity=Severity.WARNING,
    clause=_CLAUSE,
    sentence="The name of a tool is not empty.",
    on="Tool",
    since=_SINCE,
)
def _not_empty(tool: Any, _context: Context) -> Iterator[Fault]:
    if _name(tool) == "":
        yield Fault(("name",), "the name must have at least 1 character; it is empty")


@rule(
    "TOOL_NAME_LENGTH",
    severity=Severity.WARNING,
    clause=_CLAUSE,
    sentence="The name of a tool has at most 128 characters.",
    on="Tool",
    since=_SINCE,
)
def _not_long(tool: Any, _context: Context) -> Iterator[Fault]:
    name = _name(tool)
    if name is not None and len(name) > SPECIFIED.longest:
        yield Fault(("name",), f"the name must have at most 128 characters; it has {len(name)}")


@rule(
    "TOOL_NAME_CHARACTERS",
    severity=Severity.WARNING,
    clause=_CLAUSE,
    sentence='The name of a tool has no characters but ASCII letters, digits, "_", "-" and ".".',
    on="Tool",
    since=_SINCE,
)
def _of_characters(tool: Any, context: Context) -> Iterator[Fault]:
    name = _name(tool)
    if name is None or not _ALIEN.search(name[:_LOOKED_AT]):
        return
    spend(context.budget, _WORDS * (_MOST_NAMED + 1))
    found = list(dict.fromkeys(_ALIEN.findall(name[:_LOOKED_AT])))
    if context.hide_values:
        said, better = counted(len(found), "other character"), ""
    else:
        said, better = _listed(found), _spelled_right(name)
    yield Fault(("name",), f"the name must be of {SPECIFIED.in_words} alone; it has {said}", better)


def _listed(characters: list[str]) -> str:
    shown = named(characters[:_MOST_NAMED])
    more = len(characters) - len(shown)
    return listed([*shown, f"{more} more"] if more else shown, "and")


def _spelled_right(name: str) -> str:
    """Return *name* in allowed characters, or "" if it is too long in any case."""
    if len(name) > SPECIFIED.longest:
        return ""
    return _ALIEN.sub(lambda match: _replaced(match[0]), name)


def _replaced(character: str) -> str:
    alike = look_alike(character)
    return alike if alike and not _ALIEN.search(alike) else "_"


@rule(
    "TOOL_NAME_SEP_986",
    severity=Severity.INFO,
    clause=Clause("SEP-986"),
    sentence=(
        "The name of a tool keeps the rule as it was proposed: 1 to 64 ASCII letters, digits, "
        '"_", "-", "." and "/".'
    ),
    on="Tool",
    since=_SINCE,
)
def _as_proposed(tool: Any, context: Context) -> Iterator[Fault]:
    said = _unfit(_name(tool), _PROPOSED, context)
    if said:
        yield Fault(("name",), f"SEP-986 proposed names of {said}")


@rule(
    "TOOL_NAME_DUPLICATE",
    severity=Severity.WARNING,
    clause=Clause("server/tools", "tool"),
    sentence="No two tools of a list have the same name.",
    on="ListToolsResult",
)
def _unique(result: Any, context: Context) -> Iterator[Fault]:
    tools = result.get("tools") if isinstance(result, dict) else None
    if not isinstance(tools, list):
        return
    spend(context.budget, _NAME * len(tools))
    first: dict[str, int] = {}
    for index, tool in enumerate(tools):
        name = _name(tool)
        if name is None:
            continue
        spend(context.budget, len(name) // 16)
        before = first.setdefault(name, index)
        if before != index:
            which = "this name" if context.hide_values else f"the name {quoted(name)}"
            yield Fault(("tools", index, "name"), f"the tool at /tools/{before} has {which} too")


def _unfit(name: str | None, grammar: NameGrammar, context: Context) -> str:
    """Return what *grammar* allows and how *name* differs, or "" if it does not."""
    if name is None:
        return ""
    first = f", the first {grammar.first_in_words}" if grammar.first else ""
    allowed = f"1 to {grammar.longest} {grammar.in_words}{first}"
    if not name:
        return f"{allowed}; this one is empty"
    if len(name) > grammar.longest:
        return f"{allowed}; this one has {len(name)} characters"
    alien = grammar.alien_in(name)
    if not alien:
        return ""
    spend(context.budget, _WORDS)
    said = "another character" if context.hide_values else named(alien)[0]
    return f"{allowed}; this one has {said}"


def _advice(provider: ProviderGrammar) -> Rule:
    """Return the rule that names are such as *provider* takes."""
    grammar = provider.grammar
    first = f", the first {grammar.first_in_words}" if grammar.first else ""

    def check(tool: Any, context: Context) -> Iterator[Fault]:
        said = _unfit(_name(tool), grammar, context)
        if said:
            yield Fault(("name",), f"{provider.api} takes names of {said}")

    return Rule(
        provider.code,
        Severity.INFO,
        Clause(provider.source),
        f"{provider.api} takes the name: 1 to {grammar.longest} {grammar.in_words}{first}.",
        ("Tool",),
        check,
    )


NAME_RULES: tuple[Rule, ...] = (
    _not_empty,
    _not_long,
    _of_characters,
    _as_proposed,
    *(_advice(provider) for provider in PROVIDERS),
)
"""The rules that look at one name alone."""

RULES: tuple[Rule, ...] = (*NAME_RULES, _unique)
