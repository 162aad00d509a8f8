"""Compilation is deterministic: the same schema always gives the same artifact or error."""

import json
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from sidecheck_server.core.compiler.compilation import Artifact, CompiledSchema, compile_schema
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.evaluate import DISAGREEMENT, EvaluationOptions, evaluate
from sidecheck_server.core.json_values import digest_of
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.schemas.keywords import KEYWORDS
from sidecheck_server.core.types import Document, Draft, as_pointer
from support.compiling import D04, D07, D2019, D2020, LIMITS, compile_value, evaluate_all, source_of

#: More than any payload here takes.
STEPS = 1 << 40

OWN = "https://example.com/own"
NAMES = [
    *sorted({name for draft in Draft for name in KEYWORDS[draft]}),
    *("$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$schema", "$comment", "x-a"),
]
TEXTS = [
    *("a", "b", "", "#", "#a", "#/$defs/a", "#/properties/b", "#/not", "#/allOf/0", "urn:d", "c"),
    *("urn:e#a", "http://x/", D2020, D07, D04, D2019, OWN, "string", "integer", "object", "array"),
    *("^a", "(", "(?=a)", "\\p{L}", "[a-", "date", "ipv4", "http://[", "{PWN()}", "\x00", "😀"),
]
PAYLOADS = [b"1", b'"a"', b'{"a": {"a": 1, "b": []}}', b"[1, [], {}, null]", b'{"": 1e2}']


def random_value(random: Random, depth: int) -> Any:
    """Return any JSON value; objects of it have keywords for names, mostly."""
    kind = random.randrange(12)
    if depth == 0 or kind < 3:
        return random.choice([None, True, False, 0, -1, 2, 0.5, 1e300, 2**70, *TEXTS])
    if kind < 5:
        return [random_value(random, depth - 1) for _ in range(random.randrange(4))]
    if kind < 7:
        names = random.sample(["a", "b", "c", "$ref", "not", "$id"], random.randrange(4))
        return {name: random_value(random, depth - 1) for name in names}
    return random_schema(random, depth)


def random_schema(random: Random, depth: int) -> Any:
    """Return an object of keywords, whose values are often of the right kind."""
    schema: dict[str, Any] = {}
    for name in random.sample(NAMES, random.randrange(5)):
        kind = random.random()
        if kind < 0.25:
            schema[name] = random_value(random, depth - 1) if depth else True
        elif name in {"$ref", "$dynamicRef", "$recursiveRef", "$id", "id", "$schema", "pattern"}:
            schema[name] = random.choice(TEXTS)
        elif depth and name in {"allOf", "anyOf", "oneOf", "prefixItems"}:
            schema[name] = [random_schema(random, depth - 1) for _ in range(random.randint(1, 2))]
        elif depth and ("roperties" in name or name in {"$defs", "definitions", "dependencies"}):
            schema[name] = {key: random_schema(random, depth - 1) for key in ("a", "b")}
        elif depth:
            schema[name] = random_schema(random, depth - 1)
    return schema


def random_sources() -> Iterator[tuple[Any, dict[str, Any], bool]]:
    for number in range(2500):
        random = Random(number)
        uris = random.sample(["urn:d", "urn:e", "http://x/", OWN, D2020, "c"], random.randrange(3))
        documents = {uri: random_schema(random, 3) for uri in uris}
        yield random_schema(random, 4), documents, random.random() < 0.3


def outcome(schema: Any, documents: dict[str, Any], asserts: bool) -> Artifact | RequestError:
    try:
        return compile_schema(source_of(schema, documents, assert_formats=asserts), LIMITS)
    except RequestError as error:
        return error


@pytest.mark.slow
def test_any_object_is_compiled_or_rejected() -> None:
    """Only the documented errors are raised, and both engines agree."""
    compiles = 0
    for schema, documents, asserts in random_sources():
        source = source_of(schema, documents, assert_formats=asserts)
        artifact = outcome(schema, documents, asserts)
        if isinstance(artifact, RequestError):
            continue
        compiles += 1
        compiled = CompiledSchema(source, artifact, LIMITS)
        for payload in PAYLOADS:
            try:
                verdict = evaluate(compiled, payload, EvaluationOptions())
            except RequestError:
                continue
            assert DISAGREEMENT not in {violation.code for violation in verdict.violations}, (
                schema,
                documents,
            )
            fault = next(compiled.complete.faults(json.loads(payload)), None)
            assert verdict.valid == (fault is None), (schema, documents, payload)

    assert compiles > 500


