"""The clauses of the specification, held against the rules."""
