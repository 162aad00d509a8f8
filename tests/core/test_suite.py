"""The official JSON Schema test suite, through the core."""

import pytest
from sidecheck_server.core.compiler.compilation import CompiledSchema, compile_schema
from sidecheck_server.core.evaluate import EvaluationOptions, evaluate
from sidecheck_server.core.limits import Limits
from support import suite

LIMITS = Limits()


@pytest.mark.parametrize("dialect", suite.FOLDERS)
def test_every_case_of_the_official_suite_gets_its_verdict(
    dialect: str, subtests: pytest.Subtests
) -> None:
    """Both engines agree with the suite, except for the gaps in the ledger."""
    for file in suite.files(dialect):
        with subtests.test(file):
            wrong_verdicts, cases = set(), set()
            for group in suite.groups(dialect, file):
                source = suite.source(group)
                compiled = CompiledSchema(source, compile_schema(source, LIMITS), LIMITS)
                for description, payload, expected in group.cases:
                    case = (group.description, description)
                    cases.add(case)
                    if evaluate(compiled, payload, EvaluationOptions()).valid is not expected:
                        wrong_verdicts.add(case)

            assert [] == suite.uncovered(wrong_verdicts, cases, group)
