"""Compilation of schemas: admission, lowering, code generation and warnings."""
