"""Tools of one request: names, limits of the request, and duplicates."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from sidecheck_server.core.convert.converted_tool import (
    ConvertedTool,
    ToolForm,
    build_converted_tool,
)
from sidecheck_server.core.convert.names import ToolName, assign_tool_names
from sidecheck_server.core.convert.providers.provider import Provider, RequestLimits
from sidecheck_server.core.convert.types import ConversionOptions, Mode
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.types import Verdict, Violation

__all__ = ["BatchTool", "ToolBatch", "check_request", "not_strict_reasons"]

_MAX_NAME = 128
"""Characters of a name in an error."""

Definition = TypeVar("Definition")


@dataclass(frozen=True, slots=True)
class BatchTool(Generic[Definition]):
    """Tool of a request, with its definition or the error in place of one."""

    tool: ToolName
    definition: Definition | RequestError


class ToolBatch(Generic[Definition]):
    """The tools of one request.

    The caller converts all `tools`, converts the tools with a reason in
    `not_strict_reasons` again with the options `fallback`, and then calls `outcomes`. Lists
    of forms are parallel to `tools`, and have an error where there is no form.
    """

    def __init__(
        self,
        tools: Sequence[BatchTool[Definition]],
        provider: Provider,
        options: ConversionOptions,
    ) -> None:
        #: A tool is an error if a later one has the same server and name.
        self.tools = _reject_duplicates(tools)
        self.fallback = replace(options, mode=Mode.COMPATIBLE)
        self._provider = provider
        self._options = options

    def not_strict_reasons(self, forms: Sequence[ToolForm | RequestError]) -> list[str]:
        """Return the reason why each form cannot be strict with earlier ones, or ""."""
        if self._options.mode is not Mode.STRICT_IF_LOSSLESS:
            return [""] * len(forms)
        converted = [form for form in forms if isinstance(form, ToolForm)]
        reasons = iter(not_strict_reasons(converted, self._provider))
        return [next(reasons) if isinstance(form, ToolForm) else "" for form in forms]

    def names(self) -> Mapping[ToolName, str]:
        """Return the names at the provider of all tools that have a definition.

        Tools that cannot be converted are included, so that names do not depend on the mode.
        """
        tools = [item.tool for item in self.tools if not isinstance(item.definition, RequestError)]
        names = assign_tool_names(tools, self._provider.tool_names, self._options.server_prefix)
        return dict(zip(tools, names, strict=True))

    def outcomes(
        self,
        forms: Sequence[ToolForm | RequestError],
        names: Mapping[ToolName, str],
        reasons: Sequence[str],
    ) -> Iterator[ConvertedTool | RequestError]:
        """Yield the outcome of each tool; *reasons* come from `not_strict_reasons`."""
        for item, form, reason in zip(self.tools, forms, reasons, strict=True):
            if isinstance(form, RequestError):
                yield form
                continue
            name = names[item.tool]
            try:
                yield build_converted_tool(form, item.tool, name, self._provider, reason)
            except RequestError as error:
                yield error

    def check(
        self,
        forms: Sequence[ToolForm | RequestError],
        outcomes: Sequence[ConvertedTool | RequestError],
    ) -> Verdict:
        """Return the verdict on the converted tools as one request."""
        converted = [
            form
            for form, outcome in zip(forms, outcomes, strict=True)
            if isinstance(form, ToolForm) and isinstance(outcome, ConvertedTool)
        ]
        return check_request(converted, self._provider)


def _reject_duplicates(tools: Sequence[BatchTool[Definition]]) -> list[BatchTool[Definition]]:
    last = {
        item.tool: index
        for index, item in enumerate(tools)
        if not isinstance(item.definition, RequestError)
    }
    return [
        item
        if isinstance(item.definition, RequestError) or last[item.tool] == index
        else BatchTool(item.tool, _duplicate(item.tool))
        for index, item in enumerate(tools)
    ]


def _duplicate(tool: ToolName) -> RequestError:
    name = tool.name[:_MAX_NAME]
    message = f"duplicate name {name!r}: a later tool has the same name and is used instead"
    return RequestError(ErrorReason.INVALID_REQUEST, message, {"field": "tools", "tool": name})


@dataclass(frozen=True, slots=True)
class _Limit:
    """Limit of a request."""

    #: Code of the violation.
    code: str
    #: Plural noun for the counted items.
    noun: str
    maximum: Callable[[RequestLimits], int | None]
    #: Contribution of a form to the count.
    count: Callable[[ToolForm], int]

    def describe(self, provider: Provider, maximum: int) -> str:
        return f"{provider.display_name} accepts at most {maximum:,} {self.noun} in one request"


_TOOLS = _Limit("REQUEST_TOOLS", "tools", lambda limits: limits.tools, lambda _: 1)
_STRICT = (
    _Limit(
        "REQUEST_STRICT_TOOLS",
        "strict tools",
        lambda limits: limits.strict_tools,
        lambda form: 1 if form.strict else 0,
    ),
    _Limit(
        "REQUEST_STRICT_OPTIONAL",
        "optional properties of strict tools",
        lambda limits: limits.strict_optional,
        lambda form: form.size.optional if form.strict else 0,
    ),
    _Limit(
        "REQUEST_STRICT_UNIONS",
        "properties of strict tools whose type is a union",
        lambda limits: limits.strict_unions,
        lambda form: form.size.unions if form.strict else 0,
    ),
)


def check_request(forms: Sequence[ToolForm], provider: Provider) -> Verdict:
    """Return the verdict on *forms* as the tools of one request to *provider*.

    The location of a violation is the index of the first tool that exceeds the limit.
    """
    return Verdict.listing(list(_violations(forms, provider)))


def _violations(forms: Sequence[ToolForm], provider: Provider) -> Iterator[Violation]:
    for limit in (_TOOLS, *_STRICT):
        maximum = limit.maximum(provider.request_limits)
        if maximum is None:
            continue
        total, first = 0, -1
        for index, form in enumerate(forms):
            total += limit.count(form)
            if total > maximum and first < 0:
                first = index
        if first >= 0:
            message = f"{limit.describe(provider, maximum)}; this request has {total:,}"
            yield Violation(
                f"/{first}", "", "", limit.code, message, spec_url=_limits_source(provider)
            )


def not_strict_reasons(forms: Sequence[ToolForm], provider: Provider) -> list[str]:
    """Return the reason why each form cannot be strict together with earlier ones.

    The reason is "" for forms that can be strict, and for forms that are not strict.
    """
    limits = [(limit, limit.maximum(provider.request_limits)) for limit in _STRICT]
    used = [0] * len(limits)
    reasons = []
    for form in forms:
        totals = [total + limit.count(form) for total, (limit, _) in zip(used, limits, strict=True)]
        reason = ""
        for total, (limit, maximum) in zip(totals, limits, strict=True):
            if form.strict and maximum is not None and total > maximum:
                reason = f"{limit.describe(provider, maximum)}, and earlier tools leave too few"
                break
        else:
            used = totals
        reasons.append(reason)
    return reasons


_REQUEST_FACTS = ("limits of a request", "at most")
"""Phrases that mark a source as one about limits of requests."""


def _limits_source(provider: Provider) -> str:
    references = (
        source.reference
        for source in provider.sources
        if any(phrase in source.facts for phrase in _REQUEST_FACTS)
    )
    return next(references, "")
