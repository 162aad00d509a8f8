"""Runs the shared cases with the Python client: ``python -m conformance.python_client KIND``.

KIND is ``asyncio`` or ``blocking``. Writes the outcome of each case to the results that the
file named by ``SIDECHECK_CONFORMANCE`` names, prints the first failures, and exits with 1 if
there is any.
"""

import asyncio
import inspect
import json
import os
import sys
from collections.abc import AsyncIterator, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from sidecheck import (
    BlockingClient,
    CheckOptions,
    Client,
    InvalidPayload,
    SidecheckError,
    Tls,
)

from conformance.python_calls import CALLS, context_of, item_of, options_of, target_of
from conformance.python_results import is_expected, render, render_outcome, render_result

__all__ = ["main", "run_case"]

_SHOWN = 10

_REMEDIES = {
    "set TLS": "set tls",
    "leave out TLS": "leave out tls",
    "set the authorities": "set ca_certificates of tls",
    "set the name": "set server_name of tls",
}


def main() -> int:
    """Run all cases; return the exit status."""
    settings = json.loads(Path(os.environ["SIDECHECK_CONFORMANCE"]).read_text())
    lines = Path(settings["cases"]).read_text().splitlines()
    cases = [json.loads(_name_remedies(line)) for line in lines]
    results = asyncio.run(_run_all(sys.argv[1] == "blocking", settings, cases))
    failed = [result for result in results if not result.get("passed", "skipped" in result)]
    Path(settings["results"]).write_text("".join(f"{json.dumps(result)}\n" for result in results))
    wants = {case["id"]: case["want"] for case in cases}
    for result in failed[:_SHOWN]:
        print(result["id"], wants[result["id"]], result["actual"], sep="\n  ")
    print(f"{len(results):,} cases, {len(failed):,} failed")
    return 1 if failed else 0


def _name_remedies(line: str) -> str:
    for placeholder, remedy in _REMEDIES.items():
        line = line.replace(f"{{{placeholder}}}", remedy)
    return line


async def _run_all(
    blocking: bool, settings: dict[str, Any], cases: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    results = []
    for _, neighbours in groupby(cases, lambda case: (case["server"], case["client"])):
        alike = list(neighbours)
        client = _client(blocking, settings, alike[0])
        try:
            if alike[0]["concurrent"] and not blocking:
                results += await asyncio.gather(*(run_case(client, case) for case in alike))
            else:
                results += [await run_case(client, case) for case in alike]
        finally:
            closing = client.close()
            if closing is not None:
                await closing
    return results


def _client(blocking: bool, settings: dict[str, Any], case: dict[str, Any]) -> Any:
    options = dict(case["client"])
    paths = {name: Path(path) for name, path in settings["tls"].items()}
    fault = options.pop("tls_fault")
    options["tls"] = (
        Tls(
            ca_certificates=paths["other_ca" if fault == "authority" else "ca"],
            certificate=paths["certificate"],
            private_key=paths["key"],
            server_name="elsewhere.example" if fault == "name" else "",
        )
        if options["tls"]
        else None
    )
    if blocking:
        del options["coalesce"]
    kind: Any = BlockingClient if blocking else Client
    return kind(settings["servers"][case["server"]], **options)


async def run_case(client: Any, case: dict[str, Any]) -> dict[str, Any]:
    """Return the result of one case with *client*."""
    if isinstance(client, BlockingClient) and case["client"]["coalesce"]:
        return {"id": case["id"], "skipped": "the blocking client does not coalesce calls"}
    if isinstance(client, BlockingClient):
        # A thread, as calls of some cases are answered by others of this process.
        actual = await asyncio.to_thread(asyncio.run, _actual(client, case))
    else:
        actual = await _actual(client, case)
    passed = is_expected(case["want"], actual)
    return {"id": case["id"], "passed": passed, **({} if passed else {"actual": actual})}


async def _actual(client: Any, case: dict[str, Any]) -> dict[str, Any]:
    call, request = case["call"], dict(case["request"])
    try:
        if call == "ValidateStream":
            return await _stream(client, request)
        if call == "CheckSession":
            return await _session(client, request)
        if "on_rejected" in case:
            request["on_rejected"] = case["on_rejected"]
        result = CALLS[call](client, request)
        if inspect.isawaitable(result):
            result = await result
        elif isinstance(result, AsyncIterator):
            result = [element async for element in result]
        elif isinstance(result, Iterator):
            result = list(result)
        return render_result(call, result)
    except (SidecheckError, InvalidPayload) as error:
        rendered: dict[str, Any] = render(error)
        return rendered
    except (TypeError, ValueError) as error:
        return {"error": {"kind": "invalid_argument", "message": repr(error)}}


async def _stream(client: Any, request: dict[str, Any]) -> dict[str, Any]:
    defaults = request.get("defaults", {})
    outcomes = client.validate_stream(
        [(item["id"], item_of(item["item"])) for item in request["items"]],
        target=target_of(defaults.get("target")),
        options=options_of(defaults.get("options")),
    )
    responses: list[dict[str, Any]] = []
    try:
        if isinstance(outcomes, AsyncIterator):
            async for id_, outcome in outcomes:
                responses.append({"id": id_, "outcome": render_outcome(outcome)})
        else:
            for id_, outcome in outcomes:
                responses.append({"id": id_, "outcome": render_outcome(outcome)})
    except SidecheckError as error:
        return {"responses": responses, **render(error)}
    return {"responses": responses}


async def _session(client: Any, request: dict[str, Any]) -> dict[str, Any]:
    defaults = request["defaults"]
    session = client.protocol.session(
        context=context_of(defaults), options=options_of(defaults.get("options"), CheckOptions)
    )
    responses = []
    if isinstance(client, BlockingClient):
        with session:
            for item in request["items"]:
                message = item["message"]
                result = session.check(message.get("json", "").encode(), sender=message["sender"])
                responses.append({"id": item["id"], "outcome": {"result": render(result)}})
            summary = session.finish()
    else:
        async with session:
            for item in request["items"]:
                message = item["message"]
                result = await session.check(
                    message.get("json", "").encode(), sender=message["sender"]
                )
                responses.append({"id": item["id"], "outcome": {"result": render(result)}})
            summary = await session.finish()
    return {"responses": responses, "summary": render(summary)}


if __name__ == "__main__":
    sys.exit(main())
