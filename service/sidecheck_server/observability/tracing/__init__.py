"""Tracing with OpenTelemetry: spans of calls and of the work that they cause.

Nothing of it is imported, and nothing is wrapped, unless its variables switch it on.
"""
