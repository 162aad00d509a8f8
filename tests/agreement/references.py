"""Adds identifiers and references to random schemas.

References have every form of the edition: a JSON Pointer, an anchor, the URI of the resource
itself or around the target, and dynamic references.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any
from urllib.parse import quote, urljoin

from agreement.editions import Edition
from agreement.values import ANCHORS
from agreement.writing import Writer
from sidecheck_server.core.types import Draft, as_pointer

__all__ = ["Connector", "Resource"]

_ABSOLUTE = ("http://example.com/a-b", "http://example.com/a_b.json", "urn:example:a-b", "x://y/z")
_RELATIVE = ("item.json", "a_b", "nested/item.json", "?q", "/rooted")
_DYNAMIC = ("$dynamicRef", "$recursiveRef")
_IN_PLACE = frozenset(
    {"$ref", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"}
    | {"dependencies"}
)
Path = tuple[str | int, ...]


@dataclass(slots=True, eq=False)
class Resource:
    """A schema with a URI, which is empty for a root without one."""

    uri: str
    root: dict[str, Any]
    anchors: dict[str, "Place"] = field(default_factory=dict)
    #: The names of the dynamic anchors.
    dynamic: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """Location of a subschema."""

    node: Any
    #: The schema or the document that contains it.
    document: Resource
    resource: Resource
    #: The path from the root of the resource.
    path: Path
    #: The path from the root of the document.
    whole: Path
    #: Whether it cannot have an identifier, since a ``$ref`` beside it disables it.
    void: bool


class Connector:
    """Connects the subschemas that a writer wrote."""

    def __init__(self, writer: Writer, roots: list[Resource]) -> None:
        self.random: Random = writer.random
        self.edition: Edition = writer.edition
        #: The target of each reference, by identity of the referring subschema.
        self.targets: dict[int, Any] = {}
        self._writer = writer
        self._roots = roots
        self._nodes = {id(node) for node in writer.nodes}
        self._holes = {id(node) for node in writer.holes}
        self._resources: dict[int, Resource] = {}
        self._places: list[Place] = []
        # Possible targets in documents of other editions.
        self._elsewhere: list[Place] = []
        self._dynamic = self.edition.since(Draft.DRAFT_2019_09) and writer.chance(0.25)
        # Whether `dependencies` has been split in two.
        self._split = self.edition.since(Draft.DRAFT_2019_09)

    @property
    def root(self) -> dict[str, Any]:
        """The root of the schema."""
        return self._roots[0].root

    def learn(self, source: "Connector") -> None:
        """Add the places of *source* as targets for references of the first root."""
        self._elsewhere += [place for place in source._places if not place.void]
        self.targets |= source.targets

    def connect(self) -> None:
        """Add identifiers to some subschemas, and references to all holes."""
        for root in self._roots:
            self._resources[id(root.root)] = root
        self._embed_resources()
        self._places = [place for root in self._roots for place in self._walk(root)]
        self._put_anchors(self._places)
        for place in self._places:
            if id(place.node) in self._holes:
                self._refer(place, self._places)

    def _walk(self, root: Resource) -> Iterator[Place]:
        stack = [Place(root.root, root, root, (), (), void=False)]
        while stack:
            place = stack.pop()
            value, resource, path, void = place.node, place.resource, place.path, place.void
            if id(value) in self._resources and not void:
                resource, path = self._resources[id(value)], ()
            here = Place(value, root, resource, path, place.whole, void=void)
            is_schema = id(value) in self._nodes or value is root.root
            if is_schema:
                yield here
                void = void or (id(value) in self._holes and self.edition.reference_hides_siblings)
            stack.extend(
                Place(below, root, resource, (*path, step), (*place.whole, step), void=hidden)
                for step, below in _steps(value)
                # jsonschema-rs ignores identifiers there since 2019-09.
                for hidden in (void or (is_schema and step == "dependencies" and self._split),)
            )

    def _namable(self, place: Place) -> bool:
        # Before 2019-09 a name beside $ref is void (draft-07 core, section 8.3).
        hides = self.edition.reference_hides_siblings and id(place.node) in self._holes
        return not place.void and not hides and self.edition.id_keyword not in place.node

    def _embed_resources(self) -> None:
        for root in self._roots:
            places = [p for p in self._walk(root) if self._namable(p) and self._embeddable(p)]
            count = min(len(places), self.random.choice((0, 0, 0, 1, 1, 2)))
            chosen = {id(place.node) for place in self.random.sample(places, count)}
            # From the outside to the inside: the outer name is the base of the inner.
            for path in sorted((p.whole for p in places if id(p.node) in chosen), key=len):
                place = next(p for p in self._walk(root) if p.whole == path)
                self._embed(place)

    def _embeddable(self, place: Place) -> bool:
        if self._dynamic:
            # Elsewhere jsonschema-rs would lose the dynamic scope around the resource.
            return len(place.whole) == 2 and place.whole[0] in ("$defs", "definitions")
        return bool(place.path)

    def _embed(self, place: Place) -> None:
        name = self.random.choice((*_ABSOLUTE, *_RELATIVE))
        uri = urljoin(place.resource.uri, name)
        # A relative name needs a base that has a path (RFC 3986, section 5.2).
        based = place.resource.uri.startswith("http:")
        if name in _RELATIVE and not based:
            return
        resources = [*self._resources.values(), *(place.resource for place in self._elsewhere)]
        if all(uri != resource.uri for resource in resources):
            place.node[self.edition.id_keyword] = name
            self._resources[id(place.node)] = Resource(uri, place.node)

    def _put_anchors(self, places: list[Place]) -> None:
        if self._dynamic:
            self._put_dynamic_anchors(places)
        for place in self.random.sample(places, min(len(places), self.random.randrange(4))):
            name = self.random.choice(ANCHORS)
            if not self._namable(place) or name in place.resource.anchors or not place.path:
                continue
            if "$anchor" in place.node:
                continue
            place.resource.anchors[name] = place
            if self.edition.since(Draft.DRAFT_2019_09):
                place.node["$anchor"] = name
            else:
                place.node[self.edition.id_keyword] = f"#{name}"

    def _put_dynamic_anchors(self, places: list[Place]) -> None:
        for place in places:
            if place.void:
                continue
            is_root = place.node is place.resource.root
            if self.edition.draft is Draft.DRAFT_2019_09 and is_root and self._writer.chance(0.6):
                place.node["$recursiveAnchor"] = self._writer.chance(0.8)
            if self.edition.draft is not Draft.DRAFT_2020_12 or self._writer.chance(0.4):
                continue
            if is_root or self._writer.chance(0.1):
                name = self.random.choice(ANCHORS[:2])
                if name not in place.resource.anchors:
                    place.resource.anchors[name] = place
                    place.resource.dynamic.add(name)
                    place.node["$dynamicAnchor"] = name

    def _refer(self, place: Place, places: list[Place]) -> None:
        if self._refer_dynamically(place):
            return
        known_places = [
            candidate
            for candidate in places
            if (candidate.resource.uri or candidate.resource is place.resource)
            # jsonschema-rs reads the documents before the schema.
            and (place.document is self._roots[0] or candidate.document is place.document)
        ]
        if self._elsewhere and place.document is self._roots[0] and self._writer.chance(0.5):
            known_places = self._elsewhere
        defined = [p for p in known_places if p.path[:1] == (self.edition.definitions_keyword,)]
        target = self.random.choice(
            defined if defined and self._writer.chance(0.6) else known_places
        )
        reference = self.random.choice(list(self._spellings(place.resource, target)))
        place.node["$ref"] = reference
        self.targets[id(place.node)] = target.node

    def _refer_dynamically(self, place: Place) -> bool:
        resource = place.resource
        if self.edition.draft is Draft.DRAFT_2019_09 and self._writer.chance(0.15):
            place.node["$recursiveRef"] = "#"
            self.targets[id(place.node)] = resource.root
            return True
        if self.edition.draft is not Draft.DRAFT_2020_12 or self._writer.chance(0.3):
            return False
        choices = list(resource.anchors) if resource.dynamic else []
        if not choices:
            return False
        name = self.random.choice(choices)
        place.node["$dynamicRef"] = f"#{name}"
        self.targets[id(place.node)] = resource.anchors[name].node
        return True

    def _spellings(self, here: Resource, target: Place) -> Iterator[str]:
        there = target.resource
        fragments = [_fragment(target.path, self.random)]
        fragments += [
            f"#{name}"
            for name, place in there.anchors.items()
            # jsonschema-rs follows $ref dynamically where such an anchor is dynamic too.
            if place is target and (name not in there.dynamic or self._is_single(name))
        ]
        if there is here:
            yield from fragments
        if not target.path:
            # By an empty fragment jsonschema-rs loses the dynamic scope.
            fragments = [""] if self._dynamic else ["", *fragments]
        for fragment in fragments:
            if there.uri:
                yield there.uri + fragment
            name = there.root.get(self.edition.id_keyword)
            if target in self._elsewhere:
                continue
            if isinstance(name, str) and urljoin(here.uri, name) == there.uri and name:
                yield name.rstrip("#") + fragment

    def endless(self) -> bool | None:
        """Return whether references form a cycle; None with dynamic or foreign references."""
        dynamic = any(key in node for node in self._writer.nodes for key in _DYNAMIC)
        if dynamic or self._elsewhere:
            return None
        root = self._roots[0].root
        reached, pending = {id(root): root}, [root]
        while pending:
            followers = [node for _, node in self._followers(pending.pop())]
            fresh = {id(node): node for node in followers if id(node) not in reached}
            reached |= fresh
            pending += fresh.values()
        done: set[int] = set()
        return any(self._returns(node, done, set()) for node in reached.values())

    def _returns(self, node: dict[str, Any], done: set[int], above: set[int]) -> bool:
        if id(node) in above or id(node) in done:
            return id(node) in above
        above.add(id(node))
        is_cyclic = any(
            self._returns(followers, done, above)
            for keyword, followers in self._followers(node)
            if keyword in _IN_PLACE and (keyword not in ("then", "else") or "if" in node)
        )
        above.discard(id(node))
        done.add(id(node))
        return is_cyclic

    def _followers(self, node: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the subschemas that *node* applies or contains, with their keywords."""
        target = self.targets.get(id(node))
        if isinstance(target, dict):
            yield "$ref", target
            if self.edition.reference_hides_siblings:
                return
        for keyword, value in node.items():
            roots = [value] if id(value) in self._nodes else [child for _, child in _steps(value)]
            for child in roots:
                if id(child) in self._nodes:
                    yield keyword, child

    def _is_single(self, anchor: str) -> bool:
        return sum(anchor in resource.anchors for resource in self._resources.values()) == 1


def _steps(value: Any) -> list[tuple[str | int, Any]]:
    if isinstance(value, dict):
        return list(value.items())
    return list(enumerate(value)) if isinstance(value, list) else []


def _fragment(path: Path, random: Random) -> str:
    """Return the JSON Pointer along *path* as a URI fragment (RFC 6901, section 6)."""
    # Characters that a fragment may contain unescaped (RFC 3986, section 3.5), or fewer.
    safe = random.choice(("/~", "/~!$&'()*+,;=:@?"))
    return "#" + quote(as_pointer(path), safe=safe)
