"""gRPC over ASGI: the methods of the table as an application for servers of HTTP/2."""
