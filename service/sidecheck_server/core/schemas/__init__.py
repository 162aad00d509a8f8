"""Data model of schemas: dialects, keywords, resources, references, canonical form."""
