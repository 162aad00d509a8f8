r"""Translation of patterns of ECMA-262 to equivalent expressions of RE2.

The translation is exact because:

- Characters and classes become explicit ranges of code points.
- The only result is whether a text matches, so groups do not capture, and lazy quantifiers
  become greedy.
- Every expression is matched from the start of the text. An unanchored expression gets a
  prefix that consumes whole characters: RE2's own search advances by bytes, and `\B` would
  match in the middle of a character.

RE2 has no look-around. A look-ahead right after the leading `^` of a pattern applies at one
position only, so it becomes a separate condition on the text, unless the same group has a
`|`.
"""

from dataclasses import dataclass

from sidecheck_server.core.patterns.codepoints import EVERYTHING, Ranges, spell
from sidecheck_server.core.patterns.cursor import PatternError, PatternFault, quote
from sidecheck_server.core.patterns.groups import (
    LOOK_AHEAD,
    LOOK_AROUND,
    Condition,
    Group,
    GroupKind,
    Quantifier,
    Translation,
)
from sidecheck_server.core.patterns.reading import Assertion, PatternReader

__all__ = [
    "Repetition",
    "check_syntax",
    "repeat",
    "translate",
]

#: Largest count that RE2 accepts, with nested counts multiplied.
LARGEST_COUNT = 1000

#: Copies in a block, unless nested counts allow fewer. It is about the square root of the
#: default limit of repetitions, which keeps both the blocks and the copies in a block few.
BLOCK = 100

#: Most nested blocks of optional copies; RE2 allows a thousand levels.
MOST_BLOCKS = 200


@dataclass(frozen=True, slots=True)
class Repetition:
    """Repetition of an atom, written in blocks that RE2 can count."""

    least: int
    most: int | None
    #: Copies in a block; 0 if RE2 can count without blocks.
    block: int
    #: The product of nested counts in the expression.
    nested: int

    @property
    def copies(self) -> int:
        """The number of times that the atom is written."""
        return self.spell("x").count("x")

    def spell(self, atom: str) -> str:
        """Return the expression of *atom*, repeated."""
        if not self.block:
            return f"{atom}{spell_count(self.least, self.most)}"
        whole, rest = divmod(self.least, self.block)
        required = f"{atom}{{{self.block}}}" * whole + f"{atom}{{{rest}}}" * bool(rest)
        if self.most is None:
            return f"(?:{required}{atom}*)"
        return f"(?:{required}{spell_optional(atom, self.most - self.least, self.block)})"


