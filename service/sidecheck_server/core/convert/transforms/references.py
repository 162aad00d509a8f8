"""References: inlining, cutting of cycles, and isolation from sibling keywords."""

from sidecheck_server.core.convert.providers.subset import References, Subset
from sidecheck_server.core.convert.schema_graph import ANNOTATIONS, SchemaNode
from sidecheck_server.core.convert.transforms.descriptions import add_note, outline, shorten
from sidecheck_server.core.convert.transforms.merging import merge_nodes, without_keywords
from sidecheck_server.core.convert.transforms.rules import Rule, TransformContext
from sidecheck_server.core.convert.types import Action, Effect, LossLog
from sidecheck_server.core.limits import limit_exceeded_error, spend

__all__ = ["RULES", "cut_cycles", "inline_references"]

_STEPS = 50
"""Steps per copied or visited node."""
_MAX_NODES = 20_000
"""Maximum number of nodes of a schema with its references inlined."""
_MAX_DEPTH = 100
"""Maximum depth to which references are inlined."""

_MAX_LABEL = 60
"""Characters after which a label is precise enough."""

_RELATIONS = {
    **dict.fromkeys(("items", "prefixItems", "contains"), "an item of "),
    **dict.fromkeys(("additionalProperties", "patternProperties"), "a property of "),
}
"""Relation of a node to the one above, by its keyword, as the model reads it."""

_RECURSIVE = "the provider supports no recursive schemas, so that the form is left open"
_TOO_DEEP = "too deep to be inlined, so that the form is left open"


def inline_references(root: SchemaNode, log: LossLog) -> SchemaNode:
    """Return *root* with the targets of references inlined, which makes it a tree.

    A reference that leads to a node above it is cut.

    Raises:
        RequestError: LIMIT_EXCEEDED if the result would have more than 20,000 nodes.
        Exhausted: the budget is spent.
    """
    return _Inliner(log).inline(root)


class _Copy:
    """Node to copy, and its place below the copies of other nodes."""

    __slots__ = ("above", "depth", "into", "keyword", "name", "originals")

    def __init__(
        self,
        original: SchemaNode,
        into: SchemaNode,
        above: "_Copy | None",
        keyword: str,
        name: str,
    ) -> None:
        #: The node, the target of its reference, the target of that one, and so on.
        self.originals = [original]
        self.into = into
        self.above = above
        self.depth: int = 0 if above is None else above.depth + 1
        #: Position in the copy above; the name is "" if the keyword has no names.
        self.keyword = keyword
        self.name = name

    def find_above(self, node: SchemaNode) -> "_Copy | None":
        """Return the innermost copy of *node* around this one; it may be this one."""
        copy: _Copy | None = self
        while copy is not None:
            if any(original is node for original in copy.originals):
                return copy
            copy = copy.above
        return None

    def label(self) -> str:
        """Return a label without names of definitions, which an inlined schema lacks."""
        label = ""
        copy = self
        while copy.above is not None and len(label) < _MAX_LABEL:
            if copy.keyword == "properties":
                return label + shorten(copy.name)
            label += _RELATIONS.get(copy.keyword, "")
            copy = copy.above
        return f"{label}the whole"


class _Inliner:
    def __init__(self, log: LossLog) -> None:
        self.log = log
        self.count = 0
        self.pending: list[_Copy] = []

    def inline(self, root: SchemaNode) -> SchemaNode:
        result = self.copy(root, None, "", "")
        while self.pending:
            self.fill(self.pending.pop())
        return result

    def copy(self, node: SchemaNode, above: _Copy | None, keyword: str, name: str) -> SchemaNode:
        self.count += 1
        if self.count > _MAX_NODES:
            message = "the schema with its references inlined has too many subschemas"
            raise limit_exceeded_error("subschemas", _MAX_NODES, message)
        into = SchemaNode(node.path, {}, node.never, list(node.notes))
        self.pending.append(_Copy(node, into, above, keyword, name))
        return into

    def fill(self, copy: _Copy) -> None:
        spend(self.log.budget, _STEPS + copy.depth)
        into = copy.into
        keywords = dict(copy.originals[0].keywords)
        while "$ref" in keywords:
            target: SchemaNode = keywords.pop("$ref")
            outer = copy.find_above(target)
            if outer is not None:
                _replace_reference(into, keywords, target, f"of the same form as {outer.label()}")
                self.log.add(into, "$ref", Action.DESCRIBED, Effect.WIDENED, _RECURSIVE)
                break
            if copy.depth > _MAX_DEPTH:
                _replace_reference(into, keywords, target, f"a {target.name}")
                self.log.add(into, "$ref", Action.DESCRIBED, Effect.WIDENED, _TOO_DEEP)
                break
            if keywords.keys() - ANNOTATIONS.keys():
                keywords["allOf"] = [target, *keywords.get("allOf", ())]
                break
            copy.originals.append(target)
            into.never = target.never
            into.notes += [note for note in target.notes if note not in into.notes]
            into.path = into.path if keywords else target.path
            keywords = {**target.keywords, **keywords}
        for keyword, value in keywords.items():
            into.keywords[keyword] = self.copy_value(value, copy, keyword)

    def copy_value(self, value: object, above: _Copy, keyword: str) -> object:
        if isinstance(value, SchemaNode):
            return self.copy(value, above, keyword, "")
        if isinstance(value, list):
            return [
                self.copy(item, above, keyword, "") if isinstance(item, SchemaNode) else item
                for item in value
            ]
        if isinstance(value, dict):
            return {
                name: self.copy(item, above, keyword, name)
                if isinstance(item, SchemaNode)
                else item
                for name, item in value.items()
            }
        return value


