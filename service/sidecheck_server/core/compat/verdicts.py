"""Verdicts on the change of a schema: by a proof, by a payload, or undecided.

A change is compatible if a proof shows that every payload that must stay accepted is
accepted. It is breaking if evaluation rejects such a payload. Otherwise it is undecided.
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
    "explain_undecided",
    "find_payloads",
    "may_break",
]

_MAX_STEPS = 400_000
"""Maximum steps for one payload; sample payloads are small."""

_DECISION = EvaluationOptions(max_violations=1)
_REASONS = EvaluationOptions(max_violations=8)


class Acceptance:
    """Validator of payloads against several schemas, such as both readings of one.

    It generates no code, which would take longer than the evaluation of a few payloads.
    """

    def __init__(self, sources: tuple[SchemaSource, ...], limits: Limits) -> None:
        #: Steps of all evaluations so far.
        self.steps = 0
        bounded = replace(limits, steps=min(limits.steps, _MAX_STEPS))
        self._schemas = tuple(_compile_interpreted(source, bounded) for source in sources)

    @classmethod
    def of_forms(
        cls, source: SchemaSource, form: NormalForm | None, limits: Limits
    ) -> "Acceptance":
        """Return the acceptance by *source*, and by *form* if there is one."""
        if form is None:
            return cls((source,), limits)
        text = encode_json(form.schema)
        return cls((source, SchemaSource(text, default_dialect=form.dialect_uri)), limits)

    def accepts(self, payload: bytes) -> bool | None:
        """Return whether all schemas accept *payload*; None if the steps are spent."""
        verdicts = self._evaluate(payload, _DECISION)
        return None if verdicts is None else all(verdict.valid for verdict in verdicts)

    def violations(self, payload: bytes) -> tuple[Violation, ...]:
        """Return the violations of *payload*; none if the steps are spent."""
        verdicts = self._evaluate(payload, _REASONS) or ()
        return tuple(violation for verdict in verdicts for violation in verdict.violations)

    def _evaluate(self, payload: bytes, options: EvaluationOptions) -> list[Verdict] | None:
        verdicts: list[Verdict] = []
        for schema in self._schemas:
            try:
                verdict = evaluate(schema, payload, options)
            except RequestError:
                self.steps += _MAX_STEPS
                return None
            self.steps += verdict.steps
            verdicts.append(verdict)
            if options is _DECISION and not verdict.valid:
                break
        return verdicts


def _compile_interpreted(source: SchemaSource, limits: Limits) -> CompiledSchema:
    artifact = Artifact(
        digest="", dialect="", fast=None, complete_only_reason="it serves few payloads"
    )
    return CompiledSchema(source, artifact, limits)


_MAX_PAYLOADS = 400
"""Maximum number of payloads in a search for witnesses."""
_MAX_FROM_DIFFERENCE = 60
"""Maximum number of payloads from the difference of the schemas."""
_MAX_SAMPLE_STEPS = 2_000_000
"""Maximum steps to generate payloads, in one reading."""
_MAX_EVALUATION_STEPS = 20_000_000
"""Maximum steps to evaluate payloads, in one reading."""


@dataclass(frozen=True)
class Version:
    """Version of a schema in one reading."""

    form: NormalForm
    #: The form as written.
    written: NormalForm
    acceptance: Acceptance
    #: Whether it models readers of results, which accept unknown properties.
    is_reader: bool = False
    #: Whether payloads are arguments of calls, which are objects.
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
    admitting: Version,
    rejecting: Version,
    *,
    count: int = _MAX_PAYLOADS,
    has_difference: bool = False,
) -> Iterator[bytes]:
    """Yield payloads that *admitting* accepts and *rejecting* may reject.

    With *has_difference*, some payloads come from the computed difference of the forms.
    """
    values = _values(admitting, rejecting, has_difference=has_difference)
    for value in islice(values, count):
        if admitting.acceptance.steps + rejecting.acceptance.steps > _MAX_EVALUATION_STEPS:
            return
        if admitting.of_arguments and not isinstance(value, dict):
            continue
        payload = encode_json(value)
        if admitting.acceptance.accepts(payload):
            yield payload


def _values(admitting: Version, rejecting: Version, *, has_difference: bool) -> Iterator[JsonValue]:
    budget = [_MAX_SAMPLE_STEPS]
    values = sample_payloads(admitting.form, rejecting.form, budget)
    if has_difference:
        # Computing the difference usually takes longer than finding a payload.
        yield from islice(values, _MAX_FROM_DIFFERENCE)
        other = rejecting.written_operand if rejecting.is_reader else rejecting.operand
        difference = subtract(admitting.operand, other)
        if isinstance(difference, dict | bool):
            form = NormalForm(difference, admitting.form.draft)
            yield from islice(sample_payloads(form, rejecting.form, budget), _MAX_FROM_DIFFERENCE)
    yield from values


_HARD_KEYWORDS = (
    *("unevaluatedProperties", "unevaluatedItems", "pattern", "patternProperties", "not", "if"),
    *("oneOf", "contains", "multipleOf", "uniqueItems", "$ref", "allOf", "anyOf"),
)
"""Keywords with which proofs fail, the hardest first."""


def explain_undecided(admitting: Version, rejecting: Version, answer: Answer) -> str:
    """Return why neither a proof nor a payload decides; *answer* is the proof's."""
    if answer is Answer.NO:
        return "it seems to break callers, but no payload that shows it was found"
    keywords = _keywords(admitting.form) | _keywords(rejecting.form)
    hard_keywords = [keyword for keyword in _HARD_KEYWORDS if keyword in keywords][:3]
    uses = f"; the schema uses {', '.join(hard_keywords)}" if hard_keywords else ""
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
"""Reason of a verdict if proof and evaluation contradict each other: a defect."""

