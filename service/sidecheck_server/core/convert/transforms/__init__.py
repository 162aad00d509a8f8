"""Transforms of a schema to the subset of a provider, with every loss logged."""
