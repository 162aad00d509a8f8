"""Selection of the mapping of a call, and check of its definition."""

import pytest
from sidecheck_server.core.convert.mapping import ToolMapping
from sidecheck_server.core.convert.model_call import (
    ModelCall,
    check_definition,
    common_api,
    select_mapping,
)
from sidecheck_server.core.convert.types import ModelApi
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.types import Verdict
from support.model_calls import ANTHROPIC, CHAT


def mapping(name: str = "t", provider: ModelApi = CHAT) -> ToolMapping:
    return ToolMapping(
        provider, name, "s", "tool", "sha256:" + "0" * 64, strict=False, decoder=None
    )


def call_of(name: str) -> ModelCall:
    return ModelCall(name, "", {}, Verdict(), "")


def test_the_mapping_of_the_called_tool_is_selected() -> None:
    mappings = [mapping("a"), mapping("b")]

    assert mappings[1] is select_mapping(mappings, call_of("b"))
    assert CHAT is common_api(mappings)


def test_a_call_without_a_name_uses_the_only_mapping() -> None:
    """With several mappings, none is used."""
    only = mapping("a")

    assert only is select_mapping([only], call_of(""))
    assert None is select_mapping([only, mapping("b")], call_of(""))


@pytest.mark.parametrize(
    ("mappings", "reason", "metadata", "message"),
    [
        pytest.param(
            [],
            ErrorReason.INVALID_REQUEST,
            {"field": "mappings"},
            "no mapping was sent",
            id="no mappings",
        ),
        pytest.param(
            [mapping(), mapping("u", ANTHROPIC)],
            ErrorReason.INVALID_REQUEST,
            {"field": "mappings"},
            "openai-chat and anthropic",
            id="mappings of several APIs",
        ),
        pytest.param(
            [mapping("x"), mapping("x")],
            ErrorReason.INVALID_MAPPING,
            {"name": "x"},
            '"x"',
            id="two of one name",
        ),
        pytest.param(
            [mapping("get_files"), mapping("x")],
            ErrorReason.MAPPING_MISMATCH,
            {"name": "get_file"},
            '"get_file"; did you mean "get_files"?',
            id="none of that name",
        ),
    ],
)
def test_mappings_without_the_called_tool_are_rejected(
    mappings: list[ToolMapping], reason: ErrorReason, metadata: dict[str, str], message: str
) -> None:
    with pytest.raises(RequestError) as excinfo:
        select_mapping(mappings, call_of("get_file"))

    assert (reason, metadata) == (excinfo.value.reason, excinfo.value.metadata)
    assert message in excinfo.value.message


def test_a_mapping_of_another_definition_is_rejected() -> None:
    """The tool has changed since it was converted."""
    selected = mapping()
    check_definition(selected, selected.definition_digest)

    with pytest.raises(RequestError) as excinfo:
        check_definition(selected, "sha256:" + "1" * 64)
    assert ErrorReason.MAPPING_MISMATCH is excinfo.value.reason
    assert {"expected": selected.definition_digest, "found": "sha256:" + "1" * 64} == (
        excinfo.value.metadata
    )
