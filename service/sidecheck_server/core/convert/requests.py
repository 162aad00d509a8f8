"""Requests: what an API takes of all tools together."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sidecheck_server.core.convert.apis.api import Api, RequestLimits
from sidecheck_server.core.convert.forms import Form
from sidecheck_server.core.types import Verdict, Violation

__all__ = ["reasons_against_strict", "request_problems"]


@dataclass(frozen=True, slots=True)
class _Bound:
    """One limit of requests."""

    #: The code of the violation.
    code: str
    #: What is counted, for a person.
    noun: str
    limit: Callable[[RequestLimits], int | None]
    #: What a form adds to the count.
    adds: Callable[[Form], int]

    def said(self, api: Api, limit: int) -> str:
        """Return what the limit is, for a person."""
        return f"{api.in_words} takes at most {limit:,} {self.noun} in one request"


_TOOLS = _Bound("REQUEST_TOOLS", "tools", lambda limits: limits.tools, lambda _: 1)
_STRICT = (
    _Bound(
        "REQUEST_STRICT_TOOLS",
        "strict tools",
        lambda limits: limits.strict_tools,
        lambda form: 1 if form.strict else 0,
    ),
    _Bound(
        "REQUEST_STRICT_OPTIONAL",
        "optional members of strict tools",
        lambda limits: limits.strict_optional,
        lambda form: form.counts.optional if form.strict else 0,
    ),
    _Bound(
        "REQUEST_STRICT_UNIONS",
        "members of strict tools whose type is a union",
        lambda limits: limits.strict_unions,
        lambda form: form.counts.unions if form.strict else 0,
    ),
)


def request_problems(forms: Sequence[Form], api: Api) -> Verdict:
    """Return what is wrong with *forms* as the tools of one request to *api*.

    Pointers lead into the list of them, to the first that is too many.
    """
    return Verdict.listing(list(_problems(forms, api)))


def _problems(forms: Sequence[Form], api: Api) -> Iterator[Violation]:
    for bound in (_TOOLS, *_STRICT):
        limit = bound.limit(api.request)
        if limit is None:
            continue
        total, beyond = 0, -1
        for place, form in enumerate(forms):
            total += bound.adds(form)
            if total > limit and beyond < 0:
                beyond = place
        if beyond >= 0:
            said = f"{bound.said(api, limit)}; these are {total:,}"
            yield Violation(f"/{beyond}", "", "", bound.code, said, clause=_clause(api))


def reasons_against_strict(forms: Sequence[Form], api: Api) -> list[str]:
    """Return for each of *forms*, in order, why it must not be strict beside those before it.

    The reason is "" for those that may be, and for those that are not strict.
    """
    bounds = [(bound, bound.limit(api.request)) for bound in _STRICT]
    used = [0] * len(bounds)
    reasons = []
    for form in forms:
        wanted = [
            before + bound.adds(form) for before, (bound, _) in zip(used, bounds, strict=True)
        ]
        said = ""
        for total, (bound, limit) in zip(wanted, bounds, strict=True):
            if form.strict and limit is not None and total > limit:
                said = f"{bound.said(api, limit)}, and the tools before it leave too few"
                break
        else:
            used = wanted
        reasons.append(said)
    return reasons


_OF_REQUESTS = ("limits of a request", "at most")
"""What the facts of a source say if they are limits of requests."""


def _clause(api: Api) -> str:
    said = [each.where for each in api.sources if any(one in each.facts for one in _OF_REQUESTS)]
    return said[0] if said else ""