_SAMPLES = 12
"""Number of payloads that are evaluated to confirm a proof."""


@dataclass(slots=True)
class ReadingOutcome:
    """The verdict in one reading, and the payloads that single changes make invalid."""

    verdict: SchemaVerdict
    #: Witnesses by the index of the change.
    witnesses: dict[int, Witness] = field(default_factory=dict)


_ADMITTING, _REJECTING = 0, 1


class SchemaPair:
    """Two versions of a schema: the admitting one and the rejecting one.

    The change is compatible if the rejecting version accepts all payloads that the admitting
    version accepts. The admitting version is the old one of an input schema, and the new one
    of an output schema.
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
        #: Answers by the identities of operands, valid during one decision.
        self._proved: dict[tuple[int, int], Answer] = {}
        self._limits = limits
        drafts = {schema.context.dialect.draft for schema in admitted}
        self._draft = Draft.DRAFT_04 if drafts == {Draft.DRAFT_04} else Draft.DRAFT_2020_12

    def decide(self, reading: Reading, budget: Budget) -> ReadingOutcome:
        """Return the outcome in *reading*.

        Raises:
            Exhausted: *budget* is spent.
        """
        try:
            versions = [
                self._build_version(index, reading, budget) for index in (_ADMITTING, _REJECTING)
            ]
        except CannotCompareError as error:
            return ReadingOutcome(_undecided(error.reason))
        admitting, rejecting = versions
        if self._as_written is not None and not any(version.form.closes for version in versions):
            return self._as_written  # Both readings are the same.
        outcome = self._decide(admitting, rejecting, reading)
        if reading is Reading.AS_WRITTEN:
            self._as_written = outcome
        return outcome

    def _decide(self, admitting: Version, rejecting: Version, reading: Reading) -> ReadingOutcome:
        if _are_equal(admitting, rejecting):
            return ReadingOutcome(SchemaVerdict(Relation.EQUAL, Level.COSMETIC))
        self._proved.clear()
        # Decision 0068: a proof shows compatibility, and only a payload shows a break.
        relation = self._find_relation(admitting, rejecting)
        answer = self._prove(admitting, rejecting)
        if answer is Answer.YES:
            return self._confirm_proof(admitting, rejecting, relation)
        return self._search_witnesses(admitting, rejecting, answer, relation, reading)

    def _build_version(self, index: int, reading: Reading, budget: Budget) -> Version:
        admitted, source = self._admitted[index], self._sources[index]
        form = self._normalize(admitted, reading, budget)
        if reading is Reading.AS_WRITTEN:
            return Version(
                form,
                form,
                Acceptance((source,), self._limits),
                of_arguments=self._of_arguments,
            )
        written = self._normalize(admitted, Reading.AS_WRITTEN, budget)
        # Readers of results ignore unknown properties; receivers of arguments reject them.
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

    def _normalize(self, admitted: AdmittedSchema, reading: Reading, budget: Budget) -> NormalForm:
        form = normalize_schema(admitted, self._draft, reading, budget)
        return _restrict_to_arguments(form, reading) if self._of_arguments else form

    def _prove(self, admitting: Version, rejecting: Version) -> Answer:
        """Return whether *rejecting* accepts all payloads of *admitting*."""
        if rejecting.is_reader:
            return self._covers(rejecting.written_operand, admitting.operand)
        answer = self._covers(rejecting.operand, admitting.operand)
        if answer is Answer.YES and not rejecting.form.only_narrows:
            # Below oneOf, the closed form may admit more than the form as written.
            written = self._covers(rejecting.written_operand, admitting.operand)
            return Answer.YES if written is Answer.YES else Answer.UNKNOWN
        return answer

    def _covers(self, wider: Operand, narrower: Operand) -> Answer:
        key = id(wider), id(narrower)
        if key not in self._proved:
            self._proved[key] = prove_covers(wider, narrower)
        return self._proved[key]

    def _find_relation(self, admitting: Version, rejecting: Version) -> Relation:
        """Return the proved relation of the new form to the old one."""
        versions = (rejecting, admitting) if self._reversed else (admitting, rejecting)
        old, new = (version.operand for version in versions)
        widened, narrowed = (self._covers(*pair) is Answer.YES for pair in ((new, old), (old, new)))
        if widened and narrowed:
            return Relation.EQUAL
        if widened or narrowed:
            return Relation.WIDENED if widened else Relation.NARROWED
        return Relation.INCOMPARABLE

    def _confirm_proof(
        self, admitting: Version, rejecting: Version, relation: Relation
    ) -> ReadingOutcome:
        """Confirm a proof by sample payloads."""
        for payload in find_payloads(admitting, rejecting, count=_SAMPLES):
            if rejecting.acceptance.accepts(payload) is False:
                return ReadingOutcome(_undecided(DISAGREEMENT))
        return ReadingOutcome(SchemaVerdict(relation, Level.COMPATIBLE))

    def _search_witnesses(
        self,
        admitting: Version,
        rejecting: Version,
        answer: Answer,
        relation: Relation,
        reading: Reading,
    ) -> ReadingOutcome:
        """Search for payloads that show that callers break."""
        suspects = {
            index
            for index, change in enumerate(self._changes)
            if may_break(change, self._part, reading)
        }
        outcome = ReadingOutcome(_undecided(explain_undecided(admitting, rejecting, answer)))
        first: Witness | None = None
        for payload in find_payloads(admitting, rejecting, has_difference=answer is Answer.NO):
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
                # A change may do more than its direction states: a first property closes an object.
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
        """Add *witness* to those changes among *suspects* that cause *violations*."""
        for violation in violations:
            cause = _find_cause(
                violation, self._changes, suspects, witness.payload, new=not self._reversed
            )
            if cause is not None:
                outcome.witnesses.setdefault(cause, witness)


def may_break(change: SchemaChange, part: Part, reading: Reading) -> bool:
    """Return whether *change* alone may break callers, by its direction."""
    if part is Part.INPUT:
        return change.direction.of(reading) not in (Direction.WIDER, Direction.NONE)
    # Readers ignore unknown properties, so closing does not matter for a new property.
    is_new = change.code in ("PROPERTY_ADDED", "REQUIRED_PROPERTY_ADDED")
    direction = change.direction.as_written if is_new else change.direction.of(reading)
    return direction not in (Direction.NARROWER, Direction.NONE)


def _are_equal(admitting: Version, rejecting: Version) -> bool:
    """Return whether the forms are equal, so that no proof is needed."""
    pairs = [(admitting.form, rejecting.form)]
    if not rejecting.form.only_narrows:
        pairs.append((admitting.written, rejecting.written))
    return all(canonical_json(left.schema) == canonical_json(right.schema) for left, right in pairs)


def _undecided(reason: str) -> SchemaVerdict:
    return SchemaVerdict(Relation.UNDECIDED, Level.UNDECIDED, reason)


_OBJECT = {"type": "object"}


def _restrict_to_arguments(form: NormalForm, reading: Reading) -> NormalForm:
    """Return *form* restricted to objects, since arguments are always an object.

    A schema that asserts nothing else declares no arguments: if objects are assumed closed,
    its tool takes none.
    """
    schema = _restrict_to_objects(form.schema)
    if schema == _OBJECT and reading is Reading.ASSUME_CLOSED:
        return replace(form, schema={**_OBJECT, "additionalProperties": False}, closes=True)
    return replace(form, schema=schema)


def _restrict_to_objects(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return _OBJECT if schema else schema
    if "$ref" in schema:
        # In draft 4, siblings of a reference have no effect.
        schema = {**schema, "allOf": [{"$ref": schema["$ref"]}, *schema.get("allOf", ())]}
        del schema["$ref"]
    if "object" in schema.get("type", "object"):  # A name, or a list of names.
        return {**schema, **_OBJECT}
    return {**schema, "allOf": [_OBJECT, *schema.get("allOf", ())]}


_NO_MATCH, _BELOW = -2, -1
_UNDECLARED_KEYWORDS = frozenset({"additionalProperties", "unevaluatedProperties"})


def _find_cause(
    violation: Violation,
    changes: Sequence[SchemaChange],
    suspects: Collection[int],
    payload: bytes,
    *,
    new: bool,
) -> int | None:
    """Return the index of the change that causes *violation*, or None if unknown.

    *suspects* are the indexes of possible causes. *new* states whether the new version rejects
    *payload*.
    """
    location = violation.keyword_location
    best, best_length = None, _NO_MATCH
    for index in suspects:
        change = changes[index]
        for old_path, new_path in change.paths:
            path = new_path if new else old_path
            if not _starts_with(location, path):
                if _starts_with(path, location) and best_length == _NO_MATCH:
                    # A violation may be about a whole union, although a branch changed.
                    best, best_length = index, _BELOW
                continue
            below = location[len(path) :]
            if change.property and not _is_about(change, violation, below, payload):
                continue
            # A change of the entry or keyword itself precedes one of the subschema around it.
            keyword_path = f"/{change.keyword}"
            exact = (
                _starts_with(below, keyword_path)
                + _starts_with(below, keyword_path + change.entry)
                + bool(change.property)
            )
            length = 4 * len(path) + exact
            if length > best_length:
                best, best_length = index, length
    return best


def _starts_with(path: str, start: str) -> bool:
    return path == start or path.startswith(f"{start}/")


def _is_about(change: SchemaChange, violation: Violation, below: str, payload: bytes) -> bool:
    """Return whether *violation* is about the property of *change*."""
    steps = pointer_steps(violation.instance_location)
    keyword = pointer_steps(below)[0] if below else ""
    if keyword == "required":
        return change.property not in _keys_at(payload, steps)
    if keyword in _UNDECLARED_KEYWORDS:
        return bool(steps) and steps[-1] == change.property
    return keyword == change.keyword and change.property in steps


def _keys_at(payload: bytes, steps: Sequence[str]) -> Collection[str]:
    value = read_json(payload)
    for step in steps:
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value if isinstance(value, dict) else ()
