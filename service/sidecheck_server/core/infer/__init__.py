"""Inference: tool definitions from Python source text, which is parsed and never run."""
