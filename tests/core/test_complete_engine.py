"""The complete engine passes the official test suite by itself, in all five dialects."""

import pytest
from sidecheck_server.core.compiler.compilation import CompiledSchema, compile_schema
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.payload import decode
from support import suite
from support.complete_engines import violations

LIMITS = Limits()


@pytest.mark.slow
@pytest.mark.parametrize("dialect", suite.FOLDERS)
def test_the_complete_engine_alone_passes_the_official_suite(
    dialect: str, subtests: pytest.Subtests
) -> None:
    """Every case is evaluated as the suite says, and every "no" is explained."""
    for file in suite.files(dialect):
        with subtests.test(file):
            wrong_verdicts, cases = set(), set()
            for group in suite.groups(dialect, file):
                source = suite.source(group)
                engine = CompiledSchema(source, compile_schema(source, LIMITS), LIMITS).complete
                for description, payload, expected in group.cases:
                    case = (group.description, description)
                    cases.add(case)
                    value = decode(payload, max_depth=LIMITS.payload_depth)
                    valid = engine.is_valid(value)
                    explained = next(violations(engine, value), None) is not None
                    if valid is not expected or explained is valid:
                        wrong_verdicts.add(case)

            assert [] == suite.uncovered(wrong_verdicts, cases, group)
