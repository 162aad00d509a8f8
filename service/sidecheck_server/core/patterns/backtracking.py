r"""Translation of patterns of ECMA-262 to equivalent expressions of `regex`.

Look-around and back-references need an engine that backtracks and that matches look-behinds
from right to left (ECMA-262 section 22.2.2.3); `regex` does both. It can take exponential
time, so such a pattern may run only in a process that can be killed.

The capture semantics of ECMA-262 differ from those of `regex` in three ways, which matter
only for referenced groups:

- A reference to a group that has not participated matches the empty text (section
  22.2.2.7.2). So every group captures the empty text at the start.
- Each iteration of a repetition resets the captures of the groups in it (section
  22.2.2.3.1, RepeatMatcher). So each iteration begins by capturing the empty text.
- Beyond the minimum count, an iteration that consumes no text fails (same section). So each
  such iteration captures the rest of the text, and must leave a shorter rest.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import regex

from sidecheck_server.core.patterns.codepoints import LAST, Ranges, join_surrogates
from sidecheck_server.core.patterns.cursor import PatternError
from sidecheck_server.core.patterns.groups import LOOK_AROUND, Group, GroupKind, Quantifier
from sidecheck_server.core.patterns.reading import Assertion, PatternReader

__all__ = ["build_backtracking_search"]

#: Deepest nesting of groups. `regex` parses a level with about seven nested calls, and one
#: level may become two in the expression; the interpreter allows a thousand nested calls.
DEEPEST_PARSED = 40

#: Deepest nesting of repetitions: `regex` compiles the operand of `+` twice.
DEEPEST_REPEATED = 8

#: Longest expression, in characters; `regex` parses about 10,000 in a millisecond.
LONGEST = 1 << 18

FLAGS = regex.VERSION0 | regex.ASCII | regex.DOTALL

ASSERTIONS = {
    Assertion.START: r"\A",
    Assertion.END: r"\Z",
    Assertion.BOUNDARY: r"\b",
    Assertion.NO_BOUNDARY: r"\B",
}

OPENINGS = {
    GroupKind.PLAIN: "(?:",
    GroupKind.CAPTURE: "(?:",
    GroupKind.AHEAD: "(?=",
    GroupKind.NOT_AHEAD: "(?!",
    GroupKind.BEHIND: "(?<=",
    GroupKind.NOT_BEHIND: "(?<!",
}


def build_backtracking_search(source: str, max_repetitions: int) -> Callable[[str], bool]:
    """Return a function that searches a text for the pattern *source*.

    Raises PatternError if *source* is not ECMA-262 or exceeds a bound.
    """
    expression = translate_for_backtracking(join_surrogates(source), max_repetitions)
    try:
        compiled = regex.compile(expression, FLAGS, cache_pattern=False)
    except RecursionError:
        raise depth_error(0) from None

    def search(text: str) -> bool:
        try:
            text.encode()
        except UnicodeEncodeError:
            text = join_surrogates(text)
        return compiled.search(text) is not None

    return search


def translate_for_backtracking(source: str, max_repetitions: int) -> str:
    """Return the expression of `regex` for the pattern *source*; raises PatternError.

    A reference may precede its group, so a pattern with references is read twice.
    """
    translator = BacktrackingTranslator(source, max_repetitions, {}, frozenset())
    translator.read()
    targets = {target: translator.find_groups(target) for _, target in translator.references}
    if targets:
        referenced = frozenset(number for numbers in targets.values() for number in numbers)
        translator = BacktrackingTranslator(source, max_repetitions, targets, referenced)
        translator.read()
    return translator.finish()


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of an expression, with the properties that affect its repetition."""

    text: str
    #: Whether it can match the empty text.
    skippable: bool
    #: The referenced groups in it.
    captures: frozenset[int] = frozenset()
    #: Nesting depth of repetitions in it.
    depth: int = 0


@dataclass(slots=True)
class Frame:
    """A group during translation: its alternatives, of which the last is incomplete."""

    #: Whether it is matched from right to left.
    backward: bool
    #: The number of the group; 0 if no reference refers to it.
    number: int = 0
    alternatives: list[list[Piece]] = field(default_factory=lambda: [[]])

    def enclose(self, opening: str) -> Piece:
        """Return the whole group as one piece."""
        pieces = [piece for alternative in self.alternatives for piece in alternative]
        texts = ("".join(piece.text for piece in alternative) for alternative in self.alternatives)
        captures = frozenset[int]().union(*(piece.captures for piece in pieces))
        return Piece(
            f"{opening}{'|'.join(texts)})",
            any(all(piece.skippable for piece in alternative) for alternative in self.alternatives),
            captures | {self.number} if self.number else captures,
            max((piece.depth for piece in pieces), default=0),
        )