def repeat(least: int, most: int | None, nested: int) -> Repetition:
    """Plan the repetition of an atom whose nested counts have the product *nested*."""
    counted = max(least if most is None else most, 1)
    available = LARGEST_COUNT // nested
    optional = 0 if most is None else most - least
    if counted <= available and optional <= BLOCK:
        return Repetition(least, most, 0, nested * counted)
    block = min(available, max(BLOCK, counted // MOST_BLOCKS))
    return Repetition(least, most, block, nested * block)


def spell_count(least: int, most: int | None) -> str:
    signs = {(0, None): "*", (1, None): "+", (0, 1): "?"}
    return signs.get((least, most)) or f"{{{least},{'' if most is None else most}}}"


def spell_optional(atom: str, most: int, block: int) -> str:
    """Return the expression of *atom*, repeated up to *most* times."""
    whole, first = divmod(most + 1, block)
    if not whole:
        return f"{atom}{{0,{most}}}" if most else ""
    nested_blocks = f"(?:{atom}{{{block}}}" * (whole - 1) + ")?" * (whole - 1)
    spelled = nested_blocks + (f"{atom}{{0,{block - 1}}}" if block > 1 else "")
    return f"(?:{atom}{{0,{first - 1}}}|{atom}{{{first}}}{spelled})" if first else spelled


#: Most characters of an expression for each instruction of its program; Unicode properties
#: take up to eleven.
CHARACTERS = 12

PASS_ANY = spell(EVERYTHING) + "*?"

ASSERTIONS = {
    Assertion.START: r"\A",
    Assertion.END: r"\z",
    Assertion.BOUNDARY: r"\b",
    Assertion.NO_BOUNDARY: r"\B",
}


def translate(source: str, max_repetitions: int, max_instructions: int) -> Translation:
    """Return the translation of the pattern *source*.

    *max_repetitions* bounds the copies of an atom; *max_instructions* bounds the program,
    and so the length of an expression that can be compiled to it.

    Raises:
        PatternError: at the first syntax error; without one, at the first unsupported part.
    """
    translator = Translator(source, max_repetitions, max_instructions)
    translator.read()
    return finish(translator.group)


class Translator(PatternReader):
    """State of one translation, which writes the expression while reading the pattern."""

    def __init__(self, source: str, max_repetitions: int, max_instructions: int) -> None:
        super().__init__(source, max_repetitions)
        self.max_instructions = max_instructions
        #: Total length of all written classes and copies, in characters.
        self.length = 0
        #: Index of the last atom in the output, and its product of nested counts.
        self.atom = 0
        self.nested = 1

    def add_characters(self, members: Ranges) -> None:
        """Write one class, unless the expression would become too long."""
        group = self.group
        self.atom, self.nested = len(group.output), 1
        spelled = spell(members)
        fits = self.reserve(
            len(spelled),
            self.cursor.offset,
            "the classes up to here have too many ranges",
            "name fewer Unicode properties, or fewer times",
        )
        group.write(spelled if fits else "")

    def reserve(self, characters: int, offset: int, problem: str, remedy: str) -> bool:
        """Add *characters* to the length; return whether it fits, or else defer the error."""
        self.length += characters
        if self.length <= CHARACTERS * self.max_instructions:
            return True
        self.cursor.defer(
            PatternError.over_bound(
                offset, "pattern_instructions", self.max_instructions, problem, remedy
            )
        )
        return False

    def add_assertion(self, assertion: Assertion) -> None:
        """Write the assertion, and record whether it is at the start of the text."""
        group = self.group
        begins = assertion is Assertion.START and (group.at_start or group.is_untouched())
        group.write(ASSERTIONS[assertion])
        group.at_start = begins
        group.anchored = group.anchored or begins

    def add_reference(self, start: int, target: str) -> None:  # noqa: ARG002 - no reference is supported
        """Defer the error for a reference, because a syntax error may follow."""
        self.atom, self.nested = len(self.group.output), 1
        self.group.write("")
        self.cursor.defer(
            PatternError.at(
                start,
                PatternFault.NOT_LINEAR,
                "a back-reference cannot be matched in linear time",
                "spell out what it may repeat",
            )
        )

    def add_quantifier(self, quantifier: Quantifier) -> None:
        """Replace the last atom by its repetition, unless that is too long."""
        group = self.group
        output = group.output
        repetition = repeat(quantifier.least, quantifier.most, self.nested)
        atom = "".join(output[self.atom :])
        fits = self.reserve(
            (repetition.copies - 1) * len(atom),
            quantifier.offset,
            f"{quote(quantifier.source)} repeats too much",
            "repeat less, or bound a length with `maxLength` instead",
        )
        output[self.atom :] = [repetition.spell(atom) if fits else ""]
        group.nested = max(group.nested, repetition.nested)

    def add_alternative(self) -> None:
        """Write the `|`; a look-ahead in an alternative is not a condition."""
        group = self.group
        group.write("|")
        if group.conditions:
            self.defer_look_around(group.first_condition)

    def begin_group(self, kind: GroupKind, opened: int) -> Group:
        """Write the opening of an ordinary group; look-around has a separate output."""
        parent = self.group
        if kind not in LOOK_AROUND:
            start = len(parent.output)
            parent.write("(?:")
            return Group(kind, opened, parent.output, start=start)
        if kind in LOOK_AHEAD and parent.at_start:
            return Group(kind, opened, [], at_start=True)
        self.defer_look_around(opened)
        return Group(kind, opened, [])

    def end_group(self, group: Group) -> None:
        """Close an ordinary group; a look-ahead becomes a condition."""
        if group.kind in LOOK_AROUND:
            self.group.add_condition(
                Condition(group.kind is GroupKind.NOT_AHEAD, finish(group)), group.opened
            )
        else:
            parent = self.group
            parent.write(")")
            self.atom, self.nested = group.start, group.nested
            parent.nested = max(parent.nested, group.nested)

    def defer_look_around(self, offset: int) -> None:
        """Defer the error for a look-around that cannot become a condition."""
        self.cursor.defer(
            PatternError.at(
                offset,
                PatternFault.NOT_LINEAR,
                "this look-around cannot be matched in linear time",
                "a look-ahead must stand right after a leading `^`, with no `|` beside it; "
                "or state the condition in a schema under `allOf` or `not`",
            )
        )


class SyntaxCheck(PatternReader):
    """A reader without output, for patterns that are checked but never run."""

    def add_characters(self, members: Ranges) -> None:
        """Accept the class."""

    def add_assertion(self, assertion: Assertion) -> None:
        """Accept the assertion."""

    def add_reference(self, start: int, target: str) -> None:
        """Accept the reference."""

    def add_quantifier(self, quantifier: Quantifier) -> None:
        """Accept the quantifier."""

    def add_alternative(self) -> None:
        """Accept the alternative."""

    def begin_group(self, kind: GroupKind, opened: int) -> Group:
        """Return the group."""
        return Group(kind, opened, [])

    def end_group(self, group: Group) -> None:
        """Accept the group."""


def check_syntax(source: str) -> None:
    """Check that *source* is a pattern of ECMA-262, even if no engine supports it.

    Raises:
        PatternError: at the first syntax error, or if groups are nested too deeply.
    """
    SyntaxCheck(source, 10**9).read()


def finish(group: Group) -> Translation:
    """Return the translation of *group*, a complete pattern or look-ahead."""
    is_unanchored = group.kind is GroupKind.WHOLE and (group.branched or not group.anchored)
    prefix = PASS_ANY if is_unanchored else ""
    return Translation(rf"\A{prefix}(?:{''.join(group.output)})", tuple(group.conditions))
