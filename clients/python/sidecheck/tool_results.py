"""Checks the results of tool calls where they arrive, as the client of the Python SDK does.

A checker knows the output schemas of the tools that a server lists, asks for the list
when it meets a tool that it does not know, and has structured content judged::

    async def list_tools(cursor):
        return await session.list_tools(params=PaginatedRequestParams(cursor=cursor))

    results = ResultChecker(sidecheck, list_tools)
    await results.check("get_forecast", await session.call_tool("get_forecast", {}))

Listings and results are taken as decoded JSON or as objects of an SDK, by attribute.
"""

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable, Container, Iterable, Mapping
from typing import Any, Final, NoReturn, TypeAlias

from sidecheck.errors import SidecheckError
from sidecheck.items import ABSENT
from sidecheck.options import Options
from sidecheck.targets import Schema
from sidecheck.validators import BlockingValidator, Validator
from sidecheck.verdicts import Verdict
from sidecheck.violations import Severity

__all__ = ["BlockingResultChecker", "InvalidToolResult", "ResultChecker", "Skip"]

#: The tools whose results are not checked: names, or what says so of a name.
Skip: TypeAlias = Container[str] | Callable[[str], bool]

LOG: Final = logging.getLogger(__name__)

#: The reasons of refusals that blame the schema. A pattern that is valid but not
#: supported is none of them.
BROKEN_SCHEMA: Final = frozenset(
    {
        "REFERENCE_CYCLE",
        "INVALID_PATTERN",
        "INVALID_SCHEMA",
        "SCHEMA_NOT_JSON",
        "UNRESOLVABLE_REFERENCE",
        "UNSUPPORTED_DIALECT",
    }
)


class InvalidToolResult(RuntimeError):
    """The result of a tool does not fit the tool's output schema.

    The texts are those of the Python SDK. ``verdict`` is None where nothing could be
    judged: no structured content, or a schema that is broken.
    """

    def __init__(self, message: str, tool: str, verdict: Verdict | None = None) -> None:
        super().__init__(message)
        self.tool = tool
        self.verdict = verdict


def member(value: Any, *names: str) -> Any:
    """Return the first member of *value* that is there, by key or by attribute; else `ABSENT`.

    Attributes are asked for from the last name on: SDKs that renamed them keep the names of
    the wire, if at all, to warn of their use. What a model of pydantic was not given counts
    as absent.
    """
    if isinstance(value, Mapping):
        return next((value[name] for name in names if name in value), ABSENT)
    for name in reversed(names):
        found = getattr(value, name, ABSENT)
        if found is None and name not in getattr(value, "model_fields_set", ()):
            return ABSENT
        if found is not ABSENT:
            return found
    return ABSENT


class Listing:
    """A list of tools, as its pages come."""

    def __init__(self) -> None:
        self.schemas: dict[str, Any] = {}
        #: Asks for the next page; None for the first.
        self.cursor: str | None = None
        self.more = True
        self._asked: set[str] = set()

    def add(self, page: Any) -> None:
        """Take in a page: a ``tools/list`` result, or all tools at once."""
        tools = member(page, "tools")
        self.schemas.update(output_schemas(page if tools is ABSENT else tools))
        cursor = member(page, "nextCursor", "next_cursor")
        # A cursor that comes again would lead in a circle.
        self.more = isinstance(cursor, str) and cursor not in self._asked
        if self.more:
            self.cursor = cursor
            self._asked.add(cursor)


def output_schemas(tools: Iterable[Any]) -> dict[str, Any]:
    """Return the output schema of each tool by its name, None for those without one."""
    found = {}
    for tool in tools:
        name = member(tool, "name")
        schema = member(tool, "outputSchema", "output_schema")
        if isinstance(name, str):
            found[name] = None if schema is ABSENT else schema
    return found


class Known:
    """What is known of the tools of a server, and what follows for a result."""

    def __init__(self, skip: Skip, options: Options | None) -> None:
        self._skip = skip
        self._options = options
        self._schemas: dict[str, Any] = {}

    def learn(self, tools: Any) -> None:
        """Take in tools that were listed for another reason: a page, or a list of tools."""
        listing = Listing()
        listing.add(tools)
        self._schemas = {**self._schemas, **listing.schemas}

    def forget(self) -> None:
        """Forget all tools: the server says that its list has changed."""
        self._schemas = {}

    def _skips(self, name: str, result: Any) -> bool:
        """Say whether *result* is not to be checked."""
        if member(result, "isError", "is_error") is True:
            return True
        return self._skip(name) if callable(self._skip) else name in self._skip

    def _question(self, name: str, result: Any) -> tuple[Schema, Any] | None:
        """Return a schema and the structured content to judge under it, if there is one.

        Raises:
            InvalidToolResult: There is no structured content.
        """
        if name not in self._schemas:
            LOG.warning(
                "Tool %s not listed by server, cannot validate any structured content", name
            )
            return None
        schema = self._schemas[name]
        if schema is None:
            return None
        content = member(result, "structuredContent", "structured_content")
        if content is ABSENT:
            raise InvalidToolResult(
                f"Tool {name} has an output schema but did not return structured content", name
            )
        return Schema(schema), content


