"""Application services: the operations of the API, independent of a transport."""
