"""Relay over stdio, between a client and a server process or an endpoint in its place."""
