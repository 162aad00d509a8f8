"""Portability: what model APIs, clients and directories do with a tool definition.

`check_portability` finds the parts of a definition that a target refuses or ignores.
`schema_hazards` and `naming_hazards` locate them; `targets` has the effect of each on each
target, with the source of the fact.
"""
