"""Permission of callers for every served method."""

from contextvars import copy_context
from pathlib import Path
from typing import Any

import pytest
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2
from sidecheck.wire.rpcs import RPCS
from sidecheck_server.access.authorizer import METHOD_ROLES, Authorizer, roles_of
from sidecheck_server.access.identity import IDENTITY, Identity, Role
from sidecheck_server.access.tokens import TokensFile
from sidecheck_server.core.errors import RequestError
from sidecheck_server.gateways.ext_mcp import EXT_MCP
from sidecheck_server.gateways.generated import external_processor_pb2
from support.tokens import TOKENS, tokens_file

OTHERS: tuple[Any, ...] = (
    EXT_MCP,
    external_processor_pb2.DESCRIPTOR.services_by_name["ExternalProcessor"],
    health_pb2.DESCRIPTOR.services_by_name["Health"],
    reflection_pb2.DESCRIPTOR.services_by_name["ServerReflection"],
)
SERVED = {
    *(f"{rpc.service}/{rpc.name}" for rpc in RPCS),
    *(f"{service.full_name}/{method.name}" for service in OTHERS for method in service.methods),
    # Not all releases of grpcio-health-checking have it.
    "grpc.health.v1.Health/List",
}
WRITES = {f"sidecheck.v1.RegistryService/{name}" for name in ("RegisterTools", "DeleteTools")}
GATEWAYS = {method for method in SERVED if method.startswith(("envoy.", "agentgateway."))}
HEALTH = {f"grpc.health.v1.Health/{name}" for name in ("Check", "Watch")}
NAMES = {
    "grpc.health.v1.Health/List",
    "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
}
READS = SERVED - WRITES - GATEWAYS - HEALTH - NAMES

INFO = {"sidecheck.v1.InfoService/GetServerInfo"}
MAY_CALL = {
    "validator": READS | NAMES | HEALTH,
    "registrar": WRITES | INFO | NAMES | HEALTH,
    "both": SERVED,
    "limited": SERVED,
    "admin": SERVED,
    "stranger": HEALTH,
}


@pytest.fixture(scope="module")
def authorizer(tmp_path_factory: pytest.TempPathFactory) -> Authorizer:
    path = tmp_path_factory.mktemp("tokens") / "tokens.toml"
    path.write_text(tokens_file())
    return opened(path)


def opened(path: Path) -> Authorizer:
    tokens = TokensFile(path, lambda *_: None)
    tokens.load()
    return Authorizer(tokens)


def outcome(authorizer: Authorizer, authorization: str | None, method: str) -> str:
    """Return "OK", or the reason of the error."""
    try:
        copy_context().run(authorizer.authorize, authorization, method)
    except RequestError as error:
        return error.reason.value
    return "OK"


def test_every_served_method_has_its_roles() -> None:
    """The table has no other methods."""
    assert SERVED == METHOD_ROLES.keys()


@pytest.mark.parametrize("method", sorted(SERVED))
def test_roles_decide_about_methods(authorizer: Authorizer, method: str) -> None:
    """Each token, and a call without a token, is tested with each method."""
    denied = dict.fromkeys(MAY_CALL, "PERMISSION_DENIED")
    denied["stranger"] = "UNAUTHENTICATED"
    expected = {
        name: "OK" if method in methods else denied[name] for name, methods in MAY_CALL.items()
    }
    outcomes = {name: outcome(authorizer, f"Bearer {TOKENS[name]}", method) for name in MAY_CALL}

    assert expected == outcomes
    assert ("OK" if method in HEALTH else "UNAUTHENTICATED") == outcome(authorizer, None, method)
    assert "OK" == outcome(Authorizer(), None, method)


def test_an_unlisted_method_is_for_administrators(authorizer: Authorizer) -> None:
    """A method without an entry in the table is not open to others."""
    assert frozenset({Role.ADMIN}) == roles_of("a.Service/Method")
    outcomes = [
        outcome(authorizer, f"Bearer {TOKENS[name]}", "a.Service/Method")
        for name in ("both", "admin")
    ]
    assert ["PERMISSION_DENIED", "OK"] == outcomes


@pytest.mark.parametrize(
    ("authorization", "expected"),
    [
        (f"Bearer {TOKENS['admin']}", "OK"),
        (f"bEARER   {TOKENS['admin']}", "OK"),
        (f"Bearer {TOKENS['admin']} ", "UNAUTHENTICATED"),
        (f"Bearer {TOKENS['admin']}x", "UNAUTHENTICATED"),
        (f"Bearer {TOKENS['admin'][:-1]}", "UNAUTHENTICATED"),
        (f"Bearer{TOKENS['admin']}", "UNAUTHENTICATED"),
        (f"Basic {TOKENS['admin']}", "UNAUTHENTICATED"),
        (TOKENS["admin"], "UNAUTHENTICATED"),
        ("Bearer ", "UNAUTHENTICATED"),
        ("Bearer \ud800é", "UNAUTHENTICATED"),
        ("", "UNAUTHENTICATED"),
    ],
)
def test_forms_of_the_header(authorizer: Authorizer, authorization: str, expected: str) -> None:
    """By RFC 6750 the scheme has any case, and the token is the rest without spaces."""
    assert expected == outcome(authorizer, authorization, "sidecheck.v1.InfoService/GetServerInfo")


def test_the_answer_to_an_unknown_token_is_always_the_same(authorizer: Authorizer) -> None:
    """It tells nothing about tokens that are known, and does not repeat the token."""
    texts = set()
    for token in ("x", TOKENS["stranger"], TOKENS["admin"][:-1], TOKENS["admin"] + "x"):
        with pytest.raises(RequestError) as raised:
            authorizer.authorize(f"Bearer {token}", "sidecheck.v1.InfoService/GetServerInfo")
        texts.add((raised.value.message, *raised.value.metadata.items()))

    assert {("the token of the call is unknown or malformed",)} == texts


def test_a_denial_names_the_role_and_the_method(authorizer: Authorizer) -> None:
    """The first role that is missing."""
    method = "agentgateway.dev.ext_mcp.ExtMcp/CheckRequest"
    with pytest.raises(RequestError) as raised:
        copy_context().run(authorizer.authorize, f"Bearer {TOKENS['validator']}", method)

    assert {"role": "register", "method": method} == raised.value.metadata


def test_the_identity_is_that_of_the_context_alone(authorizer: Authorizer) -> None:
    """It is set for the call, with its servers, and nowhere else."""
    context = copy_context()
    method = "sidecheck.v1.RegistryService/ListTools"
    returned = context.run(authorizer.authorize, f"Bearer {TOKENS['limited']}", method)

    roles = frozenset({Role.VALIDATE, Role.REGISTER})
    assert Identity("limited", roles, frozenset({"mine"})) == returned == context[IDENTITY]
    assert IDENTITY.get() is None
