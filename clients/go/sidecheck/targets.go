package sidecheck

import (
	"fmt"

	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// Target is what a payload is validated against: a [RegisteredTool], [DefinitionDigest],
// [SchemaDigest], [ToolDefinition] or [Schema].
type Target interface {
	encodeTarget() (*pb.Target, error)
}

// RegisteredTool is a tool of the registry, by server and name.
type RegisteredTool struct {
	// Server is the namespace of the server that offers the tool.
	Server string
	// Name is the name of the tool, exactly as registered. It may be empty for [CallParams],
	// which contain it.
	Name string
	// DefinitionDigest is the digest that the registered definition must have; another one
	// fails with DEFINITION_MISMATCH. Empty means any.
	DefinitionDigest string
}

// DefinitionDigest is a tool definition of the registry, by its digest: "sha256:" and 64
// hexadecimal digits.
type DefinitionDigest string

// SchemaDigest is a schema of a registered tool, by its digest: "sha256:" and 64 hexadecimal
// digits.
type SchemaDigest string

// ToolDefinition is a tool definition sent with the request, in the form of an entry of a
// tools/list result.
type ToolDefinition struct {
	// JSON is the definition: JSON text, or a value to encode.
	JSON any
	// Documents are what the schemas of the tool refer to.
	Documents []Document
}

// Schema is a JSON Schema sent with the request.
type Schema struct {
	// JSON is the schema: JSON text, or a value to encode.
	JSON any
	// Documents are what the schema refers to. One of them may be the meta-schema that its
	// $schema names.
	Documents []Document
	// DefaultDialect is the URI of the dialect of a schema without $schema. Empty means JSON
	// Schema 2020-12, the default of MCP.
	DefaultDialect string
}

// Document is a JSON document that the references or the $schema of a schema refer to.
type Document struct {
	// URI is the absolute URI of the document.
	URI string
	// JSON is the document: JSON text, or a value to encode.
	JSON any
}

func (t RegisteredTool) encodeTarget() (*pb.Target, error) {
	return &pb.Target{Target: &pb.Target_RegisteredTool{RegisteredTool: &pb.RegisteredTool{
		Server: t.Server, Name: t.Name, DefinitionDigest: t.DefinitionDigest,
	}}}, nil
}

func (d DefinitionDigest) encodeTarget() (*pb.Target, error) {
	return &pb.Target{Target: &pb.Target_DefinitionDigest{DefinitionDigest: string(d)}}, nil
}

func (d SchemaDigest) encodeTarget() (*pb.Target, error) {
	return &pb.Target{Target: &pb.Target_SchemaDigest{SchemaDigest: string(d)}}, nil
}

func (t ToolDefinition) encodeTarget() (*pb.Target, error) {
	tool, err := t.encode("ToolDefinition.JSON")
	if err != nil {
		return nil, err
	}
	return &pb.Target{Target: &pb.Target_InlineTool{InlineTool: tool}}, nil
}

func (s Schema) encodeTarget() (*pb.Target, error) {
	text, err := protocolText(s.JSON, "Schema.JSON")
	if err != nil {
		return nil, err
	}
	documents, err := encodeDocuments(s.Documents)
	if err != nil {
		return nil, err
	}
	return &pb.Target{Target: &pb.Target_InlineSchema{InlineSchema: &pb.InlineSchema{
		Json: text, Documents: documents, DefaultDialect: s.DefaultDialect,
	}}}, nil
}

// encode returns the message for the definition, which errors call name.
func (t ToolDefinition) encode(name string) (*pb.InlineTool, error) {
	text, err := protocolText(t.JSON, name)
	if err != nil {
		return nil, err
	}
	documents, err := encodeDocuments(t.Documents)
	if err != nil {
		return nil, err
	}
	return &pb.InlineTool{Json: text, Documents: documents}, nil
}

func encodeDefinitions(tools []ToolDefinition) ([]*pb.InlineTool, error) {
	messages := make([]*pb.InlineTool, 0, len(tools))
	for index, tool := range tools {
		message, err := tool.encode(fmt.Sprintf("tools[%d]", index))
		if err != nil {
			return nil, err
		}
		messages = append(messages, message)
	}
	return messages, nil
}

func encodeDocuments(documents []Document) ([]*pb.Document, error) {
	var messages []*pb.Document
	for _, document := range documents {
		text, err := protocolText(document.JSON, "Document.JSON")
		if err != nil {
			return nil, err
		}
		messages = append(messages, &pb.Document{Uri: document.URI, Json: text})
	}
	return messages, nil
}

// encodeTarget returns the message for target; nil has none.
func encodeTarget(target Target) (*pb.Target, error) {
	if target == nil {
		return nil, nil
	}
	return target.encodeTarget()
}
