"""The HTTP API passes the shared cases of unary methods."""

import http.client
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sidecheck.wire.rpcs import RPCS
from sidecheck_server.admin.json_shapes import kebab_case
from support.running import RunningServer

from conformance.cases import write_cases
from conformance.http_forms import body_of, error_of, rendered
from conformance.python_results import is_expected

_UNARY = {rpc.name: rpc for rpc in RPCS if not rpc.streaming}

#: Groups about client behavior: retries, split batches, or policies without a server.
_OF_CLIENTS = {"connections", "batch", "faults", "limits", "validate, coalesced"}

#: What a client says to a word that it does not send.
_MISSPELLED = {"error": {"kind": "invalid_argument"}}

#: The methods whose responses are pages, and the property that is a list.
_PAGED = {"ListTools": "tools", "ListRules": "rules"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """Return a server with an admin address."""
    running = RunningServer(tmp_path_factory.mktemp("server"), SIDECHECK_ADMIN_LISTEN="127.0.0.1:0")
    yield running
    running.close()


def test_the_http_api_passes_the_shared_cases(server: RunningServer, tmp_path: Path) -> None:
    """Whole responses are those of gRPC, and the text of JSON in them is."""
    path = tmp_path / "cases.jsonl"
    write_cases(path, {"real": server.address})
    connection = http.client.HTTPConnection(server.admin_address, timeout=300)
    calls: Counter[str] = Counter()
    failures = []
    with path.open() as lines:
        for case in map(json.loads, lines):
            is_of_server = case["group"] not in _OF_CLIENTS and case["server"] == "real"
            if not (is_of_server and case["call"] in _UNARY) or "on_rejected" in case:
                continue
            if case["want"] == _MISSPELLED:
                assert _actual(connection, case)["error"]["reason"] == "INVALID_REQUEST"
                continue
            calls[case["call"]] += 1
            actual = _actual(connection, case)
            if not is_expected(_without_fields(case["want"]), _without_fields(actual)):
                failures.append((case["id"], case["want"], actual))
    connection.close()

    assert [] == failures
    assert _UNARY.keys() == calls.keys()
    assert calls.total() > 1_900


def _without_fields(value: Any) -> Any:
    """Return *value* without the fields that errors name, which are JSON Pointers over HTTP.

    `tests/admin/test_json_errors.py` compares those.
    """
    if isinstance(value, dict):
        return {
            key: {name: text for name, text in member.items() if name != "field"}
            if key == "metadata" and isinstance(member, dict)
            else _without_fields(member)
            for key, member in value.items()
        }
    return [_without_fields(item) for item in value] if isinstance(value, list) else value


def _actual(connection: http.client.HTTPConnection, case: dict[str, Any]) -> dict[str, Any]:
    call, request = case["call"], dict(case["request"])
    elements: list[Any] = []
    while True:
        status, text = _post(connection, call, request)
        if status != 200:
            return {"error": error_of(json.loads(text))}
        result = rendered(_UNARY[call].response.DESCRIPTOR, text)
        if call not in _PAGED:
            return result
        elements += result[_PAGED[call]]
        request["page_token"] = json.loads(text)["next_page_token"]
        if not request["page_token"]:
            return {_PAGED[call]: elements}


def _post(
    connection: http.client.HTTPConnection, call: str, request: dict[str, Any]
) -> tuple[int, bytes]:
    body = body_of(_UNARY[call].request.DESCRIPTOR, request)
    headers = {"content-type": "application/json"}
    connection.request("POST", f"/v1/{kebab_case(call)}", body, headers)
    response = connection.getresponse()
    return response.status, response.read()