def _replace_reference(
    into: SchemaNode, keywords: dict[str, object], target: SchemaNode, text: str
) -> None:
    """Replace a reference to *target* by its type and the description *text*."""
    if "type" in target.keywords and "type" not in keywords:
        keywords["type"] = target.keywords["type"]
    for name in ("unevaluatedProperties", "unevaluatedItems"):
        keywords.pop(name, None)
    add_note(into, text)


def cut_cycles(root: SchemaNode, log: LossLog) -> None:
    """Cut each reference below *root* that leads to a node above it.

    Raises:
        Exhausted: the budget is spent.
    """
    above: set[int] = set()
    done: set[int] = set()
    stack = [(root, list(root.children_by_keyword()))]
    above.add(id(root))
    while stack:
        node, rest = stack[-1]
        if not rest:
            stack.pop()
            above.discard(id(node))
            done.add(id(node))
            continue
        spend(log.budget, _STEPS)
        keyword, child = rest.pop()
        if id(child) in above:
            _cut(node, keyword, child, log)
        elif id(child) not in done:
            above.add(id(child))
            stack.append((child, list(child.children_by_keyword())))


def _cut(node: SchemaNode, keyword: str, child: SchemaNode, log: LossLog) -> None:
    """Cut the edge from *node* to *child*, which has a name if references lead to it."""
    text = f"of the same form as {child.name or 'the whole'}"
    if keyword == "$ref":
        del node.keywords["$ref"]
        _replace_reference(node, node.keywords, child, text)
        log.add(node, "$ref", Action.DESCRIBED, Effect.WIDENED, _RECURSIVE)
        return
    stub = SchemaNode(child.path)
    _replace_reference(stub, stub.keywords, child, text)
    log.add(stub, "", Action.DESCRIBED, Effect.WIDENED, _RECURSIVE)
    value = node.keywords[keyword]
    if isinstance(value, SchemaNode):
        node.keywords[keyword] = stub
    elif isinstance(value, list):
        node.keywords[keyword] = [stub if item is child else item for item in value]
    else:
        node.keywords[keyword] = {
            name: stub if item is child else item for name, item in value.items()
        }


def _restricts_siblings(subset: Subset) -> bool:
    """Return whether *subset* restricts the siblings of a reference."""
    return subset.closed or subset.all_required or subset.references is References.ALONE


def _isolate(node: SchemaNode, context: TransformContext) -> None:
    """Remove assertions beside a reference, and all siblings where none are allowed."""
    subset = context.subset
    asserted = [name for name in node.keywords if name not in ANNOTATIONS and name != "$ref"]
    if asserted:
        _remove_assertions(node, asserted, context)
    target = node.keywords.get("$ref")
    # Unsupported annotations are dropped later.
    siblings = [name for name in node.keywords if name != "$ref"]
    if target is not None and siblings and subset.references is References.ALONE:
        if context.supports("anyOf"):
            del node.keywords["$ref"]
            node.keywords["anyOf"] = [SchemaNode(node.path, {"$ref": target})]
            message = "moved below anyOf: it may have no sibling keywords"
            context.log.add(node, "$ref", Action.REWRITTEN, Effect.EQUIVALENT, message)
        else:
            for name in siblings:
                del node.keywords[name]
                message = "not allowed beside $ref"
                context.log.add(node, name, Action.DROPPED, Effect.EQUIVALENT, message)


def _remove_assertions(node: SchemaNode, asserted: list[str], context: TransformContext) -> None:
    merged = merge_nodes([node], context.log.budget)
    if merged is not None:
        node.keywords, node.never = merged.keywords, merged.never
        node.notes = list(dict.fromkeys([*node.notes, *merged.notes]))
        message = "inlined, since assertions are not allowed beside it"
        context.log.add(node, "$ref", Action.REWRITTEN, Effect.EQUIVALENT, message)
        return
    text = f"also like {outline(without_keywords(node, '$ref'))}"
    add_note(node, text)
    for name in asserted:
        del node.keywords[name]
        message = f"not allowed beside $ref, and cannot be merged; moved to the description: {text}"
        context.log.add(node, name, Action.DESCRIBED, Effect.WIDENED, message)


RULES: tuple[Rule, ...] = (
    Rule(_isolate, lambda traits, subset: "$ref" in traits and _restricts_siblings(subset)),
)
