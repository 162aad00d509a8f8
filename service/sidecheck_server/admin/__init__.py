"""HTTP server of the admin address: probes, metrics, web page, and the API as JSON."""
