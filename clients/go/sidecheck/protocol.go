package sidecheck

import (
	"encoding/json"

	sidecheckv1 "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// ProtocolContext is the protocol version and the negotiated capabilities of a connection.
type ProtocolContext struct {
	// ProtocolVersion is the MCP protocol version whose rules apply, for example
	// 2025-11-25. Empty means that of the client; of a result, else the version that its
	// tool was registered under; of a session, else the version that it negotiates; or else
	// the server's default.
	ProtocolVersion string
	// ClientCapabilities are those that the client declared, as JSON. Nil if they are
	// unknown: then no violation is reported for a missing one.
	ClientCapabilities any
	// ServerCapabilities are those that the server declared, in the same way.
	ServerCapabilities any
}

// CheckOptions are the options of a check. Zero values are the server's defaults.
type CheckOptions struct {
	// Context is the protocol version and the capabilities of the connection.
	Context ProtocolContext
	// MaxViolations is the maximum number of violations in a verdict; 0 means 20. The
	// server lowers it to its own limit.
	MaxViolations uint32
	// HideValues leaves values out of messages.
	HideValues bool
	// MinSeverity is the minimum severity of the violations to report; unspecified means all.
	MinSeverity Severity
}

// CheckItem is one item of a batch of checks: an [Elicitation], [ElicitationResult],
// [Sampling], [ToolResult] or [ProtocolMessage].
type CheckItem interface {
	encodeCheckItem() (*sidecheckv1.CheckItem, error)
}

// Elicitation is an elicitation/create request.
type Elicitation struct {
	// Params are its params, as JSON.
	Params any
}

// ElicitationResult is the result of an elicitation/create request.
type ElicitationResult struct {
	// Result is the result, as JSON.
	Result any
	// Params are those of the request, as JSON. If they are nil, the content of the result
	// is not validated against the requested schema.
	Params any
}

// Sampling is a sampling/createMessage request.
type Sampling struct {
	// Params are its params with the complete history, as JSON.
	Params any
}

// ResultProfile is the contract that a tool result must fulfil.
type ResultProfile string

// Contracts of tool results.
const (
	// ResultProfileUnspecified is the same as ResultProfileSpecification.
	ResultProfileUnspecified ResultProfile = ""
	// ResultProfileSpecification is the specification of the protocol version.
	ResultProfileSpecification ResultProfile = "specification"
	// ResultProfileText is the text contract: only content, with text blocks that have only
	// type and text, and isError.
	ResultProfileText ResultProfile = "text"
)

// ToolResult is a CallToolResult.
type ToolResult struct {
	// Result is the result, as JSON.
	Result any
	// Profile is the contract that it must fulfil.
	Profile ResultProfile
	// Tool is what returned the result; its output schema applies to the structured
	// content. If it is nil, the structured content is not validated.
	Tool Target
}

// Sender is the sender of a message.
type Sender string

// Senders.
const (
	// SenderUnspecified admits the messages of either side.
	SenderUnspecified Sender = ""
	// SenderClient is the client.
	SenderClient Sender = "client"
	// SenderServer is the server.
	SenderServer Sender = "server"
)

// ProtocolMessage is a JSON-RPC message, or a batch where the protocol version has batches.
type ProtocolMessage struct {
	// JSON is the message.
	JSON any
	// Sender of the message.
	Sender Sender
	// RequestMethod is, for a response, the method of its request. If it is empty and
	// Request is nil, only the envelope of a response is checked.
	RequestMethod string
	// Request is, for a response, its request as JSON. It takes precedence.
	Request any
}

// CheckResult is the result of a check.
type CheckResult struct {
	// Verdict on the JSON sent; instance locations point into it.
	Verdict *Verdict
	// ErrorResponse is, for an invalid message, the JSON-RPC response to send to its sender,
	// as JSON text. Nil if none is due, as for notifications and responses.
	ErrorResponse json.RawMessage
}

// CheckOutcome is the outcome of one item of a batch or session: a result or an error.
type CheckOutcome struct {
	// Result is nil if Err is not.
	Result *CheckResult
	// Err is an [*Error] if the item could not be checked.
	Err error
}

func encodeContext(
	context ProtocolContext, version string,
) (*sidecheckv1.ProtocolContext, error) {
	if context.ProtocolVersion != "" {
		version = context.ProtocolVersion
	}
	client, err := encodeOptionalJSON("ClientCapabilities", context.ClientCapabilities)
	if err != nil {
		return nil, err
	}
	server, err := encodeOptionalJSON("ServerCapabilities", context.ServerCapabilities)
	if err != nil {
		return nil, err
	}
	return &sidecheckv1.ProtocolContext{
		ProtocolVersion: version, ClientCapabilities: client, ServerCapabilities: server,
	}, nil
}

// encodeCheckOptions returns the messages for options, whose context names version unless it
// names another protocol version.
func encodeCheckOptions(
	options *CheckOptions, version string,
) (*sidecheckv1.ProtocolContext, *sidecheckv1.CheckOptions, error) {
	if options == nil {
		options = &CheckOptions{}
	}
	context, err := encodeContext(options.Context, version)
	if err != nil {
		return nil, nil, err
	}
	var enums enumEncoder
	message := &sidecheckv1.CheckOptions{
		MaxViolations: options.MaxViolations,
		HideValues:    options.HideValues,
		MinSeverity: encodeEnum[sidecheckv1.Severity](
			&enums, severityWords, "MinSeverity", options.MinSeverity),
	}
	return context, message, enums.err
}

func (i Elicitation) encodeCheckItem() (*sidecheckv1.CheckItem, error) {
	params, err := encodeJSON("Elicitation.Params", i.Params)
	return &sidecheckv1.CheckItem{Item: &sidecheckv1.CheckItem_Elicitation{
		Elicitation: &sidecheckv1.Elicitation{Params: params},
	}}, err
}

func (i ElicitationResult) encodeCheckItem() (*sidecheckv1.CheckItem, error) {
	result, err := encodeJSON("ElicitationResult.Result", i.Result)
	if err != nil {
		return nil, err
	}
	params, err := encodeOptionalJSON("ElicitationResult.Params", i.Params)
	return &sidecheckv1.CheckItem{Item: &sidecheckv1.CheckItem_ElicitationResult{
		ElicitationResult: &sidecheckv1.ElicitationResult{Result: result, Params: params},
	}}, err
}

func (i Sampling) encodeCheckItem() (*sidecheckv1.CheckItem, error) {
	params, err := encodeJSON("Sampling.Params", i.Params)
	return &sidecheckv1.CheckItem{Item: &sidecheckv1.CheckItem_Sampling{
		Sampling: &sidecheckv1.Sampling{Params: params},
	}}, err
}

func (i ToolResult) encodeCheckItem() (*sidecheckv1.CheckItem, error) {
	result, err := i.encode()
	return &sidecheckv1.CheckItem{
		Item: &sidecheckv1.CheckItem_ToolResult{ToolResult: result},
	}, err
}

func (i ToolResult) encode() (*sidecheckv1.ToolResult, error) {
	text, err := encodeJSON("ToolResult.Result", i.Result)
	if err != nil {
		return nil, err
	}
	tool, err := encodeTarget(i.Tool)
	if err != nil {
		return nil, err
	}
	var enums enumEncoder
	return &sidecheckv1.ToolResult{
		Json: text,
		Profile: encodeEnum[sidecheckv1.ResultProfile](
			&enums, profileWords, "Profile", i.Profile),
		Tool: tool,
	}, enums.err
}

func (i ProtocolMessage) encodeCheckItem() (*sidecheckv1.CheckItem, error) {
	message, err := i.encode()
	return &sidecheckv1.CheckItem{Item: &sidecheckv1.CheckItem_Message{Message: message}}, err
}

func (i ProtocolMessage) encode() (*sidecheckv1.ProtocolMessage, error) {
	text, err := encodeJSON("ProtocolMessage.JSON", i.JSON)
	if err != nil {
		return nil, err
	}
	request, err := encodeOptionalJSON("ProtocolMessage.Request", i.Request)
	if err != nil {
		return nil, err
	}
	var enums enumEncoder
	return &sidecheckv1.ProtocolMessage{
		Json:          text,
		Sender:        encodeEnum[sidecheckv1.Sender](&enums, senderWords, "Sender", i.Sender),
		RequestMethod: i.RequestMethod,
		Request:       request,
	}, enums.err
}

func decodeCheckResult(message *sidecheckv1.CheckResult) (*CheckResult, error) {
	if message == nil {
		return nil, missing("result")
	}
	if message.GetVerdict() == nil {
		return nil, missing("CheckResult.verdict")
	}
	return &CheckResult{
		Verdict:       decodeVerdict(message.GetVerdict(), 0),
		ErrorResponse: receivedJSON(message.GetErrorResponse()),
	}, nil
}

// decodeCheckOutcome returns the outcome of one item of a batch or session. The error is
// [ErrInvalidResponse]: it has neither a result nor an error.
func decodeCheckOutcome(message *sidecheckv1.CheckOutcome) (CheckOutcome, error) {
	if message.GetResult() != nil {
		result, err := decodeCheckResult(message.GetResult())
		return CheckOutcome{Result: result}, err
	}
	if message.GetError().GetCode() == 0 {
		return CheckOutcome{}, errNoOutcome()
	}
	return CheckOutcome{Err: decodeItemError(message.GetError())}, nil
}
