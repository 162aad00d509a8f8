"""The validation core: pure, synchronous and deterministic.

Nothing in this package uses a transport, an event loop, a log, a clock, a file or a
network. Input is bytes and text, output is verdicts or `RequestError`, and the same
input always gives the same output.
"""
