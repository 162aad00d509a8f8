"""Inference of tool definitions from Python source text, which is never run."""
