r"""Spelling of counted repetitions for RE2, which counts to 1,000.

RE2 rejects `x{1001}`, and `(x{40}){40}`, since it multiplies nested counts. So larger
counts are split into blocks of at most `BLOCK` copies, which match the same texts:

- `x{n}` is a sequence of blocks: `x{100}x{100}x{50}`.
- `x{n,}` is `x{n}x*`.
- `x{n,m}` is `x{n}` and then `x{0,m-n}`. With k copies in a block, every count from 0 to
  (j+1)k - 1 is a blocks and b copies, with a <= j and b < k, in one way only. So
  `(?:x{k}(?:x{k})?)?x{0,k-1}` is `x{0,3k-1}`. Copies beyond a multiple of k come first, as
  `(?:x{0,r-1}|x{r}…)`.

The product `x{0,k}x{0,k}…` would match the same texts too, but in as many ways as there
are blocks: its automaton needs a state for each byte of a text that remembers thousands
of positions, where this one remembers two. RE2 would also take quadratic time to compile
it: `x{0,1000}` thirty times over takes two seconds, since RE2 joins it to `x{0,30000}`. So
optional copies are written in blocks even where RE2 could count them.
"""

from dataclasses import dataclass

__all__ = ["Repetition", "repeat"]

#: The largest count that RE2 accepts, nested ones multiplied.
LARGEST_COUNT = 1000

#: Copies in a block, unless nested counts leave less: about the square root of the most
#: repetitions by default, so that neither blocks nor copies in one are many.
BLOCK = 100

#: Blocks of optional copies are nested, which RE2 does a thousand levels deep.
MOST_BLOCKS = 200


@dataclass(frozen=True, slots=True)
class Repetition:
    """How an atom is repeated: the pieces of its expression."""

    least: int
    most: int | None
    #: Copies in a block; 0 if RE2 can count by itself.
    block: int
    #: The product of nested counts in the expression.
    nested: int

    @property
    def copies(self) -> int:
        """How often the atom is written."""
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
    """Return the repetition of an atom whose own nested counts have the product *nested*."""
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
    further = f"(?:{atom}{{{block}}}" * (whole - 1) + ")?" * (whole - 1)
    spelled = further + (f"{atom}{{0,{block - 1}}}" if block > 1 else "")
    return f"(?:{atom}{{0,{first - 1}}}|{atom}{{{first}}}{spelled})" if first else spelled