class BacktrackingTranslator(PatternReader):
    """State of one translation.

    *targets* maps each reference to the groups that it may refer to; *referenced* is the set
    of all these groups.
    """

    deepest = DEEPEST_PARSED

    def __init__(
        self,
        source: str,
        max_repetitions: int,
        targets: dict[str, list[int]],
        referenced: frozenset[int],
    ) -> None:
        super().__init__(source, max_repetitions)
        self.targets = targets
        self.referenced = referenced
        self.frames = [Frame(backward=False)]
        self.loops = 0

    @property
    def pieces(self) -> list[Piece]:
        """The alternative in progress."""
        return self.frames[-1].alternatives[-1]

    def add_characters(self, members: Ranges) -> None:
        """Write one class."""
        self.pieces.append(Piece(spell_class(members), skippable=False))

    def add_assertion(self, assertion: Assertion) -> None:
        """Write the assertion."""
        self.pieces.append(Piece(ASSERTIONS[assertion], skippable=True))

    def add_reference(self, start: int, target: str) -> None:  # noqa: ARG002 - reports no error
        """Write a reference; at most one of the groups with its name has captured text.

        An open group has captured nothing, so a reference from inside it matches the empty text.
        """
        open_groups = {frame.number for frame in self.frames}
        numbers = [number for number in self.targets.get(target, []) if number not in open_groups]
        text = "".join(f"(?P=g{number})" for number in numbers)
        self.pieces.append(Piece(f"(?:{text})", skippable=True))

    def add_quantifier(self, quantifier: Quantifier) -> None:
        """Repeat the last piece; each iteration resets the captures of its groups."""
        piece = self.pieces.pop()
        least, most, lazy = quantifier.least, quantifier.most, "?" * quantifier.lazy
        reset_captures = "".join(f"(?P<g{number}>)" for number in sorted(piece.captures))
        iteration = self.spell_iteration(reset_captures if most != 1 else "", piece.text)
        if piece.skippable and self.referenced and most != least:
            self.loops += 1
            rest = f"(?=(?P<r{self.loops}>.*))"
            consuming_iteration = self.spell_iteration(
                rest + reset_captures, piece.text, rf"(?!(?P=r{self.loops})\Z)"
            )
            optional = f"{consuming_iteration}{{0,{'' if most is None else most - least}}}{lazy}"
            text = self.spell_iteration(f"{iteration}{{{least}}}", optional)
        else:
            text = f"{iteration}{{{least},{'' if most is None else most}}}{lazy}"
        depth = piece.depth + 1
        if len(text) > LONGEST or depth > DEEPEST_REPEATED:
            error = depth_error if depth > DEEPEST_REPEATED else length_error
            self.cursor.defer(error(quantifier.offset))
            text = ""
        self.pieces.append(Piece(text, least == 0 or piece.skippable, piece.captures, depth))

    def spell_iteration(self, before: str, text: str, after: str = "") -> str:
        """Return *text* between two expressions that match before and after it.

        Where matching runs from right to left, the order in the expression is the reverse.
        """
        if not (before or after):
            return text
        first, last = (after, before) if self.frames[-1].backward else (before, after)
        return f"(?:{first}{text}{last})"

    def add_alternative(self) -> None:
        """Begin the next alternative."""
        self.frames[-1].alternatives.append([])

    def begin_group(self, kind: GroupKind, opened: int) -> Group:
        """Begin the group; a look-around sets the direction of its contents."""
        backward = self.frames[-1].backward
        if kind in LOOK_AROUND:
            backward = kind in {GroupKind.BEHIND, GroupKind.NOT_BEHIND}
        captures = kind is GroupKind.CAPTURE and self.captures in self.referenced
        self.frames.append(Frame(backward, self.captures if captures else 0))
        return Group(kind, opened, [])

    def end_group(self, group: Group) -> None:
        """Write the group as a piece of the enclosing group."""
        frame = self.frames.pop()
        piece = frame.enclose(f"(?P<g{frame.number}>" if frame.number else OPENINGS[group.kind])
        skippable = piece.skippable or group.kind in LOOK_AROUND
        self.pieces.append(Piece(piece.text, skippable, piece.captures, piece.depth))

    def finish(self) -> str:
        """Return the expression of the pattern; raise PatternError if it is too long."""
        names = [f"g{number}" for number in sorted(self.referenced)]
        names += [f"r{number}" for number in range(1, self.loops + 1)]
        captured = "".join(f"(?P<{name}>)" for name in names)
        expression = captured + self.frames[0].enclose("(?:").text
        if len(expression) > LONGEST:
            raise length_error(0)
        return expression


def length_error(offset: int) -> PatternError:
    return PatternError.over_bound(
        offset,
        "pattern_expression_length",
        LONGEST,
        "the part that starts here is too long for an engine that backtracks",
        "name fewer Unicode properties, or fewer times",
    )


def depth_error(offset: int) -> PatternError:
    return PatternError.over_bound(
        offset,
        "pattern_repetition_depth",
        DEEPEST_REPEATED,
        "too many repetitions are nested for an engine that backtracks",
        "write the pattern flatter",
    )


def spell_class(members: Ranges) -> str:
    """Return the expression that matches one code point of *members*."""
    if not members:
        return f"[^{spell_point(0)}-{spell_point(LAST)}]"
    if len(members) == 1 and members[0][0] == members[0][1]:
        return spell_point(members[0][0])
    return "[" + "".join(map(spell_range, members)) + "]"


def spell_range(ends: tuple[int, int]) -> str:
    first, last = ends
    return spell_point(first) if first == last else f"{spell_point(first)}-{spell_point(last)}"


def spell_point(point: int) -> str:
    letter = chr(point)
    return letter if letter.isascii() and letter.isalnum() else f"\\U{point:08x}"
