"""Registry in a PostgreSQL database, which several servers share.

Each server has the whole catalogue in memory, as with a file. The one row of `meta` holds the
revision and is locked by each write, so that revisions have the order of commits, without gaps.
A follower of each server polls it, and applies the changes of others from the history.

No exception of psycopg leaves this package: `connection.own_exceptions` converts them.
"""
