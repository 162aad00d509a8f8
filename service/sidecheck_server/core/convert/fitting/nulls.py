"""Nulls: where every member must be given, null stands for one that is not."""

from enum import Enum

from sidecheck_server.core.budget import spend
from sidecheck_server.core.convert.fitting.fitting import Fitting
from sidecheck_server.core.convert.fitting.outlines import shown
from sidecheck_server.core.convert.fitting.types import (
    ANNOTATIONS,
    says_no_type,
    types_of,
    types_of_values,
)
from sidecheck_server.core.convert.part import Part, Undo
from sidecheck_server.core.convert.words import Action, Direction

__all__ = ["Answer", "admits_null", "require_all"]

_VISIT = 80
"""Steps of looking at one part."""
_DEEPEST = 64
"""How far unions and references are followed."""
_VOICES = frozenset({"$ref", "anyOf", "oneOf", "allOf"})
_CONDITIONS = frozenset({"not", "if", "then", "else"})


class Answer(Enum):
    """An answer to whether something is so."""

    YES = "yes"
    NO = "no"
    PERHAPS = "perhaps"


def require_all(part: Part, fitting: Fitting) -> None:
    """Require every member; of those that are optional, null stands for absence."""
    keywords = part.keywords
    members: dict[str, Part] = keywords.get("properties", {})
    if not fitting.subset.all_required or not members:
        return
    required = keywords.get("required", ())
    fitted = dict(members)
    for name, member in members.items():
        if name not in required:
            fitted[name] = _optional(part, name, member, fitting)
    keywords["properties"] = fitted
    keywords["required"] = list(fitted)


def _optional(part: Part, name: str, member: Part, fitting: Fitting) -> Part:
    """Return *member*, which is called *name* in the API, in a form that is always given."""
    called = shown(part.undo.renamed.get(name, name))
    answer = admits_null(member, fitting)
    if answer is Answer.NO:
        part.undo.nulls.append(name)
        said = f"the optional member {called} must be given; null stands for its absence"
        fitting.record.tell(part, "required", Action.ENCODED, Direction.SAME, said)
        return _nullable(member, fitting)
    if answer is Answer.YES and member.keywords.get("default", 0) is None:
        said = f"the optional member {called} must be given; null is its default"
        fitting.record.tell(part, "required", Action.REWRITTEN, Direction.SAME, said)
        return member
    said = f"the optional member {called} must be given: null has a meaning of its own there"
    fitting.record.tell(part, "required", Action.REWRITTEN, Direction.NARROWER, said)
    return member


def _nullable(member: Part, fitting: Fitting) -> Part:
    """Return a part that admits null, and what *member* admits; that may stand elsewhere too."""
    keywords, types = member.keywords, types_of(member) or types_of_values(member)
    null = Part(member.at, {"type": "null"})
    if member.undo == Undo():
        simple = len(types) == 1 and types[0] not in ("object", "array")
        if simple and fitting.subset.type_lists and not _is_structured(member):
            stated = {**keywords, "type": [*types, "null"]}
            if "enum" in stated:
                stated["enum"] = [*stated["enum"], None]
            if "const" in stated:
                stated = {("enum" if k == "const" else k): v for k, v in stated.items()}
                stated["enum"] = [keywords["const"], None]
            return Part(member.at, stated, notes=list(member.notes))
        if "anyOf" in keywords and keywords.keys() - ANNOTATIONS == {"anyOf"}:
            widened = {**keywords, "anyOf": [*keywords["anyOf"], null]}
            return Part(member.at, widened, notes=list(member.notes))
    return Part(member.at, {"anyOf": [member, null]})


def _is_structured(part: Part) -> bool:
    """Return whether something else than a type and bounds says what is admitted."""
    keywords = part.keywords
    if keywords.keys() & (_VOICES | _CONDITIONS) or ("enum" in keywords and "const" in keywords):
        return True
    return any(isinstance(each, (dict, list)) for each in _listed(part) or ())


def _listed(part: Part) -> list[object] | None:
    keywords = part.keywords
    return [keywords["const"]] if "const" in keywords else keywords.get("enum")


def admits_null(part: Part, fitting: Fitting) -> Answer:
    """Return whether null may be given at *part* in the API.

    That is not so where null, as any value, is given as JSON text.
    """
    return _Question(fitting).ask(part, 0, alone=True)


class _Question:
    """One question of nullability, through references and unions."""

    def __init__(self, fitting: Fitting) -> None:
        self.budget = fitting.record.budget
        #: The parts on the way to where the question is.
        self.way: set[int] = set()

    def ask(self, part: Part, depth: int, *, alone: bool) -> Answer:
        """Return the answer at *part*, which speaks *alone* or has others beside it."""
        spend(self.budget, _VISIT)
        if part.never:
            return Answer.NO
        if alone and says_no_type(part):
            # Free forms are given as JSON text.
            return Answer.NO
        if id(part) in self.way or depth > _DEEPEST:
            return Answer.PERHAPS
        self.way.add(id(part))
        answer = _all_of(self._said(part, depth))
        self.way.discard(id(part))
        return answer

    def _said(self, part: Part, depth: int) -> list[Answer]:
        """Return what each keyword of *part* says."""
        keywords, types, listed = part.keywords, types_of(part), _listed(part)
        said = []
        if types:
            said.append(_sure("null" in types))
        if listed is not None:
            texts = any(isinstance(each, (dict, list)) for each in listed)
            said.append(_sure(None in listed and not texts))
        if "$ref" in keywords:
            said.append(self.ask(keywords["$ref"], depth + 1, alone=not types and listed is None))
        said += [self.ask(each, depth + 1, alone=False) for each in keywords.get("allOf", ())]
        alone = not said
        for keyword in ("anyOf", "oneOf"):
            if keyword in keywords:
                below = [self.ask(each, depth + 1, alone=alone) for each in keywords[keyword]]
                said.append(_any_of(below, once=keyword == "oneOf"))
        if keywords.keys() & _CONDITIONS:
            said.append(Answer.PERHAPS)
        return said


def _sure(holds: bool) -> Answer:  # noqa: FBT001
    return Answer.YES if holds else Answer.NO


def _all_of(answers: list[Answer]) -> Answer:
    if Answer.NO in answers:
        return Answer.NO
    return Answer.PERHAPS if Answer.PERHAPS in answers else Answer.YES


def _any_of(answers: list[Answer], *, once: bool) -> Answer:
    if all(each is Answer.NO for each in answers):
        return Answer.NO
    if once:
        sure = answers.count(Answer.YES) == 1 and Answer.PERHAPS not in answers
        return Answer.YES if sure else Answer.PERHAPS
    return Answer.YES if Answer.YES in answers else Answer.PERHAPS
