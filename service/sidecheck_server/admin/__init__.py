"""What operators and people reach over HTTP: probes, metrics, and the services as JSON."""
