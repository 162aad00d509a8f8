"""HTTP server of the admin address: probes, metrics, web page, API as JSON."""
