"""Search for values that are valid against several branches of ``oneOf``.

Samples of each branch are evaluated against all of them, in place: references resolve as in the
whole schema, and the keywords beside ``oneOf`` apply. So each overlap is certain, and a schema
without one may still have some.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, islice
from typing import Any
from urllib.parse import quote

from sidecheck_server.core.compat.changes import Reading
from sidecheck_server.core.compat.normal_form import (
    CannotCompareError,
    NormalForm,
    normalize_schema,
)
from sidecheck_server.core.compat.samples import sample_payloads
from sidecheck_server.core.compiler.admission import admit_schema
from sidecheck_server.core.compiler.compilation import Artifact, CompiledSchema
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.evaluate import EvaluationOptions, evaluate
from sidecheck_server.core.json_values import canonical_json
from sidecheck_server.core.limits import Budget, Exhausted, Limits, spend
from sidecheck_server.core.payload import encode_json
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.schemas.walker import SchemaLocation, contains_keyword
from sidecheck_server.core.types import Document, Draft, as_pointer

__all__ = ["Overlap", "find_overlap"]

_MAX_BRANCHES = 16
_MAX_SAMPLES = 8
"""Samples of one branch: those with few properties come first."""
_MAX_BYTES = 64 << 10
"""Maximum bytes of a schema; it is read for each ``oneOf``."""
_MAX_STEPS = 100_000
"""Maximum steps of one evaluation: samples are small."""
_SOURCE = 100_000
_SOURCE_BYTE = 40
"""Steps of reading a schema, and for each of its bytes."""
_PAIR = 200
"""Steps of comparing two branches by their types and constants."""
_OPTIONS = EvaluationOptions(max_violations=1_000)
_ROOT, _SIBLINGS = "urn:sidecheck:root", "urn:sidecheck:siblings"
_ANYTHING = NormalForm(schema=True, draft=Draft.DRAFT_2020_12)
_IDENTIFIERS = ("$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor")


@dataclass(frozen=True, slots=True)
class Overlap:
    """A value that is valid against two branches."""

    #: Index of the later branch.
    branch: int
    #: Index of the earlier branch.
    other: int
    #: The value, as JSON text.
    payload: bytes


def find_overlap(
    root: dict[str, Any], location: SchemaLocation, budget: Budget, limits: Limits
) -> Overlap | None:
    """Return an overlap of the branches of ``oneOf`` at *location* of the schema *root*.

    The search ends when *budget* is spent.
    """
    branches = location.schema["oneOf"]
    if not 1 < len(branches) <= _MAX_BRANCHES:
        return None
    try:
        spend(budget, _PAIR * len(branches) ** 2)
        if _are_exclusive(branches, root):
            return None
        text = encode_json(root)
        if len(text) > _MAX_BYTES:
            return None
        spend(budget, _SOURCE + _SOURCE_BYTE * 2 * len(text))
        if any(contains_keyword(root, name, budget) for name in _IDENTIFIERS):
            return None  # The two documents would have the same identifiers.
        return _Search(root, text, location, budget, limits).find()
    except (CannotCompareError, Exhausted, RecursionError, RequestError, UnicodeEncodeError):
        return None


class _Search:
    def __init__(
        self,
        root: dict[str, Any],
        text: bytes,
        location: SchemaLocation,
        budget: Budget,
        limits: Limits,
    ) -> None:
        self._count = len(location.schema["oneOf"])
        self._budget = budget
        self._limits = replace(limits, steps=min(limits.steps, _MAX_STEPS))
        pointer = quote(as_pointer(location.path), safe="/~")
        references = [f"{_ROOT}#{pointer}/oneOf/{index}" for index in range(self._count)]
        siblings = encode_json(_without_one_of(root, location.path))
        # One array has the value for each branch, and for the keywords beside oneOf.
        schema = {
            "prefixItems": [{"$ref": target} for target in (*references, f"{_SIBLINGS}#{pointer}")]
        }
        documents = (Document(_ROOT, text), Document(_SIBLINGS, siblings))
        self._source = SchemaSource(encode_json(schema), documents)

    def find(self) -> Overlap | None:
        """Return the first overlap."""
        admitted = admit_schema(self._source, self._limits)
        if admitted.backtracking:
            return None  # Only a process that can be killed may evaluate it.
        form = normalize_schema(
            admitted, Draft.DRAFT_2020_12, Reading.AS_WRITTEN, self._budget
        ).schema
        artifact = Artifact(
            digest="", dialect="", fast=None, complete_only_reason="it serves few payloads"
        )
        compiled = CompiledSchema(self._source, artifact, self._limits)
        for payload in self._samples(form):
            rejecting = self._rejecting(compiled, payload)
            if rejecting is None or self._count in rejecting:
                continue
            valid = [index for index in range(self._count) if index not in rejecting]
            if len(valid) > 1:
                return Overlap(valid[1], valid[0], payload)
        return None

    def _samples(self, form: Any) -> Iterator[bytes]:
        definitions = {name: form[name] for name in ("$defs", "definitions") if name in form}
        *branches, siblings = form["prefixItems"]
        for branch in branches:
            schema = {"allOf": [branch, siblings], **definitions}
            sampled = NormalForm(schema, Draft.DRAFT_2020_12)
            for value in islice(sample_payloads(sampled, _ANYTHING, self._budget), _MAX_SAMPLES):
                yield encode_json(value)

    def _rejecting(self, compiled: CompiledSchema, payload: bytes) -> set[int] | None:
        """Return the indexes of the schemas that reject *payload*; None if not all are known."""
        copies = b"[" + b",".join([payload] * (self._count + 1)) + b"]"
        verdict = evaluate(compiled, copies, _OPTIONS)
        spend(self._budget, verdict.steps)
        if verdict.truncated:
            return None
        return {
            int(violation.instance_location.split("/")[1])
            for violation in verdict.violations
            if violation.instance_location
        }


def _without_one_of(schema: Any, path: tuple[str | int, ...]) -> Any:
    """Return *schema* with the ``oneOf`` at *path* removed; it shares all other parts."""
    if not path:
        return {name: value for name, value in schema.items() if name != "oneOf"}
    step, rest = path[0], path[1:]
    copy = schema.copy()
    copy[step] = _without_one_of(schema[step], rest)
    return copy


_PRESENCE = frozenset({"title", "description", "$comment", "type", "required", "not"})


def _are_exclusive(branches: list[Any], root: dict[str, Any]) -> bool:
    """Return whether branches differ plainly, or are meant to exclude each other.

    Branches that only require properties say which combinations are allowed.
    """
    resolved = [_resolve(branch, root) for branch in branches]
    if all(isinstance(branch, dict) and branch.keys() <= _PRESENCE for branch in resolved):
        return any("required" in branch for branch in resolved)
    return all(_differ(one, other) for one, other in combinations(resolved, 2))


def _resolve(branch: Any, root: dict[str, Any]) -> Any:
    """Return *branch*, or the definition of *root* that it refers to."""
    reference = branch.get("$ref") if isinstance(branch, dict) else None
    if isinstance(reference, str) and len(branch) == 1:
        match reference.split("/"):
            case ["#", ("$defs" | "definitions") as keyword, name]:
                definitions = root.get(keyword)
                return definitions.get(name, branch) if isinstance(definitions, dict) else branch
    return branch


def _differ(one: Any, other: Any) -> bool:
    """Return whether no value is valid against both, by types, constants or a discriminator."""
    if not (isinstance(one, dict) and isinstance(other, dict)):
        return False
    types = [_types_of(schema) for schema in (one, other)]
    if all(types) and not types[0] & types[1]:
        return True
    constants = [_constants_of(schema) for schema in (one, other)]
    if all(constants) and not constants[0] & constants[1]:
        return True
    tags = [_tags_of(schema) for schema in (one, other)]
    return any(not tags[0][name] & tags[1][name] for name in tags[0].keys() & tags[1].keys())


def _types_of(schema: dict[str, Any]) -> frozenset[str]:
    types = schema.get("type")
    listed = types if isinstance(types, list) else [types]
    names = frozenset(name for name in listed if isinstance(name, str))
    return names | {"integer"} if "number" in names else names


def _constants_of(schema: Any) -> frozenset[bytes]:
    """Return the texts of the values that *schema* lists; empty if it lists none."""
    if not isinstance(schema, dict):
        return frozenset()
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    return frozenset(map(canonical_json, values)) if isinstance(values, list) else frozenset()


def _tags_of(schema: dict[str, Any]) -> Mapping[str, frozenset[bytes]]:
    """Return the constants of each required property that has any."""
    required, properties = schema.get("required"), schema.get("properties")
    if not isinstance(required, list) or not isinstance(properties, dict):
        return {}
    tags = {name: _constants_of(properties.get(name)) for name in required if isinstance(name, str)}
    return {name: constants for name, constants in tags.items() if constants}