def refuse(name: str, refusal: SidecheckError) -> NoReturn:
    """Raise what a refusal means for a result of the tool *name*.

    Raises:
        InvalidToolResult: The schema is broken.
        Refused: Anything else kept it from being judged.
    """
    if refusal.reason in BROKEN_SCHEMA:
        raise InvalidToolResult(
            f"Invalid schema for tool {name}: {refusal.message}", name
        ) from refusal
    raise refusal


def settle(name: str, verdict: Verdict) -> None:
    """Do nothing if *verdict*, on a result of the tool *name*, is valid.

    Raises:
        InvalidToolResult: It is not.
    """
    if verdict.valid:
        return
    errors = [found for found in verdict.violations if found.severity is Severity.ERROR]
    told = "; ".join(
        f"{found.instance_location}: {found.message}" if found.instance_location else found.message
        for found in errors
    )
    raise InvalidToolResult(
        f"Invalid structured content returned by tool {name}: {told}", name, verdict
    )


class ResultChecker(Known):
    """Checks results of one server's tools, with the help of *validator*.

    *list_tools* is awaited with a cursor, None for the first page, and returns a
    ``tools/list`` result, or a list of all tools. The results of the tools that *skip*
    names are not checked. Any number of tasks may share a checker.
    """

    def __init__(
        self,
        validator: Validator,
        list_tools: Callable[[str | None], Awaitable[Any]],
        *,
        skip: Skip = (),
        options: Options | None = None,
    ) -> None:
        super().__init__(skip, options)
        self._validator = validator
        self._list_tools = list_tools
        self._listing = asyncio.Lock()

    async def check(self, name: str, result: Any, *, validate: bool = True) -> None:
        """Do nothing if *result*, of the tool *name*, fits the tool's output schema.

        Nor if it is an error, if the tool has no output schema, if the server does not
        list the tool, which is logged, or if *validate* is false.

        Raises:
            InvalidToolResult: A ``RuntimeError``. The structured content is absent or
                invalid, or the schema is broken.
            Refused: It could not be judged for another reason.
        """
        if not validate or self._skips(name, result):
            return
        if name not in self._schemas:
            await self._refresh(name)
        question = self._question(name, result)
        if question is None:
            return
        judge = self._validator.validate_structured_content
        try:
            verdict = await judge(*question, options=self._options)
        except SidecheckError as refusal:
            refuse(name, refusal)
        else:
            settle(name, verdict)

    async def _refresh(self, name: str) -> None:
        async with self._listing:
            # One who waited here may find what another one was told.
            if name in self._schemas:
                return
            listing = Listing()
            while listing.more:
                listing.add(await self._list_tools(listing.cursor))
            self._schemas = listing.schemas


class BlockingResultChecker(Known):
    """Checks results while the caller waits; in all else a `ResultChecker`.

    Any number of threads may share it.
    """

    def __init__(
        self,
        validator: BlockingValidator,
        list_tools: Callable[[str | None], Any],
        *,
        skip: Skip = (),
        options: Options | None = None,
    ) -> None:
        super().__init__(skip, options)
        self._validator = validator
        self._list_tools = list_tools
        self._listing = threading.Lock()

    def check(self, name: str, result: Any, *, validate: bool = True) -> None:
        """Do nothing if *result* fits the tool's output schema; see `ResultChecker.check`."""
        if not validate or self._skips(name, result):
            return
        if name not in self._schemas:
            self._refresh(name)
        question = self._question(name, result)
        if question is None:
            return
        judge = self._validator.validate_structured_content
        try:
            verdict = judge(*question, options=self._options)
        except SidecheckError as refusal:
            refuse(name, refusal)
        else:
            settle(name, verdict)

    def _refresh(self, name: str) -> None:
        with self._listing:
            if name in self._schemas:
                return
            listing = Listing()
            while listing.more:
                listing.add(self._list_tools(listing.cursor))
            self._schemas = listing.schemas
