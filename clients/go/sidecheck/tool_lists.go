package sidecheck

import (
	"encoding/json"
	"fmt"
)

// ParseTools returns the definitions in list, each byte for byte as it stands there, and the
// cursor of the next page, empty if there is none. List is JSON text, or a value to encode: a
// tools/list result, bare or in its JSON-RPC response, a list of definitions, or one
// definition. The error wraps [ErrInvalidArgument].
func ParseTools(list any) (tools []ToolDefinition, nextCursor string, err error) {
	text, err := protocolText(list, "tools")
	if err != nil {
		return nil, "", err
	}
	var texts []json.RawMessage
	if json.Unmarshal(text, &texts) == nil {
		return definitions(texts), "", nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil {
		return nil, "", fmt.Errorf("%w: tools cannot be read as JSON: %w", ErrInvalidArgument, err)
	}
	// A definition may have any other property, but nothing else has an input schema.
	if _, isDefinition := object["inputSchema"]; isDefinition {
		return definitions([]json.RawMessage{text}), "", nil
	}
	if inner, isResponse := object["result"]; isResponse && object["tools"] == nil {
		object = nil
		if err := json.Unmarshal(inner, &object); err != nil {
			return nil, "", fmt.Errorf("%w: the result of tools/list: %w", ErrInvalidArgument, err)
		}
	}
	listed, hasTools := object["tools"]
	if !hasTools {
		if object["jsonrpc"] != nil {
			return nil, "", fmt.Errorf("%w: a JSON-RPC message without a result that lists tools",
				ErrInvalidArgument)
		}
		return definitions([]json.RawMessage{text}), "", nil
	}
	if err := json.Unmarshal(listed, &texts); err != nil {
		return nil, "", fmt.Errorf("%w: the tools of the result: %w", ErrInvalidArgument, err)
	}
	if cursor, hasCursor := object["nextCursor"]; hasCursor {
		if err := json.Unmarshal(cursor, &nextCursor); err != nil {
			return nil, "", fmt.Errorf("%w: nextCursor: %w", ErrInvalidArgument, err)
		}
	}
	return definitions(texts), nextCursor, nil
}

func definitions(texts []json.RawMessage) []ToolDefinition {
	tools := make([]ToolDefinition, 0, len(texts))
	for _, text := range texts {
		tools = append(tools, ToolDefinition{JSON: text})
	}
	return tools
}
