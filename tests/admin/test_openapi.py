"""The description of the HTTP API is valid, and so are its examples."""

from typing import Any

import jsonschema
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator
from sidecheck.wire.rpcs import RPCS
from sidecheck_server.admin.json_shapes import kebab_case
from sidecheck_server.admin.openapi import EXAMPLES

from .conftest import HttpApi


@pytest.fixture(scope="module")
def document(api: HttpApi) -> Any:
    """Return the description, as the server gives it."""
    return api.send("GET", "/openapi.json").json


def test_the_description_is_valid(document: Any) -> None:
    """An OpenAPI 3.1 validator accepts it."""
    assert document["openapi"].startswith("3.1.")
    assert [] == list(OpenAPIV31SpecValidator(document).iter_errors())


def test_every_unary_method_is_described(document: Any) -> None:
    """Paths follow one naming rule; of the streams, only sessions have a path."""
    served = [rpc.name for rpc in RPCS if not rpc.streaming or rpc.name == "CheckSession"]
    names = {f"/v1/{kebab_case(name)}" for name in served}

    assert names == document["paths"].keys()
    assert set(served) == EXAMPLES.keys()
    assert all(path["post"]["description"] for path in document["paths"].values())


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_answered_as_described(api: HttpApi, document: Any, name: str) -> None:
    """The request and the response have the schemas of the description."""
    example = EXAMPLES[name]
    tool = EXAMPLES["Validate"]["tool"]
    api.post("/v1/register-tools", {"server": "weather", "tools": [tool]})
    path = f"/v1/{kebab_case(name)}"
    response = api.post(path, example)
    operation = document["paths"][path]["post"]
    [request_content] = operation["requestBody"]["content"].values()
    [response_content] = operation["responses"]["200"]["content"].values()

    assert 200 == response.status, response.body
    assert example == request_content["example"]
    _check(document, request_content["schema"], example)
    _check(document, response_content["schema"], response.json)


def test_problems_are_as_described(api: HttpApi, document: Any) -> None:
    """Errors of the API and of HTTP match the description."""
    reference = {"$ref": "#/components/schemas/Problem"}

    _check(document, reference, api.post("/v1/validate", {"schema": {"type": 1}}).json)
    _check(document, reference, api.send("GET", "/v1/validate").json)


def _check(document: Any, schema: Any, value: Any) -> None:
    validator = jsonschema.Draft202012Validator({**schema, "components": document["components"]})
    validator.validate(value)
