"""Schemas of the protocol's types are valid, so that services compile them without that check."""

import pytest
from sidecheck_server.core.compiler.compilation import compile_schema
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.context import VERSIONS
from sidecheck_server.core.mcp.protocol_schemas import has_type, type_schema_source
from sidecheck_server.core.mcp.types.rendering import TYPES


@pytest.mark.parametrize("version", VERSIONS)
def test_each_schema_is_valid_against_its_meta_schema(version: str) -> None:
    """The result of the compilation is the same without the check."""
    names = [name for name in TYPES if has_type(name, version)]
    sources = {name: type_schema_source(version, name) for name in names}
    checked = {name: compile_schema(source, Limits()) for name, source in sources.items()}
    unchecked = {
        name: compile_schema(source, Limits(), is_known_valid=True)
        for name, source in sources.items()
    }

    assert len(names) > 50
    assert checked == unchecked
