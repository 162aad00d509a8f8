"""Verdicts on the change of a schema: proved, or shown by a payload, or undecided.

A change is compatible if there is a proof that every payload that had to stay accepted
is, and breaking if evaluation confirms a payload that is not. Neither is ever a guess.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any

from sidecheck_server.core.compat.changes import (
    Direction,
    Level,
    Part,
    Reading,
    Relation,
    SchemaVerdict,
    Witness,
)
from sidecheck_server.core.compat.normal_form import (
    CannotCompareError,
    NormalForm,
    normalize_schema,
)
from sidecheck_server.core.compat.proof import Answer, Operand, prove_covers, subtract
from sidecheck_server.core.compat.samples import sample_payloads
from sidecheck_server.core.compat.walk import SchemaChange
from sidecheck_server.core.compiler.admission import AdmittedSchema
from sidecheck_server.core.compiler.compilation import Artifact, CompiledSchema
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.evaluate import EvaluationOptions, evaluate
from sidecheck_server.core.json_values import canonical_json
from sidecheck_server.core.limits import Budget, Limits
from sidecheck_server.core.payload import encode_json, read_json
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.types import Draft, JsonValue, Verdict, Violation, pointer_steps

__all__ = [
    "DISAGREEMENT",
    "Acceptance",
    "ReadingOutcome",
    "SchemaPair",
    "Version",
    "find_payloads",
    "may_break",
    "why_undecided",
]

_STEPS = 400_000
"""The most steps for one payload; those that are tried are small."""

_DECISION = EvaluationOptions(max_violations=1)
_REASONS = EvaluationOptions(max_violations=8)


class Acceptance:
    """Decides payloads by all of some schemas, such as both readings of one.

    No code is generated: that takes longer than to evaluate the few payloads that are tried.
    """

    def __init__(self, sources: tuple[SchemaSource, ...], limits: Limits) -> None:
        #: The steps that all evaluations took.
        self.steps = 0
        bounded = replace(limits, steps=min(limits.steps, _STEPS))
        self._schemas = tuple(_interpreted(source, bounded) for source in sources)

    @classmethod
    def of_forms(
        cls, source: SchemaSource, form: NormalForm | None, limits: Limits
    ) -> "Acceptance":
        """Return the acceptance by *source*, and by *form* too if there is one."""
        if form is None:
            return cls((source,), limits)
        text = encode_json(form.schema)
        return cls((source, SchemaSource(text, default_dialect=form.dialect_uri)), limits)

    def accepts(self, payload: bytes) -> bool | None:
        """Return whether all schemas accept *payload*; None if that takes too long."""
        verdicts = self._evaluate(payload, _DECISION)
        return None if verdicts is None else all(verdict.valid for verdict in verdicts)

    def violations(self, payload: bytes) -> tuple[Violation, ...]:
        """Return why *payload* is rejected; none if that takes too long."""
        verdicts = self._evaluate(payload, _REASONS) or ()
        return tuple(violation for verdict in verdicts for violation in verdict.violations)

    def _evaluate(self, payload: bytes, options: EvaluationOptions) -> list[Verdict] | None:
        verdicts: list[Verdict] = []
        for schema in self._schemas:
            try:
                verdict = evaluate(schema, payload, options)
            except RequestError:
                self.steps += _STEPS
                return None
            self.steps += verdict.steps
            verdicts.append(verdict)
            if options is _DECISION and not verdict.valid:
                break
        return verdicts


def _interpreted(source: SchemaSource, limits: Limits) -> CompiledSchema:
    artifact = Artifact(
        digest="", dialect="", fast=None, complete_only_reason="it serves few payloads"
    )
    return CompiledSchema(source, artifact, limits)


_TRIES = 400
"""The most payloads that are tried to find witnesses."""
_FROM_DIFFERENCE = 60
"""The most of them that are made from the difference of the schemas."""
_SAMPLE_STEPS = 2_000_000
"""The most steps to make payloads, in one reading."""
_EVALUATION_STEPS = 20_000_000
"""The most steps to evaluate them."""


@dataclass(frozen=True)
class Version:
    """One version of the schema in one reading."""

    form: NormalForm
    #: The form as written.
    written: NormalForm
    acceptance: Acceptance
    #: Whether it stands for readers, who accept properties that they do not know.
    is_reader: bool = False
    #: Whether its payloads are arguments of calls, which are objects.
    of_arguments: bool = False

    @cached_property
    def operand(self) -> Operand:
        """The operand of `form`."""
        return Operand.of(self.form)

    @cached_property
    def written_operand(self) -> Operand:
        """The operand of `written`."""
        return Operand.of(self.written)


def find_payloads(
    admitting: Version, rejecting: Version, *, count: int = _TRIES, proved: bool = False
) -> Iterator[bytes]:
    """Yield payloads that *admitting* accepts and *rejecting* may reject."""
    values = _values(admitting, rejecting, proved=proved)
    for value in islice(values, count):
        if admitting.acceptance.steps + rejecting.acceptance.steps > _EVALUATION_STEPS:
            return
        if admitting.of_arguments and not isinstance(value, dict):
            continue
        payload = encode_json(value)
        if admitting.acceptance.accepts(payload):
            yield payload


def _values(admitting: Version, rejecting: Version, *, proved: bool) -> Iterator[JsonValue]:
    budget = [_SAMPLE_STEPS]
    values = sample_payloads(admitting.form, rejecting.form, budget)
    if proved:
        # The difference takes longer to find than a payload mostly does.
        yield from islice(values, _FROM_DIFFERENCE)
        other = rejecting.written_operand if rejecting.is_reader else rejecting.operand
        lost = subtract(admitting.operand, other)
        if isinstance(lost, dict | bool):
            form = NormalForm(lost, admitting.form.draft)
            yield from islice(sample_payloads(form, rejecting.form, budget), _FROM_DIFFERENCE)
    yield from values


_HARD = (
    *("unevaluatedProperties", "unevaluatedItems", "pattern", "patternProperties", "not", "if"),
    *("oneOf", "contains", "multipleOf", "uniqueItems", "$ref", "allOf", "anyOf"),
)
"""Keywords that proofs fail with, the hardest first."""


def why_undecided(admitting: Version, rejecting: Version, answer: Answer) -> str:
    """Return why neither a proof nor a payload decides; *answer* is that of the proof."""
    if answer is Answer.NO:
        return "it seems to break callers, but no payload that shows it was found"
    used = _keywords(admitting.form) | _keywords(rejecting.form)
    named = [keyword for keyword in _HARD if keyword in used][:3]
    uses = f"; the schema uses {', '.join(named)}" if named else ""
    return f"neither a proof nor a payload that shows the contrary was found{uses}"


def _keywords(form: NormalForm) -> set[str]:
    names: set[str] = set()
    pending: list[Any] = [form.schema]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            names |= value.keys()
            pending += value.values()
        elif isinstance(value, list):
            pending += value
    return names


DISAGREEMENT = "the proof says that it is compatible, and a payload says the contrary"
"""Reason of a verdict that proof and evaluation contradict each other in: a defect."""

_SAMPLES = 12
"""Payloads that a proof is held against."""


@dataclass(slots=True)
class ReadingOutcome:
    """The verdict in one reading, and the payloads that single changes make invalid."""

    verdict: SchemaVerdict
    #: By the index of the change.
    witnesses: dict[int, Witness] = field(default_factory=dict)


_ADMITTING, _REJECTING = 0, 1


class SchemaPair:
    """Two versions of a schema.

    The payloads that the admitting version accepts must be accepted by the other one: of an
    input schema the old version admits, of an output schema the new one.
    """

    def __init__(
        self,
        part: Part,
        sources: tuple[SchemaSource, SchemaSource],
        admitted: tuple[AdmittedSchema, AdmittedSchema],
        changes: Sequence[SchemaChange],
        limits: Limits,
        *,
        of_arguments: bool = False,
    ) -> None:
        self._part = part
        self._of_arguments = of_arguments
        self._reversed = part is Part.OUTPUT
        self._sources = sources[::-1] if self._reversed else sources
        self._admitted = admitted[::-1] if self._reversed else admitted
        self._changes = changes
        self._as_written: ReadingOutcome | None = None
        #: Answers by the identities of operands, which are alive for one decision.
        self._proved: dict[tuple[int, int], Answer] = {}
        self._limits = limits
        drafts = {each.context.dialect.draft for each in admitted}
        self._draft = Draft.DRAFT_04 if drafts == {Draft.DRAFT_04} else Draft.DRAFT_2020_12

    def decide(self, reading: Reading, budget: Budget) -> ReadingOutcome:
        """Return the outcome in *reading*.

        Raises:
            Exhausted: *budget* is spent.
        """
        try:
            sides = [self._side(index, reading, budget) for index in (_ADMITTING, _REJECTING)]
        except CannotCompareError as error:
            return ReadingOutcome(_undecided(error.reason))
        admitting, rejecting = sides
        if self._as_written is not None and not any(side.form.closes for side in sides):
            return self._as_written  # Both readings are the same.
        outcome = self._decide(admitting, rejecting, reading)
        if reading is Reading.AS_WRITTEN:
            self._as_written = outcome
        return outcome

    def _decide(self, admitting: Version, rejecting: Version, reading: Reading) -> ReadingOutcome:
        if _are_equal(admitting, rejecting):
            return ReadingOutcome(SchemaVerdict(Relation.EQUAL, Level.COSMETIC))
        self._proved.clear()
        relation = self._relation(admitting, rejecting)
        answer = self._prove(admitting, rejecting)
        if answer is Answer.YES:
            return self._check(admitting, rejecting, relation)
        return self._search(admitting, rejecting, answer, relation, reading)

    def _side(self, index: int, reading: Reading, budget: Budget) -> Version:
        admitted, source = self._admitted[index], self._sources[index]
        form = self._form(admitted, reading, budget)
        if reading is Reading.AS_WRITTEN:
            return Version(
                form,
                form,
                Acceptance((source,), self._limits),
                of_arguments=self._of_arguments,
            )
        written = self._form(admitted, Reading.AS_WRITTEN, budget)
        # Readers of results ignore what they do not know; receivers of arguments do not.
        is_reader = index == _REJECTING and self._part is Part.OUTPUT
        acceptance = (
            Acceptance((source,), self._limits)
            if is_reader
            else Acceptance.of_forms(source, form, self._limits)
        )
        return Version(
            form,
            written,
            acceptance,
            is_reader=is_reader,
            of_arguments=self._of_arguments,
        )

    def _form(self, admitted: AdmittedSchema, reading: Reading, budget: Budget) -> NormalForm:
        form = normalize_schema(admitted, self._draft, reading, budget)
        return _restrict_to_arguments(form, reading) if self._of_arguments else form

    def _prove(self, admitting: Version, rejecting: Version) -> Answer:
        """Return whether *rejecting* accepts all payloads of *admitting*."""
        if rejecting.is_reader:
            return self._covers(rejecting.written_operand, admitting.operand)
        answer = self._covers(rejecting.operand, admitting.operand)
        if answer is Answer.YES and not rejecting.form.only_narrows:
            # What is closed below oneOf may admit more than what is written.
            written = self._covers(rejecting.written_operand, admitting.operand)
            return Answer.YES if written is Answer.YES else Answer.UNKNOWN
        return answer

    def _covers(self, wider: Operand, narrower: Operand) -> Answer:
        key = id(wider), id(narrower)
        if key not in self._proved:
            self._proved[key] = prove_covers(wider, narrower)
        return self._proved[key]

    def _relation(self, admitting: Version, rejecting: Version) -> Relation:
        """Return the relation of the new form to the old one, as far as it is proved."""
        sides = (rejecting, admitting) if self._reversed else (admitting, rejecting)
        old, new = (side.operand for side in sides)
        widened, narrowed = (self._covers(*pair) is Answer.YES for pair in ((new, old), (old, new)))
        if widened and narrowed:
            return Relation.EQUAL
        if widened or narrowed:
            return Relation.WIDENED if widened else Relation.NARROWED
        return Relation.INCOMPARABLE

    def _check(self, admitting: Version, rejecting: Version, relation: Relation) -> ReadingOutcome:
        """Hold a proof against payloads."""
        for payload in find_payloads(admitting, rejecting, count=_SAMPLES):
            if rejecting.acceptance.accepts(payload) is False:
                return ReadingOutcome(_undecided(DISAGREEMENT))
        return ReadingOutcome(SchemaVerdict(relation, Level.COMPATIBLE))

    def _search(
        self,
        admitting: Version,
        rejecting: Version,
        answer: Answer,
        relation: Relation,
        reading: Reading,
    ) -> ReadingOutcome:
        """Search payloads that show that callers break."""
        suspects = {
            index
            for index, change in enumerate(self._changes)
            if may_break(change, self._part, reading)
        }
        outcome = ReadingOutcome(_undecided(why_undecided(admitting, rejecting, answer)))
        first: Witness | None = None
        for payload in find_payloads(admitting, rejecting, proved=answer is Answer.NO):
            if rejecting.acceptance.accepts(payload) is not False:
                continue
            violations = rejecting.acceptance.violations(payload)
            if not violations:
                continue
            witness = Witness(
                payload,
                violations[0].message,
                violations[0].instance_location,
                violations[0].keyword_location,
            )
            first = first or witness
            self._attribute(witness, violations, suspects, outcome)
            if outcome.witnesses.keys() >= suspects:
                break
        if first is not None:
            outcome.verdict = SchemaVerdict(relation, Level.BREAKING, witness=first)
            if not outcome.witnesses:
                # A change may do more than it tells alone: declaring a first property closes.
                violations = rejecting.acceptance.violations(first.payload)
                self._attribute(first, violations, range(len(self._changes)), outcome)
        return outcome

    def _attribute(
        self,
        witness: Witness,
        violations: Sequence[Violation],
        suspects: Collection[int],
        outcome: ReadingOutcome,
    ) -> None:
        """Add *witness* to the changes out of *suspects* that cause *violations*."""
        for violation in violations:
            cause = _find_cause(
                violation, self._changes, suspects, witness.payload, new=not self._reversed
            )
            if cause is not None:
                outcome.witnesses.setdefault(cause, witness)


def may_break(change: SchemaChange, part: Part, reading: Reading) -> bool:
    """Return whether *change* alone may break callers, as far as it tells."""
    if part is Part.INPUT:
        return change.direction.of(reading) not in (Direction.WIDER, Direction.NONE)
    # A reader ignores a property that is new to it, so it is no matter of being closed.
    is_new = change.code in ("PROPERTY_ADDED", "REQUIRED_PROPERTY_ADDED")
    direction = change.direction.as_written if is_new else change.direction.of(reading)
    return direction not in (Direction.NARROWER, Direction.NONE)


def _are_equal(admitting: Version, rejecting: Version) -> bool:
    """Return whether the schemas assert the same, so that no proof is needed."""
    pairs = [(admitting.form, rejecting.form)]
    if not rejecting.form.only_narrows:
        pairs.append((admitting.written, rejecting.written))
    return all(canonical_json(one.schema) == canonical_json(other.schema) for one, other in pairs)


def _undecided(reason: str) -> SchemaVerdict:
    return SchemaVerdict(Relation.UNDECIDED, Level.UNDECIDED, reason)


_OBJECT = {"type": "object"}


def _restrict_to_arguments(form: NormalForm, reading: Reading) -> NormalForm:
    """Return *form* without the values that are no objects, which no call can have.

    A schema that says no more than that declares no arguments: with objects assumed
    closed, a tool that has it takes none.
    """
    schema = _of_objects(form.schema)
    if schema == _OBJECT and reading is Reading.ASSUME_CLOSED:
        return replace(form, schema={**_OBJECT, "additionalProperties": False}, closes=True)
    return replace(form, schema=schema)


def _of_objects(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return _OBJECT if schema else schema
    if "$ref" in schema:
        # Keywords beside a reference have no effect in draft 4.
        schema = {**schema, "allOf": [{"$ref": schema["$ref"]}, *schema.get("allOf", ())]}
        del schema["$ref"]
    if "object" in schema.get("type", "object"):  # One name, or several.
        return {**schema, **_OBJECT}
    return {**schema, "allOf": [_OBJECT, *schema.get("allOf", ())]}


_NO_MATCH, _BELOW = -2, -1
_OF_UNDECLARED = frozenset({"additionalProperties", "unevaluatedProperties"})


def _find_cause(
    violation: Violation,
    changes: Sequence[SchemaChange],
    suspects: Collection[int],
    payload: bytes,
    *,
    new: bool,
) -> int | None:
    """Return the index of the change that *violation* is of, or None if none is known.

    *suspects* are the indexes of those that may be; *new* says whether the new version
    rejects *payload*.
    """
    location = violation.keyword_location
    best, best_length = None, _NO_MATCH
    for index in suspects:
        change = changes[index]
        for old_path, new_path in change.paths:
            path = new_path if new else old_path
            if not _begins(location, path):
                if _begins(path, location) and best_length == _NO_MATCH:
                    # A choice is reported as a whole, for what changed in its branches.
                    best, best_length = index, _BELOW
                continue
            below = location[len(path) :]
            if change.property and not _is_about(change, violation, below, payload):
                continue
            # A change of the very entry or keyword comes before one of the subschema around it.
            own = f"/{change.keyword}"
            exact = _begins(below, own) + _begins(below, own + change.entry) + bool(change.property)
            length = 4 * len(path) + exact
            if length > best_length:
                best, best_length = index, length
    return best


def _begins(path: str, start: str) -> bool:
    return path == start or path.startswith(f"{start}/")


def _is_about(change: SchemaChange, violation: Violation, below: str, payload: bytes) -> bool:
    """Return whether *violation* is of the property that *change* names."""
    steps = pointer_steps(violation.instance_location)
    keyword = pointer_steps(below)[0] if below else ""
    if keyword == "required":
        return change.property not in _keys(payload, steps)
    if keyword in _OF_UNDECLARED:
        return bool(steps) and steps[-1] == change.property
    return keyword == change.keyword and change.property in steps


def _keys(payload: bytes, steps: Sequence[str]) -> Collection[str]:
    value = read_json(payload)
    for step in steps:
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value if isinstance(value, dict) else ()
