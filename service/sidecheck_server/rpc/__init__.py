"""The wire: gRPC services whose methods translate, ask, and translate back."""
