"""Checks of tool results against the output schemas that their server lists."""

from collections.abc import Awaitable, Callable
from typing import Any

from sidecheck._async.validator import Validator
from sidecheck._transport.tasks import Lock
from sidecheck.errors import SidecheckError
from sidecheck.output_schemas import (
    OutputSchemas,
    Skip,
    ToolPages,
    raise_error,
    raise_for_verdict,
)
from sidecheck.validation import Options

__all__ = ["ResultChecker"]


class ResultChecker(OutputSchemas):
    """Checks the results of one server's tools, using *validator*.

    *list_tools* is called with a cursor, None for the first page, and returns a
    ``tools/list`` result or a list of all tools. The results of tools that *skip* selects
    are not checked. Concurrent callers may share a checker.
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
        self._list_lock = Lock()

    async def check(self, name: str, result: Any, *, validate: bool = True) -> None:
        """Raise if *result*, of the tool *name*, does not conform to the output schema.

        The result is not checked if it is an error, if the tool has no output schema, if the
        server does not list the tool, which is logged, or if *validate* is False.

        Raises:
            InvalidToolResult: A ``RuntimeError``. The structured content is missing or
                invalid, or the schema is broken.
            SidecheckError: No verdict was possible for another reason.
        """
        if not validate or self._skips(name, result):
            return
        if name not in self._schemas:
            await self._refresh(name)
        schema_and_content = self._select(name, result)
        if schema_and_content is None:
            return
        schema, content = schema_and_content
        try:
            verdict = await self._validator.validate_structured_content(
                schema, content, options=self._options
            )
        except SidecheckError as error:
            raise_error(name, error)
        raise_for_verdict(name, verdict)

    async def _refresh(self, name: str) -> None:
        async with self._list_lock:
            # Another caller may have listed the tools meanwhile.
            if name in self._schemas:
                return
            pages = ToolPages()
            while pages.more:
                pages.add(await self._list_tools(pages.cursor))
            self._schemas = pages.schemas
