"""The judge: pure and synchronous.

Nothing in this package knows a wire, an event loop, a log, a clock, a file or a
network. Values come in as bytes and text and leave as verdicts or refusals, and
the same input always gets the same answer.
"""
