"""Explanation of faults: violations with messages, suggestions and locations."""
