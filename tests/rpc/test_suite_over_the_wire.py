"""The official JSON Schema test suite, with a real server."""

import grpc
import pytest
from sidecheck.v1 import options_pb2, target_pb2, validation_service_pb2
from sidecheck.v1.validation_service_pb2_grpc import ValidationServiceStub
from support import suite
from support.running import RunningServer


@pytest.mark.parametrize("dialect", suite.FOLDERS)
def test_the_official_suite(
    dialect: str, shared_server: RunningServer, subtests: pytest.Subtests
) -> None:
    """The server returns the verdicts of the core."""
    with grpc.insecure_channel(shared_server.unix_address) as channel:
        stub = ValidationServiceStub(channel)
        for file in suite.files(dialect):
            with subtests.test(file):
                wrong, tested = set(), set()
                for group in suite.groups(dialect, file):
                    response = stub.ValidateBatch(_request(group), timeout=300)
                    for (description, _, expected), outcome in zip(
                        group.cases, response.outcomes, strict=True
                    ):
                        case = (group.description, description)
                        tested.add(case)
                        assert outcome.HasField("verdict"), (case, outcome.error.message)
                        if outcome.verdict.valid is not expected:
                            wrong.add(case)

                assert [] == suite.uncovered(wrong, tested, group)


def _request(group: suite.Group) -> validation_service_pb2.ValidateBatchRequest:
    source = suite.source(group)
    return validation_service_pb2.ValidateBatchRequest(
        target=target_pb2.Target(
            inline_schema=target_pb2.InlineSchema(
                json=source.json,
                documents=[
                    target_pb2.Document(uri=document.uri, json=document.json)
                    for document in source.documents
                ],
                default_dialect=source.default_dialect,
            )
        ),
        options=options_pb2.ValidationOptions(assert_formats=source.assert_formats),
        items=[
            validation_service_pb2.ValidateItem(subject=target_pb2.Subject(arguments=payload))
            for _, payload, _ in group.cases
        ],
    )
