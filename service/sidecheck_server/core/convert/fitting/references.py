"""References: written out where an API has none, alone where they may have no neighbours."""

from sidecheck_server.core.budget import spend
from sidecheck_server.core.convert.apis.api import References
from sidecheck_server.core.convert.fitting.fitting import Fitting, Rule
from sidecheck_server.core.convert.fitting.merging import merged, without
from sidecheck_server.core.convert.fitting.outlines import outline, shown
from sidecheck_server.core.convert.fitting.telling import note
from sidecheck_server.core.convert.part import Part
from sidecheck_server.core.convert.record import Record
from sidecheck_server.core.convert.translation import ANNOTATIONS
from sidecheck_server.core.convert.words import Action, Direction
from sidecheck_server.core.limits import limit_exceeded_error

__all__ = ["RULES", "without_cycles", "written_out"]

_STEPS = 50
_MOST = 20_000
"""Parts of a schema with its references written out, at most."""
_DEEPEST = 100
"""Parts above one in whose place a reference is still written out."""

_LONGEST = 60
"""Characters after which what is around is no longer named more exactly."""

_IN_WORDS = {
    **dict.fromkeys(("items", "prefixItems", "contains"), "an item of "),
    **dict.fromkeys(("additionalProperties", "patternProperties"), "a member of "),
}
"""What stands under a keyword, in the words of who reads the schema."""

_AGAIN = "the API takes no schema that leads back to itself, so that its form is left open"
_DEEP = "it is nested too deep to be written out, so that its form is left open"


def written_out(root: Part, record: Record) -> Part:
    """Return *root* with what each reference leads to in its place, which makes it a tree.

    A reference that leads back to what it is a part of is cut.

    Raises:
        Refusal: LIMIT_EXCEEDED if it comes to more than 20,000 parts.
        Exhausted: the budget is spent.
    """
    return _WritingOut(record).tree(root)


class _Copy:
    """A part that is to be copied, with those in whose copies it stands."""

    __slots__ = ("above", "depth", "into", "keyword", "name", "originals")

    def __init__(
        self, original: Part, into: Part, above: "_Copy | None", keyword: str, name: str
    ) -> None:
        #: One, and what its reference leads to, and so on.
        self.originals = [original]
        self.into = into
        self.above = above
        self.depth: int = 0 if above is None else above.depth + 1
        #: Where it stands in what is above; the name is "" where the keyword has no names.
        self.keyword = keyword
        self.name = name

    def around(self, part: Part) -> "_Copy | None":
        """Return the copy of *part* in which this is, or that it is."""
        here: _Copy | None = self
        while here is not None:
            if any(each is part for each in here.originals):
                return here
            here = here.above
        return None

    def in_words(self) -> str:
        """Return what it is called by those who do not know the names of definitions."""
        said = ""
        here = self
        while here.above is not None and len(said) < _LONGEST:
            if here.keyword == "properties":
                return said + shown(here.name)
            said += _IN_WORDS.get(here.keyword, "")
            here = here.above
        return f"{said}the whole"


class _WritingOut:
    def __init__(self, record: Record) -> None:
        self.record = record
        self.count = 0
        self.pending: list[_Copy] = []

    def tree(self, root: Part) -> Part:
        result = self.copy(root, None, "", "")
        while self.pending:
            self.fill(self.pending.pop())
        return result

    def copy(self, part: Part, above: _Copy | None, keyword: str, name: str) -> Part:
        self.count += 1
        if self.count > _MOST:
            said = "the schema with its references written out has too many subschemas"
            raise limit_exceeded_error("subschemas", _MOST, said)
        copied = Part(part.at, {}, part.never, list(part.notes))
        self.pending.append(_Copy(part, copied, above, keyword, name))
        return copied

    def fill(self, here: _Copy) -> None:
        spend(self.record.budget, _STEPS + here.depth)
        part, into = here.originals[0], here.into
        keywords = dict(part.keywords)
        while "$ref" in keywords:
            target: Part = keywords.pop("$ref")
            around = here.around(target)
            if around is not None:
                _cut(into, keywords, target, f"of the same form as {around.in_words()}")
                self.record.tell(into, "$ref", Action.DESCRIBED, Direction.WIDER, _AGAIN)
                break
            if here.depth > _DEEPEST:
                _cut(into, keywords, target, f"a {target.name}")
                self.record.tell(into, "$ref", Action.DESCRIBED, Direction.WIDER, _DEEP)
                break
            if keywords.keys() - ANNOTATIONS.keys():
                keywords["allOf"] = [target, *keywords.get("allOf", ())]
                break
            here.originals.append(target)
            into.never = target.never
            into.notes += [each for each in target.notes if each not in into.notes]
            into.at = into.at if keywords else target.at
            keywords = {**target.keywords, **keywords}
        for keyword, value in keywords.items():
            into.keywords[keyword] = self.value(value, here, keyword)

    def value(self, value: object, here: _Copy, keyword: str) -> object:
        if isinstance(value, Part):
            return self.copy(value, here, keyword, "")
        if isinstance(value, list):
            return [
                self.copy(each, here, keyword, "") if isinstance(each, Part) else each
                for each in value
            ]
        if isinstance(value, dict):
            return {
                name: self.copy(each, here, keyword, name) if isinstance(each, Part) else each
                for name, each in value.items()
            }
        return value


