"""Names of tools: what the specification asks of them, and what providers of models take."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from sidecheck_server.core.budget import spend
from sidecheck_server.core.explain.values import counted, listed, quoted
from sidecheck_server.core.mcp.characters import look_alike, named
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.name_grammars import PROVIDERS, NameGrammar, ProviderGrammar
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Rule, rule
from sidecheck_server.core.mcp.versions import VERSIONS
from sidecheck_server.core.types import Severity

__all__ = ["NAME_RULES", "NO_DUPLICATES", "RULES", "Judge", "NameRule"]

_SPECIFIED = NameGrammar(128, "A-Za-z0-9_.-", 'ASCII letters, digits, "_", "-" and "."')
"""What the specification allows since 2025-11-25."""

_PROPOSED = NameGrammar(64, "A-Za-z0-9_./-", 'ASCII letters, digits, "_", "-", "." and "/"')

_LOOKED_AT = 256
"""How many characters of a name are looked at: twice as many as any grammar allows."""

_MOST_NAMED = 5

# In steps: counting names, and words about a character.
_NAME = 10
_WORDS = 20
_SPELLING = 8

_SINCE = "2025-11-25"
_CLAUSE = Clause("server/tools", "tool-names")
# What no rule below has anything to say of.
_PLAIN = re.compile("[A-Za-z_][A-Za-z0-9_-]{0,63}")
_ALIEN = re.compile(f"[^{_SPECIFIED.members}]")


#: What is wrong with a name, and how it is better spelled or "".
Said: TypeAlias = tuple[str, str]
Judge: TypeAlias = Callable[[str, Context], Said | None]


@dataclass(frozen=True, slots=True)
class NameRule:
    """A rule that looks at one name alone: what it says of it, or None."""

    rule: Rule
    judge: Judge


def _is_plain(tool: Any, _context: Context) -> bool:
    """Return whether the name of *tool* is one that everybody allows."""
    name = tool.get("name") if isinstance(tool, dict) else None
    return isinstance(name, str) and _PLAIN.fullmatch(name) is not None


def _name(tool: Any) -> str | None:
    name = tool.get("name") if isinstance(tool, dict) else None
    return name if isinstance(name, str) else None


def _name_rule(
    code: str,
    severity: Severity,
    clause: Clause,
    sentence: str,
    since: str = VERSIONS[0],
) -> Callable[[Judge], NameRule]:
    """Make a rule out of the function that judges a name."""

    def made(judge: Judge) -> NameRule:
        def check(tool: Any, context: Context) -> Iterator[Fault]:
            name = _name(tool)
            said = None if name is None else judge(name, context)
            if said is not None:
                yield Fault(("name",), *said)

        made = Rule(code, severity, clause, sentence, ("Tool",), check, since, spares=_is_plain)
        return NameRule(made, judge)

    return made


@_name_rule(
    "TOOL_NAME_EMPTY",
    Severity.WARNING,
    _CLAUSE,
    "The name of a tool is not empty.",
    _SINCE,
)
def _not_empty(name: str, _context: Context) -> Said | None:
    return None if name else ("the name must have at least 1 character; it is empty", "")


@_name_rule(
    "TOOL_NAME_LENGTH",
    Severity.WARNING,
    _CLAUSE,
    "The name of a tool has at most 128 characters.",
    _SINCE,
)
def _not_long(name: str, _context: Context) -> Said | None:
    if len(name) <= _SPECIFIED.longest:
        return None
    return f"the name must have at most {_SPECIFIED.longest} characters; it has {len(name)}", ""


@_name_rule(
    "TOOL_NAME_CHARACTERS",
    Severity.WARNING,
    _CLAUSE,
    'The name of a tool has no characters but ASCII letters, digits, "_", "-" and ".".',
    _SINCE,
)
def _of_characters(name: str, context: Context) -> Said | None:
    seen = name[:_LOOKED_AT]
    found = list(dict.fromkeys(_ALIEN.findall(seen)))
    if not found:
        return None
    spend(context.budget, _WORDS * _MOST_NAMED + _SPELLING * len(found))
    if context.hide_values:
        said, better = counted(len(found), "other character"), ""
    else:
        said, better = _listed(found), _spelled_right(name, found)
    return f"the name must be of {_SPECIFIED.in_words} alone; it has {said}", better


def _listed(characters: list[str]) -> str:
    shown = named(characters[:_MOST_NAMED])
    more = len(characters) - len(shown)
    return listed([*shown, f"{more} more"] if more else shown, "and")


def _spelled_right(name: str, alien: list[str]) -> str:
    """Return *name* without what is *alien* in it, or "" if it is too long in any case."""
    if len(name) > _SPECIFIED.longest:
        return ""
    return name.translate({ord(each): _replaced(each) for each in alien})


@lru_cache(maxsize=4096)
def _replaced(character: str) -> str:
    alike = look_alike(character)
    return alike if alike and not _ALIEN.search(alike) else "_"


@_name_rule(
    "TOOL_NAME_SEP_986",
    Severity.INFO,
    Clause("SEP-986"),
    "The name of a tool keeps the rule as it was proposed: 1 to 64 ASCII letters, digits, "
    '"_", "-", "." and "/".',
    _SINCE,
)
def _as_proposed(name: str, context: Context) -> Said | None:
    return _unfit(name, _PROPOSED, _ALLOWED_AS_PROPOSED, context)


_ALLOWED_AS_PROPOSED = f"SEP-986 proposed names of {_PROPOSED.allowed}"


def _unfit(name: str, grammar: NameGrammar, allowed: str, context: Context) -> Said | None:
    """Return what is *allowed* by *grammar* and how *name* differs, if it does."""
    if 0 < len(name) <= grammar.longest:
        alien = grammar.alien_in(name)
        if not alien:
            return None
        spend(context.budget, _WORDS)
        found = "has another character" if context.hide_values else f"has {named(alien)[0]}"
    else:
        found = f"has {len(name)} characters" if name else "is empty"
    return f"{allowed}; this one {found}", ""


def _advice(provider: ProviderGrammar) -> NameRule:
    """Return the rule that names are such as *provider* allows."""
    grammar, who = provider.grammar, f"{provider.api} allows"
    made = _name_rule(
        provider.code,
        Severity.INFO,
        Clause(provider.source),
        f"{who} the name: {grammar.allowed}.",
    )
    allowed = f"{who} names of {grammar.allowed}"
    return made(lambda name, context: _unfit(name, grammar, allowed, context))


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


NO_DUPLICATES = rule(
    "TOOL_NAME_DUPLICATE",
    severity=Severity.WARNING,
    clause=Clause("server/tools", "tool"),
    sentence="No two tools of a list have the same name.",
    on="ListToolsResult",
)(_unique)
"""The rule also speaks of tools, and of names, that are no result of tools/list."""

NAME_RULES: tuple[NameRule, ...] = (
    _not_empty,
    _not_long,
    _of_characters,
    _as_proposed,
    *(_advice(provider) for provider in PROVIDERS),
)
"""The rules that look at one name alone."""

RULES: tuple[Rule, ...] = (*(each.rule for each in NAME_RULES), NO_DUPLICATES)
