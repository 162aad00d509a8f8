"""Type model of the protocol: every type in every version, as data.

One table holds each type for all versions: a property has the first and the last version
that knows it. The JSON Schema of a type (`rendering`) and the visitors of its values
(`core.mcp.rules.visitors`) are derived from the tables.
"""
