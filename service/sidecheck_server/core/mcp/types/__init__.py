"""The shapes of the protocol's types in every version, as data.

One table holds each type as it is in all versions: a member has the first and the last
version that knows it. From the tables come the JSON Schema that judges a value of the
type (`rendering`) and the way through its parts (`places`).
"""