def _cut(into: Part, keywords: dict[str, object], target: Part, said: str) -> None:
    """Have *into* say of *target* what can be *said* without it."""
    if "type" in target.keywords and "type" not in keywords:
        keywords["type"] = target.keywords["type"]
    for name in ("unevaluatedProperties", "unevaluatedItems"):
        keywords.pop(name, None)
    note(into, said)


def without_cycles(root: Part, record: Record) -> None:
    """Cut each reference below *root* that leads back to what it is a part of.

    Raises:
        Exhausted: the budget is spent.
    """
    above: set[int] = set()
    done: set[int] = set()
    stack = [(root, list(root.below()))]
    above.add(id(root))
    while stack:
        part, rest = stack[-1]
        if not rest:
            stack.pop()
            above.discard(id(part))
            done.add(id(part))
            continue
        spend(record.budget, _STEPS)
        keyword, below = rest.pop()
        if id(below) in above:
            _open(part, keyword, below, record)
        elif id(below) not in done:
            above.add(id(below))
            stack.append((below, list(below.below())))


def _open(part: Part, keyword: str, below: Part, record: Record) -> None:
    """Cut the way from *part* to *below*, which has its name where references lead to it."""
    said = f"of the same form as {below.name or 'the whole'}"
    if keyword == "$ref":
        del part.keywords["$ref"]
        _cut(part, part.keywords, below, said)
        record.tell(part, "$ref", Action.DESCRIBED, Direction.WIDER, _AGAIN)
        return
    stub = Part(below.at)
    _cut(stub, stub.keywords, below, said)
    record.tell(stub, "", Action.DESCRIBED, Direction.WIDER, _AGAIN)
    value = part.keywords[keyword]
    if isinstance(value, Part):
        part.keywords[keyword] = stub
    elif isinstance(value, list):
        part.keywords[keyword] = [stub if each is below else each for each in value]
    else:
        part.keywords[keyword] = {
            name: stub if each is below else each for name, each in value.items()
        }


def _apart(part: Part, fitting: Fitting) -> None:
    """Leave a reference without assertions beside it, and without anything where it must be."""
    subset = fitting.subset
    apart = subset.closed or subset.all_required or subset.references is References.ALONE
    if "$ref" not in part.keywords or not apart:
        return
    asserted = [name for name in part.keywords if name not in ANNOTATIONS and name != "$ref"]
    if asserted:
        _without_assertions(part, asserted, fitting)
    target = part.keywords.get("$ref")
    # An annotation that is not taken is left out later.
    beside = [name for name in part.keywords if name != "$ref"]
    if target is not None and beside and subset.references is References.ALONE:
        if fitting.takes("anyOf"):
            del part.keywords["$ref"]
            part.keywords["anyOf"] = [Part(part.at, {"$ref": target})]
            said = "stands below anyOf, for it may have no neighbours"
            fitting.record.tell(part, "$ref", Action.REWRITTEN, Direction.SAME, said)
        else:
            for name in beside:
                del part.keywords[name]
                said = "may not stand beside $ref"
                fitting.record.tell(part, name, Action.DROPPED, Direction.SAME, said)


def _without_assertions(part: Part, asserted: list[str], fitting: Fitting) -> None:
    whole = merged([part], fitting.record.budget)
    if whole is not None:
        part.keywords, part.never = whole.keywords, whole.never
        part.notes = list(dict.fromkeys([*part.notes, *whole.notes]))
        said = "what it leads to is written out, for assertions may not stand beside it"
        fitting.record.tell(part, "$ref", Action.REWRITTEN, Direction.SAME, said)
        return
    said = f"also like {outline(without(part, '$ref'))}"
    note(part, said)
    for name in asserted:
        del part.keywords[name]
        told = f"may not stand beside $ref, nor can it be merged with that; described: {said}"
        fitting.record.tell(part, name, Action.DESCRIBED, Direction.WIDER, told)


RULES: tuple[Rule, ...] = (_apart,)
