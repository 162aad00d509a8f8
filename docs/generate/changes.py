"""The page of the codes of changes, from their table."""

from collections.abc import Iterable

from sidecheck_server.core.compat.changes import Direction, Level
from sidecheck_server.core.compat.rules import CHANGE_RULES, ChangeRule

from docs.generate.markdown import NOTICE, code, table

__all__ = ["changes_page"]

_PAGE = """\
# Changes of tools

{notice}
The codes of changes that `sidecheck diff` reports. [Comparing](../guides/comparing.md) describes
how levels are decided. Codes are stable.

## Definitions

{definitions}
## Schemas

A proof, or a payload, shows whether all changes of a schema together break callers. The direction
says whether a change alone makes its subschema admit fewer values (narrower) or more (wider): an
input schema must not become narrower, an output schema not wider.

{schemas}
## Annotations in schemas

These changes do not affect which values are valid, but may affect their meaning.

{annotations}"""


def changes_page() -> str:
    """Return the page."""
    rules = CHANGE_RULES.values()
    proved = [rule for rule in rules if rule.is_proved]
    others = [rule for rule in rules if not rule.is_proved]
    # The table has the rules about definitions first, then those about annotations.
    first = next(index for index, rule in enumerate(others) if rule.code == "DEFAULT_ADDED")
    return _PAGE.format(
        notice=NOTICE,
        definitions=table(
            ["Code", "Level", "Meaning"],
            ([_link_code(rule), str(rule.input_level), rule.sentence] for rule in others[:first]),
        ),
        schemas=table(
            ["Code", "Direction", "Meaning"],
            ([code(rule.code), _direction(rule.direction), rule.sentence] for rule in proved),
        ),
        annotations=table(
            ["Code", "In an input schema", "In an output schema", "Meaning"],
            (
                [_link_code(rule), *map(str, _levels(rule)), rule.sentence]
                for rule in others[first:]
            ),
        ),
    )


def _link_code(rule: ChangeRule) -> str:
    return f"[{code(rule.code)}]({rule.source})" if rule.source else code(rule.code)


def _levels(rule: ChangeRule) -> Iterable[Level | None]:
    return rule.input_level, rule.output_level


def _direction(direction: Direction) -> str:
    return {Direction.UNKNOWN: "depends", Direction.BOTH: "narrower and wider"}.get(
        direction, str(direction)
    )
