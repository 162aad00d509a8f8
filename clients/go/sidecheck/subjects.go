package sidecheck

import (
	"fmt"

	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// Subject is a payload and its role: [Arguments], [StructuredContent], [CallParams] or
// [CallResult].
type Subject interface {
	encodeSubject() (*pb.Subject, error)
}

// Arguments are the arguments of a tool call, validated against the input schema of the tool
// or a bare schema.
type Arguments struct {
	// Payload is JSON text, or a value to encode.
	Payload any
}

// StructuredContent is the structured content of a tool result, validated against the output
// schema of the tool or a bare schema.
type StructuredContent struct {
	// Payload is JSON text, a value to encode, or [Absent].
	Payload any
}

// CallParams are the whole params of a tools/call request, whose arguments are validated
// against the input schema of the tool. The target must be a tool.
type CallParams struct {
	// Payload is JSON text, or a value to encode.
	Payload any
}

// CallResult is a whole CallToolResult. Its structured content is validated against the output
// schema of the tool, if the tool has one and the result is not an error. The target must be a
// tool.
type CallResult struct {
	// Payload is JSON text, or a value to encode.
	Payload any
}

type absent struct{}

// Absent is structured content that a result does not have, unlike nil, which is null. It is a
// violation if the tool has an output schema.
var Absent = absent{}

func (s Arguments) encodeSubject() (*pb.Subject, error) {
	text, err := jsonText(s.Payload, "arguments")
	return &pb.Subject{Subject: &pb.Subject_Arguments{Arguments: text}}, err
}

func (s StructuredContent) encodeSubject() (*pb.Subject, error) {
	if _, isAbsent := s.Payload.(absent); isAbsent {
		return &pb.Subject{Subject: &pb.Subject_AbsentStructuredContent{
			AbsentStructuredContent: &pb.AbsentContent{},
		}}, nil
	}
	text, err := jsonText(s.Payload, "structured content")
	return &pb.Subject{Subject: &pb.Subject_StructuredContent{StructuredContent: text}}, err
}

func (s CallParams) encodeSubject() (*pb.Subject, error) {
	text, err := protocolText(s.Payload, "params")
	return &pb.Subject{Subject: &pb.Subject_CallParams{CallParams: text}}, err
}

func (s CallResult) encodeSubject() (*pb.Subject, error) {
	text, err := protocolText(s.Payload, "result")
	return &pb.Subject{Subject: &pb.Subject_CallResult{CallResult: text}}, err
}

// Item is one payload of a batch or stream.
type Item struct {
	// Subject is the payload and its role.
	Subject Subject
	// Target replaces the target of the batch or stream; nil keeps it.
	Target Target
	// Options replace the options of the batch or stream as a whole; nil keeps them.
	Options *Options
}

// encode returns the message for the item; version is that of own options that name none.
func (i Item) encode(version string) (*pb.ValidateItem, error) {
	if i.Subject == nil {
		return nil, fmt.Errorf("%w: an item without a subject", ErrInvalidArgument)
	}
	subject, err := i.Subject.encodeSubject()
	if err != nil {
		return nil, err
	}
	target, err := encodeTarget(i.Target)
	if err != nil {
		return nil, err
	}
	item := &pb.ValidateItem{Target: target, Subject: subject}
	if i.Options != nil {
		if item.Options, err = i.Options.encode(version); err != nil {
			return nil, err
		}
	}
	return item, nil
}
