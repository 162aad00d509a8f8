"""Type model of the protocol: tables of all types in all versions.

One entry describes a type in all versions: each property states the first and the last
version that has it. `rendering` derives the JSON Schema of a type from the tables, and
`core.mcp.rules.visitors` the visitors of its values.
"""
