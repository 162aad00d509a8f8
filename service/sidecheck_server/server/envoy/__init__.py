"""Serving processes that are Envoy, with the Python of the service inside.

Envoy speaks HTTP and TLS, and calls the service as an ASGI application, in the same process, by
the dynamic module of pyvoy.
"""
