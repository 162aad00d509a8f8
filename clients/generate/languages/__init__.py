"""Views of the generated files, by language."""
