// Package sidecheck is the client of Sidecheck, a validation sidecar for the Model Context
// Protocol (MCP).
//
// A [Client] validates the arguments, calls and results of tools, alone, in batches or in
// streams, against registered tools or against definitions and schemas sent along. Its
// fields check messages against the MCP specification ([Client.Protocol]), convert tools
// and calls for the APIs of model providers ([Client.Conversion]), and infer and adapt
// definitions ([Client.Inference]).
//
// # Verdicts and errors
//
// An invalid payload is not an error: it is returned as a [Verdict] with its violations.
// An error means that no verdict was possible. Its type is [*Error], with a stable reason;
// [ErrUnavailable], [ErrInvalidResponse] and [ErrClientClosed] tell its kinds apart:
//
//	verdict, err := client.Validate(ctx, target, arguments, nil)
//	switch {
//	case errors.Is(err, sidecheck.ErrUnavailable):
//		// No Sidecheck server answered within the deadline.
//	case err != nil:
//		var failure *sidecheck.Error
//		if errors.As(err, &failure) {
//			log.Print(failure.Reason) // for example UNKNOWN_TOOL
//		}
//	case !verdict.Valid:
//		fmt.Println(verdict.ToolErrorText)
//	}
//
// A call whose context is cancelled returns the error of the context.
//
// # JSON
//
// Parameters of type any that stand for JSON take a []byte or [encoding/json.RawMessage] as
// JSON text and send it unchanged. Prefer this for what was received over a network:
// decoding and encoding hide duplicate keys and other faults. Any other value is encoded
// by [encoding/json.Marshal]; a string is a JSON string, not JSON text.
//
// # Deadlines and retries
//
// Each call has the deadline of its context or, if that has none, of
// [ClientOptions.Timeout]. Within it, a call that no server has received is repeated.
package sidecheck
