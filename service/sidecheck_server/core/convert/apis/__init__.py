"""The APIs, one table of facts each."""
