"""The bounds of inference: how much of a text is read."""

from dataclasses import dataclass

from sidecheck_server.core.budget import spend
from sidecheck_server.core.infer.complaints import Code, Complaint

__all__ = ["BOUNDS", "Bounds", "Meter"]


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is read of one text; its size is bounded by `core.limits`."""

    #: The nodes of annotations, classes and defaults that are read for one tool, each as
    #: often as it is used.
    nodes: int = 20_000
    #: The same for all tools of a text.
    all_nodes: int = 100_000
    #: The deepest nesting of annotations, of values and of aliases.
    depth: int = 40
    #: The most classes that are read.
    classes: int = 200
    #: The most fields of a class, members of an enumeration and parameters of a function.
    fields: int = 200
    #: The longest name of a function, with those of what it is inside of.
    name_length: int = 1000
    #: The most tools of a text.
    tools: int = 1000
    #: The size of all definitions together, in bytes.
    definitions_bytes: int = 2 << 20
    #: The longest docstring in which sections are looked for, in characters.
    docstring_length: int = 16 << 10
    #: The most bits of an integer. JSON has no bound, but Python writes no more digits.
    integer_bits: int = 1024


BOUNDS = Bounds()

_CHARACTERS_OF_A_NODE = 16


class Meter:
    """Counts what is read, for one tool and for all."""

    def __init__(self, bounds: Bounds = BOUNDS) -> None:
        self.bounds = bounds
        self._all = [bounds.all_nodes]
        self._tool = [bounds.nodes]

    def begin(self) -> None:
        """Begin to read another tool."""
        self._tool = [self.bounds.nodes]

    def node(self, text: str | bytes = "") -> None:
        """Count a node, and the *text* that it repeats.

        Raises:
            core.budget.Exhausted: that is more than a bound admits.
        """
        steps = 1 + len(text) // _CHARACTERS_OF_A_NODE
        spend(self._tool, steps)
        spend(self._all, steps)

    def deep(self, depth: int, node: object) -> None:
        """Complain if *node* stands deeper than is read."""
        if depth > self.bounds.depth:
            raise Complaint(
                Code.TOO_DEEP,
                f"this is nested deeper than {self.bounds.depth} levels, counted through aliases, "
                "or an alias of itself; a class may refer to itself, and makes it flat",
                node if hasattr(node, "lineno") else None,  # type: ignore[arg-type]
            )
