package sidecheck

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
)

// encodeJSON returns the JSON text of value: that of a []byte or json.RawMessage unchanged,
// that of any other value encoded. The error calls the value name.
func encodeJSON(name string, value any) ([]byte, error) {
	switch text := value.(type) {
	case json.RawMessage:
		return nonNil(text), nil
	case []byte:
		return nonNil(text), nil
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("sidecheck: cannot encode %s as JSON: %w", name, err)
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), nil
}

// encodeOptionalJSON is encodeJSON, except that nil stands for an absent value: a null is
// json.RawMessage("null").
func encodeOptionalJSON(name string, value any) ([]byte, error) {
	if value == nil {
		return nil, nil
	}
	if text := reflect.ValueOf(value); text.Kind() == reflect.Slice && text.IsNil() {
		return nil, nil
	}
	return encodeJSON(name, value)
}

// nonNil returns text, which is empty instead of nil: in a oneof, nil bytes are those that
// were sent all the same, but in an optional field they are absent.
func nonNil(text []byte) []byte {
	if text == nil {
		return []byte{}
	}
	return text
}

// receivedJSON returns JSON text of a response, nil where there is none.
func receivedJSON(text []byte) json.RawMessage {
	if len(text) == 0 {
		return nil
	}
	return text
}
