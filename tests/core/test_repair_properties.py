"""Invariants of repairs, on random payloads and schemas."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest
from agreement.editions import EDITIONS, Edition
from agreement.engines import LIMITS
from agreement.mutations import mutated
from agreement.payloads import PayloadMaker
from agreement.schemas import generate_schema
from hypothesis import given, settings
from hypothesis import strategies as st
from sidecheck_server.core.compiler.compilation import CompiledSchema, compile_schema
from sidecheck_server.core.engines.complete import CompleteEngine
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.evaluate import EvaluationOptions, evaluate
from sidecheck_server.core.repair.coercion import coerce
from sidecheck_server.core.repair.repairs import apply_defaults
from sidecheck_server.core.repair.types import Coercion, Repairs
from sidecheck_server.core.repair.unknown_properties import (
    find_unknown_properties,
    strip_unknown_properties,
)
from sidecheck_server.core.schemas.walker import walk_schema
from sidecheck_server.core.types import Change, ChangeRule, as_pointer
from support.repairing import STOPPED, budget

RANDOM = settings(max_examples=60, derandomize=True, deadline=None, database=None)
SEEDS = st.integers(0, 2**32)
ALL_EDITIONS = pytest.mark.parametrize(
    "edition", EDITIONS, ids=[edition.name for edition in EDITIONS]
)
EMPTY = (None, "", "null")
NOT_CHANGED = ChangeRule.DEFAULT_SKIPPED


@dataclass(frozen=True)
class Case:
    """A random schema with payloads for it."""

    compiled: CompiledSchema
    payloads: list[Any]
    schema: Any

    @property
    def engine(self) -> CompleteEngine:
        """The complete engine of the schema."""
        return self.compiled.complete


def cases(edition: Edition, seed: int) -> Iterator[tuple[Case, Any]]:
    """Yield a random case of *edition* with each of its payloads, if the schema is admitted."""
    random = Random(seed)
    generated = generate_schema(random, edition)
    schema = with_defaults(random, generated.question.schema, generated.names)
    source = generated.question.source()
    try:
        compiled = CompiledSchema(source, compile_schema(source, LIMITS), LIMITS)
    except RequestError:
        return
    hides = edition.reference_hides_siblings
    maker = PayloadMaker(random, generated.follow, names=generated.names, hides_siblings=hides)
    for _ in range(3):
        valid_payload = maker.make(generated.question.schema)
        for payload in (
            valid_payload,
            mutated(random, valid_payload, generated.names),
            written(random, valid_payload),
            emptied(random, valid_payload),
        ):
            yield Case(compiled, [], schema), json.loads(json.dumps(payload))


def with_defaults(random: Random, schema: Any, names: tuple[str, ...]) -> Any:
    """Return *schema* after defaults were put beside some of its keywords."""
    maker = PayloadMaker(random, lambda _: True, names=names)
    for location in list(walk_schema(schema, [1 << 30])):
        properties = location.schema.get("properties")
        for subschema in properties.values() if isinstance(properties, dict) else ():
            is_plain = isinstance(subschema, dict) and "$ref" not in subschema
            if is_plain and random.random() < 0.5:
                subschema["default"] = maker.make(subschema)
    return schema


def written(random: Random, value: Any) -> Any:
    """Return *value* with some parts of it as JSON texts, as models write them."""
    if isinstance(value, dict):
        value = {name: written(random, item) for name, item in value.items()}
    elif isinstance(value, list):
        value = [written(random, item) for item in value]
    return json.dumps(value) if random.random() < 0.3 and value is not None else value


def emptied(random: Random, value: Any) -> Any:
    """Return *value* with some properties empty, as models write absent arguments."""
    if isinstance(value, dict):
        return {
            name: random.choice(EMPTY) if random.random() < 0.3 else emptied(random, item)
            for name, item in value.items()
        }
    return [emptied(random, item) for item in value] if isinstance(value, list) else value


def exists(pointer: str, value: Any) -> bool:
    """Return whether *pointer* leads to a part of *value*."""
    for raw in pointer.split("/")[1:]:
        step = raw.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        elif isinstance(value, dict) and step in value:
            value = value[step]
        else:
            return False
    return True


def check(before: Any, text: str, after: Any, changes: tuple[Change, ...]) -> None:
    """Check the invariants of every repair."""
    assert text == json.dumps(before)
    applied = [change for change in changes if change.rule is not NOT_CHANGED]
    assert (after is before) is (applied == [])
    assert len({change.pointer for change in changes}) == len(changes)
    assert all(change.message for change in changes)


@pytest.mark.slow
@ALL_EDITIONS
@RANDOM
@given(seed=SEEDS)
def test_coercion_of_anything(edition: Edition, seed: int) -> None:
    """Valid parts are unchanged, and coerced scalars are valid at their location."""
    for case, payload in cases(edition, seed):
        text = json.dumps(payload)
        for coercion in Coercion:
            try:
                result, changes = coerce(
                    case.engine, payload, coercion, budget(), hide_values=False
                )
                coerced_again = coerce(case.engine, result, coercion, budget(), hide_values=False)
                valid = case.engine.is_valid(payload)
                invalid_pointers = {
                    as_pointer(fault.absolute_path) for fault in case.engine.faults(result)
                }
            except STOPPED:
                continue
            check(payload, text, result, changes)
            assert changes == () or not valid
            assert (result, ()) == coerced_again
            removed = {c.pointer for c in changes if c.rule is ChangeRule.EMPTY_OPTIONAL_REMOVED}
            assert all(exists(c.pointer, result) is (c.pointer not in removed) for c in changes)
            scalars = {c.pointer for c in changes if c.rule is not ChangeRule.JSON_STRING_DECODED}
            assert not scalars & invalid_pointers
            assert not scalars or coercion is Coercion.SAFE_SCALARS


@pytest.mark.slow
@ALL_EDITIONS
@RANDOM
@given(seed=SEEDS)
def test_a_repair_has_the_verdict_on_its_payload(edition: Edition, seed: int) -> None:
    """A repaired payload is valid, or its verdict lists the remaining violations."""
    options = EvaluationOptions(repairs=Repairs(coercion=Coercion.SAFE_SCALARS))
    for case, payload in cases(edition, seed):
        try:
            verdict = evaluate(case.compiled, json.dumps(payload).encode(), options)
            repair = verdict.repair
            if repair is None:
                continue
            again = evaluate(case.compiled, repair.payload, options)
        except RequestError:
            continue
        assert not verdict.valid
        assert repair.verdict.valid is case.engine.is_valid(json.loads(repair.payload))
        assert repair.verdict.valid or repair.verdict.violations
        assert again.repair is None


@pytest.mark.slow
@ALL_EDITIONS
@RANDOM
@given(seed=SEEDS)
def test_no_unknown_property_remains_after_stripping(edition: Edition, seed: int) -> None:
    """Every removed property was in the payload."""
    for case, payload in cases(edition, seed):
        text = json.dumps(payload)
        try:
            pointers = {
                property_.pointer
                for property_ in find_unknown_properties(case.engine, payload, budget())
            }
            result, changes = strip_unknown_properties(case.engine, payload, budget())
            remaining = list(find_unknown_properties(case.engine, result, budget()))
            stripped_again = strip_unknown_properties(case.engine, result, budget())
        except STOPPED:
            continue
        check(payload, text, result, changes)
        assert [] == remaining
        assert (result, ()) == stripped_again
        assert all(exists(change.pointer, payload) for change in changes)
        assert not any(exists(change.pointer, result) for change in changes)
        assert all(exists(pointer, payload) for pointer in pointers)
        removed = tuple(f"{change.pointer}/" for change in changes)
        assert all(f"{pointer}/".startswith(removed) for pointer in pointers)


@pytest.mark.slow
@ALL_EDITIONS
@RANDOM
@given(seed=SEEDS)
def test_defaults_keep_a_valid_payload_valid(edition: Edition, seed: int) -> None:
    """Defaults fill only absent properties and change no others."""
    for case, payload in cases(edition, seed):
        text = json.dumps(payload)
        try:
            result, changes = apply_defaults(case.engine, payload, budget())
            filled_again, more_changes = apply_defaults(case.engine, result, budget())
            valid = case.engine.is_valid(payload)
            valid_after = case.engine.is_valid(result)
        except STOPPED:
            continue
        check(payload, text, result, changes)
        assert valid_after or not valid
        for change in changes:
            applied = change.rule is ChangeRule.DEFAULT_APPLIED
            assert (False, applied) == (
                exists(change.pointer, payload),
                exists(change.pointer, result),
            )
            assert exists(change.pointer.rpartition("/")[0], result)
        if not any("within itself" in change.message for change in changes):
            assert filled_again is result, (more_changes, changes)


@pytest.mark.slow
@ALL_EDITIONS
@RANDOM
@given(seed=SEEDS)
def test_repairs_can_be_composed(edition: Edition, seed: int) -> None:
    """The order is types, unknown arguments, defaults, with one budget."""
    for case, payload in cases(edition, seed):
        text = json.dumps(payload)
        steps = budget()
        try:
            value, _ = coerce(case.engine, payload, Coercion.SAFE_SCALARS, steps, hide_values=True)
            value, _ = strip_unknown_properties(case.engine, value, steps, hide_values=True)
            value, _ = apply_defaults(case.engine, value, steps)
        except STOPPED:
            continue
        assert json.loads(json.dumps(value)) == value
        assert text == json.dumps(payload)
