"""Repairs: requested changes to a payload, and a report of each change."""
