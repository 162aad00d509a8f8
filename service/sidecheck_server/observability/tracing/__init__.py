"""Tracing with OpenTelemetry: spans of calls and of the work that they cause.

While tracing is off, nothing of OpenTelemetry is imported, and no part is wrapped.
"""
