"""Locations of registries: their kinds, and URIs without passwords."""

import pytest
from sidecheck_server.registry.location import PostgresLocation


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("postgresql://", "postgresql://"),
        ("postgresql:///tools", "postgresql:///tools"),
        ("postgres://db/tools", "postgresql://db/tools"),
        ("postgresql://me@db/tools", "postgresql://db/tools"),
        ("postgresql://me:s3cret@db:5433/tools", "postgresql://db:5433/tools"),
        ("postgresql://me:s3cret:s3cret@db/tools", "postgresql://db/tools"),
        ("postgresql://me:%40s3cret%2F@db/tools", "postgresql://db/tools"),
        ("postgresql://me:s3cret@[2001:db8::1]:5432/t", "postgresql://[2001:db8::1]:5432/t"),
        ("postgresql://me:s3cret@[fe80::1%25eth0]/t", "postgresql://[fe80::1%25eth0]/t"),
        ("postgresql://me:s3cret@a:1,b,[::1]:2/t", "postgresql://a:1,b,[::1]:2/t"),
        ("postgresql://me:s3cret@%2Frun%2Fpg/t", "postgresql://%2Frun%2Fpg/t"),
        ("postgresql:///t?host=/run/pg&password=s3cret", "postgresql:///t"),
        ("postgresql://db/t?sslmode=verify-full&sslpassword=s3cret", "postgresql://db/t"),
        ("postgresql://me:s3cret@db?sslmode=require", "postgresql://db"),
    ],
)
def test_a_uri_is_shown_without_credentials_and_parameters(uri: str, shown: str) -> None:
    """The hosts and the database remain."""
    location = PostgresLocation(uri)

    assert (shown, True, uri) == (str(location), location.is_unambiguous, location.uri)
    assert f"PostgresLocation({shown!r})" == repr(location)


@pytest.mark.parametrize(
    "uri",
    [
        "postgresql://me:s3/cret@db/tools",
        "postgresql://me:s3@cret@db/tools",
        "postgresql://me:s3?cret@db/tools",
        "postgresql://me:s3#cret@db/tools",
        "postgresql://me:12/s3cret@db",
        "postgresql://me:12?s3cret@db",
        "postgresql://me:s3cret",
        "postgresql://me:s3 cret",
        "postgresql://db:s3cret/tools",
        "postgresql://me:s3cret@[::/tools",
        "postgresql://db/tools#s3cret",
        "postgresql://db/tools?password=s3@cret",
    ],
)
def test_an_ambiguous_uri_is_not_shown(uri: str) -> None:
    """Unescaped characters may be a part of the password."""
    location = PostgresLocation(uri)

    assert ("postgresql://…", False) == (str(location), location.is_unambiguous)
    assert "PostgresLocation('postgresql://…')" == repr(location)


@pytest.mark.parametrize(
    ("text", "is_uri", "is_other"),
    [
        ("postgresql://db/tools", True, False),
        ("postgres://", True, False),
        ("postgresql+psycopg://me:s3cret@db/tools", False, True),
        ("PostgreSQL://me:s3cret@db/tools", False, True),
        (" postgresql://me:s3cret@db/tools", False, True),
        ("postgresql:/db", False, True),
        ("postgresql:db", False, True),
        ("mysql://me:s3cret@db/tools", False, True),
        ("sqlite:///tools.db", False, True),
        ("file:///var/lib/tools.db", False, True),
        ("host=db password=s3cret", False, True),
        ("dbname = tools password=s3cret", False, True),
        ("password=s3cret host=db", False, True),
        ("service=tools", False, True),
        ("tools.db", False, False),
        ("/var/lib/postgresql/tools.db", False, False),
        ("postgresql", False, False),
        ("hosts=1.db", False, False),
        ("C:\\tools.db", False, False),
        ("", False, False),
    ],
)
def test_texts_that_name_a_database(text: str, is_uri: bool, is_other: bool) -> None:
    """It is a PostgreSQL URI, or another form that is not read as a file name."""
    assert (is_uri, is_other) == (
        PostgresLocation.is_uri(text),
        PostgresLocation.is_other_connection(text),
    )
