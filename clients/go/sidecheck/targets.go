package sidecheck

import (
	"fmt"

	sidecheckv1 "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// Target is what to validate against: a [RegisteredTool], [DefinitionDigest],
// [SchemaDigest], [ToolDefinition] or [Schema].
type Target interface {
	encodeTarget() (*sidecheckv1.Target, error)
}

// RegisteredTool is a tool of the registry, by server and name.
type RegisteredTool struct {
	// Server is the namespace of the server that offers the tool.
	Server string
	// Name is the name of the tool, exactly as registered. It may be empty for
	// [CallParams], which contain it.
	Name string
	// DefinitionDigest is the digest that the registered definition must have, if it is not
	// empty. Another digest is the error DEFINITION_MISMATCH.
	DefinitionDigest string
}

// DefinitionDigest is a registered tool definition, by its digest: "sha256:" and 64
// hexadecimal digits.
type DefinitionDigest string

// SchemaDigest is a schema of a registered tool, by its digest: "sha256:" and 64 hexadecimal
// digits.
type SchemaDigest string

// ToolDefinition is a tool definition sent inline.
type ToolDefinition struct {
	// JSON is the definition, in the form of an entry of a tools/list result.
	JSON any
	// Documents are those that the schemas of the tool refer to.
	Documents []Document
}

// Schema is a JSON Schema sent inline.
type Schema struct {
	// JSON is the schema.
	JSON any
	// Documents are those that the schema refers to. One of them may be the meta-schema
	// named by its $schema.
	Documents []Document
	// DefaultDialect is the URI of the dialect of a schema without $schema. Empty means
	// JSON Schema 2020-12, the default of MCP.
	DefaultDialect string
}

// Document is a JSON document sent along with a schema, for its references. Nothing is ever
// fetched.
type Document struct {
	// URI is absolute, and the name of the document in references.
	URI string
	// JSON is the document.
	JSON any
}

func (t RegisteredTool) encodeTarget() (*sidecheckv1.Target, error) {
	return &sidecheckv1.Target{Target: &sidecheckv1.Target_RegisteredTool{
		RegisteredTool: &sidecheckv1.RegisteredTool{
			Server: t.Server, Name: t.Name, DefinitionDigest: t.DefinitionDigest,
		},
	}}, nil
}

func (d DefinitionDigest) encodeTarget() (*sidecheckv1.Target, error) {
	return &sidecheckv1.Target{
		Target: &sidecheckv1.Target_DefinitionDigest{DefinitionDigest: string(d)},
	}, nil
}

func (d SchemaDigest) encodeTarget() (*sidecheckv1.Target, error) {
	return &sidecheckv1.Target{
		Target: &sidecheckv1.Target_SchemaDigest{SchemaDigest: string(d)},
	}, nil
}

func (d ToolDefinition) encodeTarget() (*sidecheckv1.Target, error) {
	tool, err := encodeInlineTool("ToolDefinition.JSON", d)
	if err != nil {
		return nil, err
	}
	return &sidecheckv1.Target{Target: &sidecheckv1.Target_InlineTool{InlineTool: tool}}, nil
}

func (s Schema) encodeTarget() (*sidecheckv1.Target, error) {
	text, err := encodeJSON("Schema.JSON", s.JSON)
	if err != nil {
		return nil, err
	}
	documents, err := encodeDocuments(s.Documents)
	if err != nil {
		return nil, err
	}
	return &sidecheckv1.Target{Target: &sidecheckv1.Target_InlineSchema{
		InlineSchema: &sidecheckv1.InlineSchema{
			Json: text, Documents: documents, DefaultDialect: s.DefaultDialect,
		},
	}}, nil
}

// encodeTarget returns the message for target; nil stays nil.
func encodeTarget(target Target) (*sidecheckv1.Target, error) {
	if target == nil {
		return nil, nil
	}
	return target.encodeTarget()
}

func encodeInlineTool(name string, tool ToolDefinition) (*sidecheckv1.InlineTool, error) {
	text, err := encodeJSON(name, tool.JSON)
	if err != nil {
		return nil, err
	}
	documents, err := encodeDocuments(tool.Documents)
	if err != nil {
		return nil, err
	}
	return &sidecheckv1.InlineTool{Json: text, Documents: documents}, nil
}

func encodeInlineTools(tools []ToolDefinition) ([]*sidecheckv1.InlineTool, error) {
	messages := make([]*sidecheckv1.InlineTool, len(tools))
	for index, tool := range tools {
		message, err := encodeInlineTool(fmt.Sprintf("tools[%d]", index), tool)
		if err != nil {
			return nil, err
		}
		messages[index] = message
	}
	return messages, nil
}

func encodeDocuments(documents []Document) ([]*sidecheckv1.Document, error) {
	var messages []*sidecheckv1.Document
	for _, document := range documents {
		text, err := encodeJSON("Document.JSON", document.JSON)
		if err != nil {
			return nil, err
		}
		messages = append(messages, &sidecheckv1.Document{Uri: document.URI, Json: text})
	}
	return messages, nil
}
