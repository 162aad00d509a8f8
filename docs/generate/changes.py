"""The page of the codes of changes, from their table."""

from collections.abc import Iterable

from sidecheck_server.core.compat.changes import Direction, Level
from sidecheck_server.core.compat.rules import CHANGE_RULES, ChangeRule

from docs.generate.markdown import NOTICE, code, table

__all__ = ["changes_page"]

_PAGE = """\
# Changes of tools

{notice}
The codes of what `sidecheck diff` finds; the guide on
[comparing](../guides/comparing.md) tells how levels are decided. Codes are stable.

## Definitions

{definitions}
## Schemas

Whether such a change breaks callers is proved, or shown by a payload, for all changes of a schema
together. The direction is what the change does to the values that its subschema admits, as far as
it tells alone: an input schema must not become narrower, an output schema not wider.

{schemas}
## Annotations in schemas

They admit the same values, and may mean something else.

{annotations}"""


def changes_page() -> str:
    """Return the page."""
    rules = CHANGE_RULES.values()
    proved = [rule for rule in rules if rule.is_proved]
    others = [rule for rule in rules if not rule.is_proved]
    # Only what stands in a schema may have two levels, and some of it has one.
    first = next(index for index, rule in enumerate(others) if rule.code == "DEFAULT_ADDED")
    return _PAGE.format(
        notice=NOTICE,
        definitions=table(
            ["Code", "Level", "Meaning"],
            ([_linked(rule), str(rule.input_level), rule.sentence] for rule in others[:first]),
        ),
        schemas=table(
            ["Code", "Direction", "Meaning"],
            ([code(rule.code), _direction(rule.direction), rule.sentence] for rule in proved),
        ),
        annotations=table(
            ["Code", "In an input schema", "In an output schema", "Meaning"],
            ([_linked(rule), *map(str, _levels(rule)), rule.sentence] for rule in others[first:]),
        ),
    )


def _linked(rule: ChangeRule) -> str:
    return f"[{code(rule.code)}]({rule.source})" if rule.source else code(rule.code)


def _levels(rule: ChangeRule) -> Iterable[Level | None]:
    return rule.input_level, rule.output_level


def _direction(direction: Direction) -> str:
    return {Direction.UNKNOWN: "depends", Direction.BOTH: "narrower and wider"}.get(
        direction, str(direction)
    )
