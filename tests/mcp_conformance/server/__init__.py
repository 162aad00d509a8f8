"""A server with what the scenarios of the suite use, written with the Python SDK."""
