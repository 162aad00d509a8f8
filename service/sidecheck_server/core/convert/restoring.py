"""Restoring: arguments that a model gave, in the form that the original schema asks for.

What does not have the form that the guide expects stays as it is: whether it is right is
for the judge to say. Where several branches of a union fit a value there are several
readings, of which the judge accepts one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias, Union

from sidecheck_server.core.budget import Budget, Exhausted, spend
from sidecheck_server.core.convert.branches import Fits
from sidecheck_server.core.convert.guides import Guide
from sidecheck_server.core.convert.picks import Picks, all_picks
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.explain.values import counted
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.payload import MalformedError, decode, decoding_steps
from sidecheck_server.core.types import Change, ChangeRule, JsonValue, as_pointer

__all__ = ["MOST_READINGS", "Reading", "readings"]

MOST_READINGS = 16
"""How many readings of one value there are at most."""

_MOST_TRIED = 4 * MOST_READINGS
"""How many choices are tried: several may come to the same."""

_PAYLOAD_DEPTH = Limits().payload_depth

# In steps: a value that a guide leads to, a guide of it, a change that is told, a step of a
# pointer, a text that is decoded, and how many characters of a pointer are written in a step.
_VALUE = 60
_GUIDE = 20
_CHANGE = 100
_STEP = 4
_TEXT = 250
_CHARACTERS = 2

#: The steps to a value: those to what it stands in, and the last one.
_Path: TypeAlias = Union[tuple["_Path", str | int], None]


@dataclass(frozen=True, slots=True)
class Reading:
    """What arguments mean, by one choice among the branches of unions."""

    #: The arguments; they share with those that were given what did not change.
    value: JsonValue
    #: What was done beside renaming; pointers lead into the arguments that were given.
    changes: tuple[Change, ...]


def readings(
    arguments: JsonValue,
    guide: Guide | None,
    budget: Budget,
    *,
    max_depth: int = _PAYLOAD_DEPTH,
) -> Iterator[Reading]:
    """Yield what *arguments* can mean by *guide*, at least one reading and 16 at most.

    Each is made when it is asked for. First every union takes the first branch that fits,
    then the second, and so on; then one value takes another than the first, then two do.
    What is decoded nests no deeper than *max_depth* with what is around it.

    Raises:
        Exhausted: *budget* has too few steps.
    """
    if guide is None:
        yield Reading(arguments, ())
        return
    fits = Fits(budget)
    told: set[tuple[object, ...]] = set()
    for picks in islice(all_picks(MOST_READINGS), _MOST_TRIED):
        restoring = _Restoring(guide, picks, fits, budget, max_depth)
        try:
            value = restoring.restored(arguments, [guide], None, 0)
        except RecursionError:
            raise Exhausted from None
        if restoring.done not in told:
            told.add(restoring.done)
            yield Reading(value, tuple(restoring.changes))
        if len(told) == MOST_READINGS:
            return


class _Restoring:
    """One reading of arguments."""

    def __init__(
        self, guide: Guide, picks: Picks, fits: Fits, budget: Budget, max_depth: int
    ) -> None:
        self._defs = guide.get("defs", {})
        self._picks = picks
        self._fits = fits
        self._budget = budget
        self._max_depth = max_depth
        self.changes: list[Change] = []
        #: Which member of which object, by its identity, has which name again.
        self._renamed: list[tuple[int, str, str]] = []

    @property
    def done(self) -> tuple[object, ...]:
        """All that was done: the same to the same arguments comes to the same value."""
        return (*self.changes, *self._renamed)

    def restored(self, value: JsonValue, guides: list[Guide], path: _Path, depth: int) -> JsonValue:
        """Return what *value* stands for by *guides*; it will stand *depth* deep."""
        spend(self._budget, _VALUE)
        guides = self._all(guides, value)
        if isinstance(value, dict):
            return self._object(value, guides, path, depth)
        if isinstance(value, list):
            return self._array(value, guides, path, depth)
        if isinstance(value, str) and any("json_text" in guide for guide in guides):
            return self._decoded(value, path, depth)
        return value

    def _all(self, guides: list[Guide], value: JsonValue) -> list[Guide]:
        """Return *guides* and those of the same value to which they lead, each once."""
        found: dict[int, Guide] = {}
        pending = guides[::-1]
        while pending:
            guide = pending.pop()
            if id(guide) in found:
                continue
            spend(self._budget, _GUIDE)
            found[id(guide)] = guide
            if "ref" in guide:
                pending.append(self._defs[guide["ref"]])
            pending += guide.get("also", ())
            if "any_of" in guide:
                pending += self._chosen(guide["any_of"], value)
        return list(found.values())

    def _chosen(self, branches: list[Guide], value: JsonValue) -> list[Guide]:
        """Return the guide of the branch that *value* is taken for, if it has one."""
        fitting = [each for each in branches if self._fits.all(each["when"], value)]
        if not fitting:
            # It is wrong by all of them. The rest of what is wrong is told best of what is
            # meant, not of its encoding.
            fitting = [each for each in branches if self._fits.types(each["when"], value)]
        # Branches in which there is nothing to undo are one way.
        ways = list({id(each.get("as")): each.get("as") for each in fitting}.values())
        if not ways:
            return []
        way = ways[self._picks.pick(len(ways)) if len(ways) > 1 else 0]
        return [] if way is None else [way]

    def _object(
        self, value: dict[str, JsonValue], guides: list[Guide], path: _Path, depth: int
    ) -> JsonValue:
        for guide in guides:
            name = guide.get("wrapped")
            if name is not None and len(value) == 1 and name in value:
                self._tell(path, ChangeRule.ROOT_UNWRAPPED, "took out what was wrapped to be sent")
                inner = [
                    each["inner"] for each in guides if "inner" in each and each["wrapped"] == name
                ]
                return self.restored(value[name], inner, (path, name), depth)
        if not any(each.keys() & _OF_OBJECTS for each in guides):
            return value
        spend(self._budget, _GUIDE * len(guides) * len(value))
        restored: dict[str, JsonValue] = {}
        for name, member in value.items():
            if member is None and self._is_synthetic(name, guides):
                said = "removed null, which stands for a member that is not there"
                self._tell((path, name), ChangeRule.SYNTHETIC_NULL_REMOVED, said)
                continue
            below = [each for guide in guides if (each := _member(guide, name)) is not None]
            original = next(
                (names[name] for guide in guides if name in (names := guide.get("renamed", {}))),
                name,
            )
            if original in value or original in restored:
                original = name
            if original != name:
                self._renamed.append((id(value), name, original))
            restored[original] = (
                self.restored(member, below, (path, name), depth + 1) if below else member
            )
        return restored

    def _is_synthetic(self, name: str, guides: list[Guide]) -> bool:
        return any(name in self._fits.names(guide["nulls"]) for guide in guides if "nulls" in guide)

    def _array(
        self, value: list[JsonValue], guides: list[Guide], path: _Path, depth: int
    ) -> JsonValue:
        for guide in guides:
            if "entries" in guide:
                joined = self._joined(value, guide["entries"], path, depth)
                if joined is not None:
                    return joined
        reached = len(value)
        if not any("items" in guide for guide in guides):
            reached = min(reached, max((len(each.get("prefix", ())) for each in guides), default=0))
        if not reached:
            return value
        spend(self._budget, len(value) + _GUIDE * len(guides) * reached)
        restored = value.copy()
        for index in range(reached):
            below = [each for guide in guides if (each := _item(guide, index)) is not None]
            if below:
                restored[index] = self.restored(value[index], below, (path, index), depth + 1)
        return restored

    def _joined(
        self, value: list[JsonValue], entries: Guide, path: _Path, depth: int
    ) -> JsonValue | None:
        """Return the object whose members are the entries *value*, or None if they are not."""
        spend(self._budget, _GUIDE * len(value))
        has_name, has_value = entries["name"], entries["value"]
        members: dict[str, JsonValue] = {}
        for entry in value:
            if not isinstance(entry, dict) or entry.keys() != {has_name, has_value}:
                return None
            name = entry[has_name]
            if not isinstance(name, str) or name in members:
                return None
            members[name] = entry[has_value]
        said = f"joined an array of {counted(len(value), 'entry')} into an object"
        self._tell(path, ChangeRule.ENTRIES_JOINED, said)
        if "each" not in entries:
            return members
        return {
            name: self.restored(member, [entries["each"]], ((path, index), has_value), depth + 1)
            for index, (name, member) in enumerate(members.items())
        }

    def _decoded(self, text: str, path: _Path, depth: int) -> JsonValue:
        """Return what the JSON *text* holds, or itself if it holds nothing."""
        spend(self._budget, _TEXT + decoding_steps(text))
        try:
            encoded = text.encode("utf-8", "surrogatepass")
            value = decode(encoded, max_depth=self._max_depth - depth, most=1)
        except (MalformedError, RequestError):
            return text
        said = "decoded a string that holds the JSON text of the value"
        self._tell(path, ChangeRule.JSON_TEXT_DECODED, said)
        return value

    def _tell(self, path: _Path, rule: ChangeRule, said: str) -> None:
        spend(self._budget, _CHANGE)
        steps: list[str | int] = []
        while path is not None:
            path, step = path
            spend(self._budget, _STEP + (len(step) // _CHARACTERS if isinstance(step, str) else 0))
            steps.append(step)
        self.changes.append(Change(as_pointer(reversed(steps)), rule, "", said))


_OF_OBJECTS = frozenset({"nulls", "renamed", "members", "values"})


def _member(guide: Guide, name: str) -> Guide | None:
    """Return the guide of the member *name*, if there is one."""
    members = guide.get("members", {})
    found: Guide | None = members[name] if name in members else guide.get("values")
    return found


def _item(guide: Guide, index: int) -> Guide | None:
    """Return the guide of the item at *index*, if there is one."""
    prefix = guide.get("prefix", ())
    found: Guide | None = prefix[index] if index < len(prefix) else guide.get("items")
    return found
