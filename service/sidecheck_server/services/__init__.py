"""Application services: what the API offers, in terms of the core and without a transport."""