@pytest.mark.slow
def test_the_same_source_has_the_same_outcome() -> None:
    """Compilation gives the same code, or the same error with equal metadata."""
    for schema, documents, asserts in list(random_sources())[:400]:
        first, second = (outcome(schema, documents, asserts) for _ in range(2))
        assert first == second, (schema, documents)


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        pytest.param({"type": "string"}, Artifact("", "2020-12", None), id="the default dialect"),
        pytest.param(
            {"$schema": D07 + "#"}, Artifact("", "draft-07", None), id="a declared dialect"
        ),
        pytest.param({"$schema": OWN}, Artifact("", "draft-04", None), id="a custom dialect"),
        pytest.param(True, Artifact("", "2020-12", None), id="true"),
        pytest.param(
            {"contains": True, "unevaluatedItems": False},
            Artifact("", "2020-12", None, "unevaluatedItems beside contains"),
            id="a schema for the complete engine",
        ),
    ],
)
def test_digest_and_dialect_of_an_artifact(schema: Any, expected: Artifact) -> None:
    """An artifact has the digest of schema and documents, and its supported dialect."""
    own = Document(OWN, json.dumps({"$schema": D04}).encode())
    artifact = outcome(schema, {OWN: {"$schema": D04}}, asserts=False)

    assert isinstance(artifact, Artifact)
    assert replace(expected, digest=digest_of(schema, [own])) == replace(
        artifact, fast=None, memory=0
    )
    assert (artifact.fast is None) == bool(artifact.complete_only_reason)


@pytest.mark.parametrize(
    ("schema", "documents", "limits", "bound"),
    [
        pytest.param({"a": "b" * 100}, {}, Limits(schema_bytes=50), "schema_bytes", id="bytes"),
        pytest.param(
            {"not": {"not": {}}}, {}, Limits(schema_depth=2), "schema_depth", id="nesting"
        ),
        pytest.param({}, {"a": {}, "b": {}}, Limits(documents=1), "documents", id="documents"),
        pytest.param(
            {}, {"a": {}, "b": {}}, Limits(documents_bytes=3), "documents_bytes", id="their bytes"
        ),
        pytest.param({}, {"a": {"b": [[]]}}, Limits(schema_depth=2), "schema_depth", id="theirs"),
        pytest.param({"allOf": [{}, {}]}, {}, Limits(subschemas=2), "subschemas", id="subschemas"),
    ],
)
def test_exceeded_limits_are_errors(
    schema: Any, documents: dict[str, Any], limits: Limits, bound: str
) -> None:
    """The error names the limit."""
    with pytest.raises(RequestError) as excinfo:
        compile_schema(source_of(schema, documents), limits)

    assert (ErrorReason.LIMIT_EXCEEDED, bound) == (
        excinfo.value.reason,
        excinfo.value.metadata["bound"],
    )


def test_a_pattern_that_a_reference_makes_void_is_not_compiled() -> None:
    """Draft 7 ignores siblings of $ref; since 2019-09 they apply."""
    schema = {"$ref": "#/definitions/a", "pattern": "(?<=a)", "definitions": {"a": {}}}

    assert [True] == evaluate_all({"$schema": D07, **schema}, ["b"])
    with pytest.raises(RequestError):
        compile_value(schema)


def test_any_number_of_constants_is_compared_exactly() -> None:
    """Both engines agree for few and many numbers among other values."""
    payloads: list[Any] = [0, 1, 1.0, True, False, None, "1", 2**53, 2**53 + 1, 2.0**53, 0.5, -0.0]
    few_numbers: list[Any] = [1, 2**53 + 1, False]
    many_numbers = [*few_numbers, *range(10, 40), 0.5, 2**61 - 1, 0]

    assert [
        *(False, True, True, False, True, False, False, False, True, False, False, False)
    ] == evaluate_all({"enum": few_numbers}, payloads)
    assert [
        *(True, True, True, False, True, False, False, False, True, False, True, True)
    ] == evaluate_all({"enum": many_numbers}, payloads)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_colliding_numbers_cost_no_more_than_others() -> None:
    """Multiples of 2^61 - 1 have the hash 0, so the engines use no hash table for them."""
    # Looked up by that hash, the last of so many numbers would take longer than the test may.
    schema = {"items": {"enum": [(2**61 - 1) * number for number in range(1, 9000)]}}
    hits: list[Any] = [(2**61 - 1) * 8999] * 3_000_000
    misses: list[Any] = [*hits, 5]

    compiled = compile_value(schema)

    assert compiled.fast is not None
    assert compiled.fast.is_valid(hits, [STEPS])
    assert not compiled.fast.is_valid(misses, [STEPS])


def test_pointers_name_steps() -> None:
    """Steps are escaped as RFC 6901 requires."""
    assert "/a~1b/~0/0/" == as_pointer(("a/b", "~", 0, ""))
    assert "" == as_pointer(())
