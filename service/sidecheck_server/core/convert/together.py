"""Together: the tools of one request, of which one of each name counts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from sidecheck_server.core.convert.apis.api import Api
from sidecheck_server.core.convert.converted import ConvertedTool, converted
from sidecheck_server.core.convert.forms import Form
from sidecheck_server.core.convert.names import Named, tool_names
from sidecheck_server.core.convert.requests import reasons_against_strict, request_problems
from sidecheck_server.core.convert.words import ConversionOptions, Mode
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.types import Verdict

__all__ = ["Found", "Together"]

_LONGEST = 128
"""How many characters of a name a refusal tells."""

Definition = TypeVar("Definition")


@dataclass(frozen=True, slots=True)
class Found(Generic[Definition]):
    """A tool of a request, with its definition, in whatever form, or why there is none."""

    tool: Named
    definition: Definition | RequestError


class Together(Generic[Definition]):
    """The tools of one request, and what is done with all of them.

    Whoever has them converts each of `tools`, those that `against_strict` gives a reason for
    once more with the options `fallback`, and asks for the `outcomes`. Lists of forms have
    one for each tool, in order, or why it has none.
    """

    def __init__(
        self, tools: Sequence[Found[Definition]], api: Api, options: ConversionOptions
    ) -> None:
        #: Each that has the server and the name of a later one is refused.
        self.tools = _without_doubles(tools)
        self.fallback = replace(options, mode=Mode.COMPATIBLE)
        self._api = api
        self._options = options

    def against_strict(self, forms: Sequence[Form | RequestError]) -> list[str]:
        """Return why each of *forms* must not be strict beside those before it, or ""."""
        if self._options.mode is not Mode.STRICT_IF_LOSSLESS:
            return [""] * len(forms)
        made = [form for form in forms if isinstance(form, Form)]
        found = iter(reasons_against_strict(made, self._api))
        return [next(found) if isinstance(form, Form) else "" for form in forms]

    def names(self) -> Mapping[Named, str]:
        """Return the names in the API of all tools that were found.

        Whether they can be converted does not matter, so that they are the same for every
        mode.
        """
        named = [one.tool for one in self.tools if not isinstance(one.definition, RequestError)]
        names = tool_names(named, self._api.names, self._options.server_prefix)
        return dict(zip(named, names, strict=True))

    def outcomes(
        self,
        forms: Sequence[Form | RequestError],
        names: Mapping[Named, str],
        reasons: Sequence[str],
    ) -> Iterator[ConvertedTool | RequestError]:
        """Yield what becomes of each tool; *reasons* say why it is not strict, or ""."""
        for one, form, why_not in zip(self.tools, forms, reasons, strict=True):
            if isinstance(form, RequestError):
                yield form
                continue
            try:
                yield converted(form, one.tool, names[one.tool], self._api, why_not)
            except RequestError as refusal:
                yield refusal

    def violations(
        self, forms: Sequence[Form | RequestError], outcomes: Sequence[ConvertedTool | RequestError]
    ) -> Verdict:
        """Return what is wrong with those that were converted, as one request."""
        made = [
            form
            for form, outcome in zip(forms, outcomes, strict=True)
            if isinstance(form, Form) and isinstance(outcome, ConvertedTool)
        ]
        return request_problems(made, self._api)


def _without_doubles(tools: Sequence[Found[Definition]]) -> list[Found[Definition]]:
    last = {
        one.tool: place
        for place, one in enumerate(tools)
        if not isinstance(one.definition, RequestError)
    }
    return [
        one
        if isinstance(one.definition, RequestError) or last[one.tool] == place
        else Found(one.tool, _double(one.tool))
        for place, one in enumerate(tools)
    ]


def _double(tool: Named) -> RequestError:
    name = tool.name[:_LONGEST]
    said = f"a tool after it has the name {name!r} too; the last one counts"
    return RequestError(ErrorReason.INVALID_REQUEST, said, {"field": "tools", "tool": name})
