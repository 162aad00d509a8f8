"""Checks of tool results in the client, as in the Python SDK.

A checker has the output schemas of the tools that a server lists. It lists the tools when a
result is of an unknown tool, and validates structured content::

    async def list_tools(cursor):
        return await session.list_tools(params=PaginatedRequestParams(cursor=cursor))

    results = ResultChecker(sidecheck, list_tools)
    await results.check("get_forecast", await session.call_tool("get_forecast", {}))

Tools lists and results are decoded JSON or objects of an SDK.
"""

from sidecheck._async.result_checker import ResultChecker
from sidecheck._blocking.result_checker import BlockingResultChecker
from sidecheck.output_schemas import InvalidToolResult, Skip

__all__ = ["BlockingResultChecker", "InvalidToolResult", "ResultChecker", "Skip"]
