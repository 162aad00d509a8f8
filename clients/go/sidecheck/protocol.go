package sidecheck

import (
	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// ProtocolContext is the protocol version and the negotiated capabilities of a connection.
type ProtocolContext struct {
	// ProtocolVersion is the MCP protocol version whose rules apply, for example
	// "2025-11-25". Empty means that of the client, or else the one that the tool of a result
	// was registered under, or else the default of the server.
	ProtocolVersion string
	// ClientCapabilities are those that the client declared: JSON text, or a value to encode.
	// Nil means unknown, so that no rule requires one.
	ClientCapabilities any
	// ServerCapabilities are those that the server declared; nil as for the client.
	ServerCapabilities any
}

// CheckOptions are the options of a check. The zero value and a nil pointer are the defaults of
// the server.
type CheckOptions struct {
	// Context is the connection that the message belongs to.
	Context ProtocolContext
	// MaxViolations is the maximum number of violations in a verdict. 0 means 20; the server
	// lowers values above its own limit.
	MaxViolations uint32
	// HideValues leaves values out of messages.
	HideValues bool
	// MinSeverity leaves out violations below it. Empty means [SeverityInfo].
	MinSeverity Severity
}

// ResultProfile is the contract that a tool result must fulfil. The zero value is
// [ResultProfileSpecification].
type ResultProfile string

const (
	// ResultProfileSpecification is the specification of the protocol version.
	ResultProfileSpecification ResultProfile = "specification"
	// ResultProfileText is the text contract: only content, with text blocks that have only
	// type and text, and isError.
	ResultProfileText ResultProfile = "text"
)

// Sender is the sender of a message. It is empty if unknown: then messages of either side are
// accepted.
type Sender string

const (
	// SenderClient is the client.
	SenderClient Sender = "client"
	// SenderServer is the server.
	SenderServer Sender = "server"
)

// CheckItem is one item of a batch of checks: an [Elicitation], [ElicitationResult], [Sampling],
// [ToolResult] or [ProtocolMessage].
type CheckItem interface {
	encodeItem() (*pb.CheckItem, error)
}

// Elicitation is an elicitation/create request.
type Elicitation struct {
	// Params of the request: JSON text, or a value to encode.
	Params any
}

// ElicitationResult is the result of an elicitation/create request.
type ElicitationResult struct {
	// Result is JSON text, or a value to encode.
	Result any
	// Params of the request. Without them (nil) the content is not validated against the
	// requested schema.
	Params any
}

// Sampling is a sampling/createMessage request, with the whole history.
type Sampling struct {
	// Params of the request: JSON text, or a value to encode.
	Params any
}

// ToolResult is a CallToolResult.
type ToolResult struct {
	// Result is JSON text, or a value to encode.
	Result any
	// Profile is the contract that the result must fulfil.
	Profile ResultProfile
	// Tool that returned the result, whose output schema applies to the structured content.
	// Nil leaves that out.
	Tool Target
}

// ProtocolMessage is a JSON-RPC message, or a batch of messages in versions that have them.
type ProtocolMessage struct {
	// Message is JSON text, or a value to encode.
	Message any
	// Sender of the message.
	Sender Sender
	// RequestMethod is, for a response, the method of its request. Without it and Request only
	// the envelope of a response is checked.
	RequestMethod string
	// Request is, for a response, the whole request. It takes precedence over RequestMethod.
	Request any
}

// CheckResult is the result of a check.
type CheckResult struct {
	// Verdict on the JSON that was checked; instance locations point into it.
	Verdict *Verdict
	// ErrorResponse is, for an invalid message, the JSON-RPC response to send to its sender.
	// Empty if none is due.
	ErrorResponse JSON
}

// CheckOutcome is the outcome of one item of a batch. Exactly one field is set.
type CheckOutcome struct {
	// Result of the check.
	Result *CheckResult
	// Err says why the item could not be checked.
	Err error
}

// encodeContext returns the message for the context with version, unless it names one.
func (o *CheckOptions) encodeContext(version string) (*pb.ProtocolContext, error) {
	if o == nil {
		return &pb.ProtocolContext{ProtocolVersion: version}, nil
	}
	if o.Context.ProtocolVersion != "" {
		version = o.Context.ProtocolVersion
	}
	client, err := optionalText(o.Context.ClientCapabilities, "client capabilities")
	if err != nil {
		return nil, err
	}
	server, err := optionalText(o.Context.ServerCapabilities, "server capabilities")
	if err != nil {
		return nil, err
	}
	return &pb.ProtocolContext{
		ProtocolVersion: version, ClientCapabilities: client, ServerCapabilities: server,
	}, nil
}

func (o *CheckOptions) encode() (*pb.CheckOptions, error) {
	if o == nil {
		return nil, nil
	}
	severity, err := encodeWord[pb.Severity](o.MinSeverity, "SEVERITY_")
	return &pb.CheckOptions{
		MaxViolations: o.MaxViolations, HideValues: o.HideValues, MinSeverity: severity,
	}, err
}

// encodeCheck returns the messages for the context and the options of a check.
func (o *CheckOptions) encodeCheck(version string) (*pb.ProtocolContext, *pb.CheckOptions, error) {
	context, err := o.encodeContext(version)
	if err != nil {
		return nil, nil, err
	}
	options, err := o.encode()
	return context, options, err
}

func (e Elicitation) encodeItem() (*pb.CheckItem, error) {
	params, err := protocolText(e.Params, "params")
	return &pb.CheckItem{Item: &pb.CheckItem_Elicitation{
		Elicitation: &pb.Elicitation{Params: params},
	}}, err
}

func (e ElicitationResult) encodeItem() (*pb.CheckItem, error) {
	result, err := protocolText(e.Result, "result")
	if err != nil {
		return nil, err
	}
	params, err := optionalText(e.Params, "params")
	return &pb.CheckItem{Item: &pb.CheckItem_ElicitationResult{
		ElicitationResult: &pb.ElicitationResult{Result: result, Params: params},
	}}, err
}

func (s Sampling) encodeItem() (*pb.CheckItem, error) {
	params, err := protocolText(s.Params, "params")
	return &pb.CheckItem{Item: &pb.CheckItem_Sampling{Sampling: &pb.Sampling{Params: params}}}, err
}

func (r ToolResult) encodeItem() (*pb.CheckItem, error) {
	result, err := r.encode()
	return &pb.CheckItem{Item: &pb.CheckItem_ToolResult{ToolResult: result}}, err
}

func (r ToolResult) encode() (*pb.ToolResult, error) {
	text, err := protocolText(r.Result, "result")
	if err != nil {
		return nil, err
	}
	profile, err := encodeWord[pb.ResultProfile](r.Profile, "RESULT_PROFILE_")
	if err != nil {
		return nil, err
	}
	tool, err := encodeTarget(r.Tool)
	return &pb.ToolResult{Json: text, Profile: profile, Tool: tool}, err
}

func (m ProtocolMessage) encodeItem() (*pb.CheckItem, error) {
	message, err := m.encode()
	return &pb.CheckItem{Item: &pb.CheckItem_Message{Message: message}}, err
}

func (m ProtocolMessage) encode() (*pb.ProtocolMessage, error) {
	text, err := protocolText(m.Message, "message")
	if err != nil {
		return nil, err
	}
	sender, err := encodeWord[pb.Sender](m.Sender, "SENDER_")
	if err != nil {
		return nil, err
	}
	request, err := optionalText(m.Request, "request")
	return &pb.ProtocolMessage{
		Json: text, Sender: sender, RequestMethod: m.RequestMethod, Request: request,
	}, err
}

func decodeCheckResult(message *pb.CheckResult) (*CheckResult, error) {
	if message.GetVerdict() == nil {
		return nil, missingField(message, "verdict")
	}
	return &CheckResult{decodeVerdict(message.GetVerdict(), 0), message.GetErrorResponse()}, nil
}
