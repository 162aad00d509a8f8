"""The shared cases, run by every client against real and faulty servers.

``python -m conformance COMMAND`` (from the folder ``tests``) starts the servers, writes the
cases and runs a command, such as the tests of one client, with the environment variable
``SIDECHECK_CONFORMANCE``: the path of a JSON file that names all of it (`conformance.servers`).
"""
