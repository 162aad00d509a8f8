"""Decoding of a model's arguments to arguments of the original schema.

A value without the form that the decoder expects stays unchanged; validation reports it. If
several branches of a union match a value, there are several interpretations, and validation
selects one.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeAlias, Union

from sidecheck_server.core.convert.argument_decoder import ArgumentDecoder
from sidecheck_server.core.convert.branch_tests import BranchMatcher
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.explain.values import count_noun
from sidecheck_server.core.limits import Budget, Exhausted, Limits, spend
from sidecheck_server.core.payload import MalformedError, decode, decoding_steps
from sidecheck_server.core.types import Change, ChangeRule, JsonValue, as_pointer

__all__ = ["MAX_INTERPRETATIONS", "Interpretation", "combine_choices", "decode_arguments"]

# Decision 0034: validation against the original schema selects among the interpretations.
MAX_INTERPRETATIONS = 16
"""Maximum number of interpretations of one value."""

_MAX_ATTEMPTS = 4 * MAX_INTERPRETATIONS
"""Maximum number of sequences of choices; several may have the same result."""

_PAYLOAD_DEPTH = Limits().payload_depth

# Steps per value that has a decoder, per decoder of a value, per change, per segment of a
# pointer, and per decoded text; and the characters of a pointer that one step writes.
_VALUE = 60
_DECODER = 20
_CHANGE = 100
_STEP = 4
_TEXT = 250
_CHARACTERS = 2

#: Path of a value: the path of its container, and its key or index; None for the root.
_Path: TypeAlias = Union[tuple["_Path", str | int], None]


@dataclass(frozen=True, slots=True)
class Interpretation:
    """Decoded arguments, for one choice among the branches of unions."""

    #: The arguments; unchanged values are shared with the arguments of the model.
    value: JsonValue
    #: Changes except renaming; pointers are locations in the arguments of the model.
    changes: tuple[Change, ...]
    #: Indexes of the chosen branches, in the order of decoding.
    choices: tuple[int, ...] = ()
    #: Start and end in `choices` of the choices within each argument, by its original name.
    spans: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def choices_within(self, name: str) -> tuple[int, ...]:
        """Return the choices within the argument *name*."""
        start, end = self.spans[name]
        return self.choices[start:end]


def combine_choices(
    base: Interpretation, replacements: Mapping[str, Interpretation]
) -> tuple[int, ...] | None:
    """Return the choices of *base*, and within some arguments those of *replacements*.

    *replacements* are interpretations of the same arguments, by the original name of an
    argument. Returns None if the choices for the arguments as a whole differ.
    """
    spans = base.spans
    before = min((start for start, _end in spans.values()), default=0)
    combined = list(base.choices[:before])
    if any(
        other.spans.keys() != spans.keys() or other.choices[:before] != base.choices[:before]
        for other in replacements.values()
    ):
        return None
    for name in spans:
        combined += replacements.get(name, base).choices_within(name)
    return tuple(combined)


def decode_arguments(
    arguments: JsonValue,
    decoder: ArgumentDecoder | None,
    budget: Budget,
    *,
    max_depth: int = _PAYLOAD_DEPTH,
    choices: tuple[int, ...] | None = None,
) -> Iterator[Interpretation]:
    """Yield the 1 to 16 interpretations of *arguments* by *decoder*.

    With *choices*, yield only the interpretation with these.

    They are computed lazily. In the first, every union uses the first branch that matches, in
    the second the second, and so on; then one union uses another branch than the first, then
    two do. *max_depth* bounds the depth of the result, including decoded JSON texts.

    Raises:
        Exhausted: *budget* has too few steps.
    """
    if decoder is None:
        yield Interpretation(arguments, ())
        return
    matcher = BranchMatcher(budget)
    seen: set[tuple[object, ...]] = set()
    sequences = (
        islice(_enumerate_choices(MAX_INTERPRETATIONS), _MAX_ATTEMPTS)
        if choices is None
        else iter((_Choices(choices),))
    )
    for sequence in sequences:
        decoding = _Decoding(decoder, sequence, matcher, budget, max_depth)
        try:
            value = decoding.decode(arguments, [decoder], None, 0)
        except RecursionError:
            raise Exhausted from None
        if decoding.history not in seen:
            seen.add(decoding.history)
            yield Interpretation(value, tuple(decoding.changes), sequence.sequence, decoding.spans)
        if len(seen) == MAX_INTERPRETATIONS:
            return


class _Choices:
    """Sequence of choices: a prefix, then a default for all further choices."""

    def __init__(self, prefix: tuple[int, ...] = (), default: int = 0) -> None:
        self._prefix = prefix
        self._default = default
        self._sequence: list[int] = []
        #: Number of options at each choice.
        self.options: list[int] = []

    @property
    def sequence(self) -> tuple[int, ...]:
        """The choices so far, in order."""
        return tuple(self._sequence)

    @property
    def count(self) -> int:
        """Number of choices so far."""
        return len(self._sequence)

    def choose(self, options: int) -> int:
        """Return the index of one of *options*, which is their number."""
        count = self.count
        preferred = self._prefix[count] if count < len(self._prefix) else self._default
        choice = min(preferred, options - 1)
        self._sequence.append(choice)
        self.options.append(options)
        return choice


def _enumerate_choices(max_uniform: int) -> Iterator[_Choices]:
    """Yield sequences of choices, possibly with repetitions.

    The caller decodes with a sequence before it requests the next one, since decoding records
    the number of options of each choice.

    First all choices are the first option, then the second, and so on, *max_uniform* times at
    most; then one choice differs from the first option, then two do, and so on.
    """
    first = _Choices()
    yield first
    for default in range(1, min(max(first.options, default=1), max_uniform)):
        yield _Choices(default=default)
    pending = deque([(first, 0)])
    while pending:
        base, start = pending.popleft()
        # A different choice may lead to other unions, so later choices use the default.
        for index in range(start, len(base.options)):
            for option in range(1, base.options[index]):
                choices = _Choices((*base.sequence[:index], option))
                yield choices
                pending.append((choices, index + 1))


class _Decoding:
    """Computation of one interpretation."""

    def __init__(
        self,
        decoder: ArgumentDecoder,
        choices: _Choices,
        matcher: BranchMatcher,
        budget: Budget,
        max_depth: int,
    ) -> None:
        self._defs = decoder.get("defs", {})
        self._choices = choices
        self._matcher = matcher
        self._budget = budget
        self._max_depth = max_depth
        self.changes: list[Change] = []
        #: As in `Interpretation`.
        self.spans: dict[str, tuple[int, int]] = {}
        #: Renamed properties: the identity of the object, the name, the original name.
        self._renamed: list[tuple[int, str, str]] = []

    @property
    def history(self) -> tuple[object, ...]:
        """Changes and renamed properties; equal histories have equal results."""
        return (*self.changes, *self._renamed)

    def decode(
        self, value: JsonValue, decoders: list[ArgumentDecoder], path: _Path, depth: int
    ) -> JsonValue:
        """Return *value* decoded by *decoders*; the result will be *depth* deep."""
        spend(self._budget, _VALUE)
        decoders = self._expand(decoders, value)
        if isinstance(value, dict):
            return self._decode_object(value, decoders, path, depth)
        if isinstance(value, list):
            return self._decode_array(value, decoders, path, depth)
        if isinstance(value, str) and any("json_text" in decoder for decoder in decoders):
            return self._decode_json_text(value, path, depth)
        return value

    def _expand(self, decoders: list[ArgumentDecoder], value: JsonValue) -> list[ArgumentDecoder]:
        """Return *decoders* and their decoders of the same value, without repetition."""
        expanded: dict[int, ArgumentDecoder] = {}
        pending = decoders[::-1]
        while pending:
            decoder = pending.pop()
            if id(decoder) in expanded:
                continue
            spend(self._budget, _DECODER)
            expanded[id(decoder)] = decoder
            if "ref" in decoder:
                pending.append(self._defs[decoder["ref"]])
            pending += decoder.get("also", ())
            if "any_of" in decoder:
                pending += self._choose_branch(decoder["any_of"], value)
        return list(expanded.values())

    def _choose_branch(
        self, branches: list[ArgumentDecoder], value: JsonValue
    ) -> list[ArgumentDecoder]:
        """Return the decoder of the branch that is chosen for *value*, if it has one."""
        matching = [branch for branch in branches if self._matcher.matches(branch["when"], value)]
        if not matching:
            # The value is invalid in every branch. Violations are clearer in the decoded
            # value than in its encoding.
            matching = [
                branch for branch in branches if self._matcher.matches_types(branch["when"], value)
            ]
        # Branches without a decoder count as one option.
        decoders = list({id(branch.get("as")): branch.get("as") for branch in matching}.values())
        if not decoders:
            return []
        decoder = decoders[self._choices.choose(len(decoders)) if len(decoders) > 1 else 0]
        return [] if decoder is None else [decoder]

    def _decode_object(
        self, value: dict[str, JsonValue], decoders: list[ArgumentDecoder], path: _Path, depth: int
    ) -> JsonValue:
        for decoder in decoders:
            name = decoder.get("wrapped")
            if name is not None and len(value) == 1 and name in value:
                self._record(path, ChangeRule.ROOT_UNWRAPPED, "unwrapped the value")
                inner = [
                    wrapper["inner"]
                    for wrapper in decoders
                    if "inner" in wrapper and wrapper["wrapped"] == name
                ]
                return self.decode(value[name], inner, (path, name), depth)
        if not any(decoder.keys() & _OBJECT_KEYS for decoder in decoders):
            return value
        spend(self._budget, _DECODER * len(decoders) * len(value))
        decoded: dict[str, JsonValue] = {}
        for name, item in value.items():
            if item is None and self._is_synthetic(name, decoders):
                message = "removed null, which stands for an absent property"
                self._record((path, name), ChangeRule.SYNTHETIC_NULL_REMOVED, message)
                continue
            nested = [
                property_decoder
                for decoder in decoders
                if (property_decoder := _property_decoder(decoder, name)) is not None
            ]
            original = next(
                (
                    names[name]
                    for decoder in decoders
                    if name in (names := decoder.get("renamed", {}))
                ),
                name,
            )
            if original in value or original in decoded:
                original = name
            if original != name:
                self._renamed.append((id(value), name, original))
            start = self._choices.count
            decoded[original] = (
                self.decode(item, nested, (path, name), depth + 1) if nested else item
            )
            if not depth:
                self.spans[original] = (start, self._choices.count)
        return decoded

    def _is_synthetic(self, name: str, decoders: list[ArgumentDecoder]) -> bool:
        return any(
            name in self._matcher.name_set(decoder["nulls"])
            for decoder in decoders
            if "nulls" in decoder
        )

    def _decode_array(
        self, value: list[JsonValue], decoders: list[ArgumentDecoder], path: _Path, depth: int
    ) -> JsonValue:
        for decoder in decoders:
            if "entries" in decoder:
                joined = self._join_entries(value, decoder["entries"], path, depth)
                if joined is not None:
                    return joined
        count = len(value)
        if not any("items" in decoder for decoder in decoders):
            longest = max((len(decoder.get("prefix", ())) for decoder in decoders), default=0)
            count = min(count, longest)
        if not count:
            return value
        spend(self._budget, len(value) + _DECODER * len(decoders) * count)
        decoded = value.copy()
        for index in range(count):
            nested = [
                item_decoder
                for decoder in decoders
                if (item_decoder := _item_decoder(decoder, index)) is not None
            ]
            if nested:
                decoded[index] = self.decode(value[index], nested, (path, index), depth + 1)
        return decoded

    def _join_entries(
        self, value: list[JsonValue], entries: ArgumentDecoder, path: _Path, depth: int
    ) -> JsonValue | None:
        """Return the object with the entries in *value*, or None if they are not entries."""
        spend(self._budget, _DECODER * len(value))
        name_key, value_key = entries["name"], entries["value"]
        joined: dict[str, JsonValue] = {}
        for entry in value:
            if not isinstance(entry, dict) or entry.keys() != {name_key, value_key}:
                return None
            name = entry[name_key]
            if not isinstance(name, str) or name in joined:
                return None
            joined[name] = entry[value_key]
        message = f"joined an array of {count_noun(len(value), 'entry')} into an object"
        self._record(path, ChangeRule.ENTRIES_JOINED, message)
        if "each" not in entries:
            return joined
        return {
            name: self.decode(item, [entries["each"]], ((path, index), value_key), depth + 1)
            for index, (name, item) in enumerate(joined.items())
        }

    def _decode_json_text(self, text: str, path: _Path, depth: int) -> JsonValue:
        """Return the value of the JSON *text*, or the text if it is malformed."""
        spend(self._budget, _TEXT + decoding_steps(text))
        try:
            encoded = text.encode("utf-8", "surrogatepass")
            value = decode(encoded, max_depth=self._max_depth - depth, max_violations=1)
        except (MalformedError, RequestError):
            return text
        message = "decoded a string that contains the JSON text of the value"
        self._record(path, ChangeRule.JSON_TEXT_DECODED, message)
        return value

    def _record(self, path: _Path, rule: ChangeRule, message: str) -> None:
        spend(self._budget, _CHANGE)
        steps: list[str | int] = []
        while path is not None:
            path, step = path
            spend(self._budget, _STEP + (len(step) // _CHARACTERS if isinstance(step, str) else 0))
            steps.append(step)
        self.changes.append(Change(as_pointer(reversed(steps)), rule, "", message))


_OBJECT_KEYS = frozenset({"nulls", "renamed", "properties", "values"})


def _property_decoder(decoder: ArgumentDecoder, name: str) -> ArgumentDecoder | None:
    properties = decoder.get("properties", {})
    property_decoder: ArgumentDecoder | None = (
        properties[name] if name in properties else decoder.get("values")
    )
    return property_decoder


def _item_decoder(decoder: ArgumentDecoder, index: int) -> ArgumentDecoder | None:
    prefix = decoder.get("prefix", ())
    item_decoder: ArgumentDecoder | None = (
        prefix[index] if index < len(prefix) else decoder.get("items")
    )
    return item_decoder
