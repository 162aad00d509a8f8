"""The official JSON Schema test suite, through the core."""

import pytest
from sidecheck_server.core.compiler.compilation import compile_source
from sidecheck_server.core.compiler.compiled_schema import CompiledSchema
from sidecheck_server.core.evaluate import EvaluationOptions, judge
from sidecheck_server.core.limits import Limits
from support import suite

LIMITS = Limits()


@pytest.mark.parametrize("dialect", suite.FOLDERS)
def test_every_case_of_the_official_suite_gets_its_verdict(
    dialect: str, subtests: pytest.Subtests
) -> None:
    """Both engines agree with the suite, but for the gaps in the ledger."""
    for file in suite.files(dialect):
        with subtests.test(file):
            wrong, seen = set(), set()
            for group in suite.groups(dialect, file):
                source = suite.source(group)
                compiled = CompiledSchema(source, compile_source(source, LIMITS), LIMITS)
                for description, payload, expected in group.cases:
                    case = (group.description, description)
                    seen.add(case)
                    if judge(compiled, payload, EvaluationOptions()).valid is not expected:
                        wrong.add(case)

            assert [] == suite.uncovered(wrong, seen, group)
