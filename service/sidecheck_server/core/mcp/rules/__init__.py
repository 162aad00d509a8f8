"""Rules of the specification, one module for each feature, and their visitors."""
