package sidecheck

// InferenceClient infers definitions and adapts them to protocol versions: Client.Inference.
type InferenceClient struct{ connection *connection }
