// Package sidecheck is the client of Sidecheck, a validation sidecar for the Model Context
// Protocol (MCP).
//
// A [Client] sends payloads, tool definitions and messages to a Sidecheck server and returns
// its verdicts:
//
//	client, err := sidecheck.New("localhost:50151", nil)
//	if err != nil {
//		return err
//	}
//	defer client.Close()
//	verdict, err := client.Validate(ctx, sidecheck.RegisteredTool{Server: "weather", Name: "get_forecast"},
//		json.RawMessage(`{"city":"Oslo"}`), nil)
//
// An invalid payload is not an error: it is returned as a [Verdict] with violations. An error
// means that no verdict was possible; [errors.As] finds an [*Error] in it, and where it
// applies one of the kinds [*UnavailableError], [*InvalidResponseError],
// [*StreamClosedError], [*StreamUnavailableError] and [*ToolsRejectedError].
//
// # JSON
//
// A value of the type [json.RawMessage], []byte or [JSON] is JSON text in UTF-8 and is sent
// unchanged; prefer this for what was received over a network, because decoding and encoding
// hide duplicate keys and other faults. Any other value is encoded by encoding/json; a string
// is a JSON string, not JSON text. What the server returns as JSON text has the type [JSON].
//
// # Deadlines
//
// A call has the deadline of its context or, if that has none, the timeout of the client.
// UNAVAILABLE is retried within it, except in streams. [Client.Watch] has only the deadline of its
// context, and makes a lost connection again.
package sidecheck
