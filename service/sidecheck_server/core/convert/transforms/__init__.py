"""Transforms from any schema to the subset that a provider supports, with every loss logged."""
