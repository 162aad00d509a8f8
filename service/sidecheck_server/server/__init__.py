"""Composition root: starts, runs and stops the service and its processes."""
