"""Data model of schemas: dialects, keywords, resources and canonical form."""
