"""Generated from proto/sidecheck/v1: the messages and stubs of the API."""
