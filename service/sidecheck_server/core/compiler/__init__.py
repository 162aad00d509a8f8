"""Compilation of schemas: admission, lowering, code generation and schema warnings."""
