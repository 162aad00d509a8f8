"""Portability: what model APIs, clients and directories do with a tool definition.

`check_portability` finds the parts of a definition that a target refuses or ignores.
`hazards` and its neighbours locate them, `targets` says what each target does about them, with
the source of each fact.
"""
