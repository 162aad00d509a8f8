"""From faults to violations: one for each thing that is wrong."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from sidecheck_server.core.budget import spend
from sidecheck_server.core.engines.fault import Fault
from sidecheck_server.core.equality import json_equal
from sidecheck_server.core.explain.choices import Tag, meant
from sidecheck_server.core.explain.messages import say, say_of_tag
from sidecheck_server.core.explain.nearest import MOST_CANDIDATES
from sidecheck_server.core.explain.saying import Saying
from sidecheck_server.core.explain.schemas import MOST_BRANCHES
from sidecheck_server.core.explain.values import Values
from sidecheck_server.core.types import Violation, as_pointer

__all__ = ["explain"]

_DEEPEST = 24
"""How many choices are looked into, one under the other."""

# In steps: a message, comparing a name with another, reading a branch.
_WORDS = 1000
_NAME = 150
_BRANCH = 400

_LONGEST = 1000
"""How many characters a message has at most."""


def explain(faults: Iterable[Fault], *, hide_values: bool) -> Iterator[Violation]:
    """Yield a violation for each thing that *faults* find wrong, each when it is asked for.

    With *hide_values*, nothing of the payload gets into a message or a suggestion.

    Raises:
        Exhausted: the budget in which *faults* are found has too few steps to tell them.
    """
    values = Values(hidden=hide_values)
    told: set[tuple[str, str, str]] = set()
    for fault in faults:
        for violation in _explained(fault, values, 0):
            # The same may be asked for along several paths.
            key = (violation.instance_location, violation.keyword, violation.message)
            if key not in told:
                told.add(key)
                yield violation


def _explained(fault: Fault, values: Values, depth: int) -> Iterator[Violation]:
    spend(fault.scope.budget, _steps(fault))
    if _is_implied(fault):
        return
    if fault.explore is None:
        yield _violation(fault, say(fault, values))
        return
    branch = meant(fault)
    if isinstance(branch, int) and depth >= _DEEPEST:
        found = values.found(fault.instance)
        said = f"none of the alternatives fits, for a reason deep inside; found {found}"
        yield _violation(fault, Saying(said))
        return
    if isinstance(branch, Tag):
        given = branch.name in fault.instance
        place = (branch.name,) if given else ()
        yield _violation(fault, say_of_tag(branch.name, branch.values, fault, values), place)
    elif branch is None:
        yield _violation(fault, say(fault, values))
    else:
        for inner in fault.explore(branch):
            inner.parent = fault
            yield from _explained(inner, values, depth + 1)


def _steps(fault: Fault) -> int:
    """Return how many steps it takes, at the most, to find words for *fault*."""
    # The names that are required are not what a missing one is compared with.
    compared = () if fault.validator == "required" else fault.validator_value
    names = [len(each) for each in (fault.instance, compared) if _has_names(each)]
    steps = _WORDS + _NAME * min(MOST_CANDIDATES, max(names, default=0))
    if fault.explore is not None and names:
        # Each branch is held against all the members.
        steps += min(MOST_BRANCHES, len(fault.validator_value)) * (_BRANCH + names[0])
    return steps


def _has_names(value: object) -> bool:
    return isinstance(value, dict | list)


def _is_implied(fault: Fault) -> bool:
    """Return whether a list of constants beside ``type`` says the same, and more."""
    if fault.validator != "type":
        return False
    in_force = fault.scope.dialect.keywords
    if "const" in fault.schema and "const" in in_force:
        return not json_equal(fault.schema["const"], fault.instance)
    if "enum" in fault.schema and "enum" in in_force:
        return not any(json_equal(each, fault.instance) for each in fault.schema["enum"])
    return False


def _violation(fault: Fault, saying: Saying, place: tuple[str, ...] = ()) -> Violation:
    keyword: str = fault.validator
    return Violation(
        instance_location=as_pointer((*fault.absolute_path, *place)),
        keyword_location=as_pointer(fault.absolute_schema_path),
        keyword=keyword,
        code=_code(keyword),
        message=_cut(saying.message),
        suggestion=saying.suggestion,
    )


def _cut(message: str) -> str:
    return message if len(message) <= _LONGEST else f"{message[: _LONGEST - 1]}…"


@lru_cache(maxsize=128)  # There are fewer keywords.
def _code(keyword: str) -> str:
    if not keyword:
        return "FALSE_SCHEMA"
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", keyword).upper()
