package sidecheck

// ConversionClient converts tools, calls and results for the APIs of model providers:
// Client.Conversion.
type ConversionClient struct{ connection *connection }
