"""Translation between the messages of the API and the types of services and core."""
