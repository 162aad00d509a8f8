"""Registry in a PostgreSQL database, which several servers share.

Each server has the whole catalogue in memory, as with a file. The only row of `meta` holds the
revision. Each write locks it, so that revisions have the order of commits, without gaps. A
follower in each server polls the row, and applies the changes of other servers from the history.

No exception of psycopg leaves this package: `connection.convert_exceptions` converts them.
"""
